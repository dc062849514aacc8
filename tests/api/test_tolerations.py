"""Which taints a toleration covers."""

from __future__ import annotations

import pytest

from scheduler.api.objects import Taint, Toleration
from scheduler.api.tolerations import (
    count_intolerable,
    find_untolerated,
    in_force,
    prefer_no_schedule_tolerations,
    tolerates,
)

GPU = Taint(key="gpu", value="a100", effect="NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "covered"),
    [
        (Toleration(key="gpu", operator="Equal", value="a100", effect="NoSchedule"), True),
        (Toleration(key="gpu", value="a100"), True),
        (Toleration(key="gpu", operator="Exists"), True),
        (Toleration(key="gpu", operator="Exists", value="other"), True),
        (Toleration(operator="Exists"), True),
        (Toleration(operator="Exists", effect="NoExecute"), False),
        (Toleration(key="gpu", value="b200"), False),
        (Toleration(key="other", operator="Exists"), False),
        (Toleration(value="a100"), True),
        (Toleration(), False),
        (Toleration(key="gpu", operator="Lt", value="b"), False),
        (Toleration(key="gpu", operator="Bad", value="a100"), False),
    ],
)
def test_a_toleration_covers_a_taint_by_effect_key_and_value(toleration: Toleration, covered: bool) -> None:
    assert tolerates(toleration, GPU) is covered


@pytest.mark.parametrize(
    ("operator", "limit", "value", "covered"),
    [
        ("Lt", "5", "4", True),
        ("Lt", "5", "5", False),
        ("Lt", "5", "10", False),
        ("Gt", "5", "10", True),
        ("Gt", "5", "5", False),
        ("Gt", "-5", "-4", True),
        ("Gt", "-1", "0", True),
        ("Gt", "9223372036854775806", "9223372036854775807", True),
        ("Lt", "9223372036854775808", "5", False),
        ("Gt", "5", "9223372036854775808", False),
        ("Gt", "5", "", False),
        ("Lt", "", "5", False),
        ("Gt", "05", "9", False),
        ("Gt", "5", "+9", False),
        ("Gt", "-0", "9", False),
        ("Gt", "5", "9.5", False),
        ("Gt", "5", "٩", False),
        ("Gt", "5", "9\n", False),
        ("Gt", "a", "b", False),
    ],
)
def test_comparing_operators_cover_by_number(operator: str, limit: str, value: str, covered: bool) -> None:
    taint = Taint(key="level", value=value, effect="NoSchedule")
    assert tolerates(Toleration(key="level", operator=operator, value=limit), taint) is covered


def test_without_the_gate_for_them_comparing_tolerations_do_not_count() -> None:
    plain, less = Toleration(key="level", value="5"), Toleration(key="level", operator="Lt", value="5")
    assert in_force((less, plain), comparing=True) == (less, plain)
    assert in_force((less, plain), comparing=False) == (plain,)
    assert in_force((plain,), comparing=False) == (plain,)


def test_the_first_untolerated_taint_is_found() -> None:
    taints = (GPU, Taint(key="b", effect="NoExecute"), Taint(key="c", effect="NoSchedule"))
    assert find_untolerated(taints, (Toleration(key="gpu", operator="Exists"),)) is taints[1]
    assert find_untolerated(taints, (Toleration(operator="Exists"),)) is None


def test_taints_without_one_of_the_effects_are_passed_over() -> None:
    soft = (Taint(key="soft", effect="PreferNoSchedule"),)
    assert find_untolerated(soft, ()) is None
    assert find_untolerated(soft, (), {"PreferNoSchedule"}) is soft[0]


def test_only_soft_taints_are_counted() -> None:
    taints = (GPU, Taint(key="a", effect="PreferNoSchedule"), Taint(key="b", effect="PreferNoSchedule"))
    assert count_intolerable(taints, ()) == 2
    assert count_intolerable(taints, (Toleration(key="a", operator="Exists"),)) == 1


def test_only_tolerations_for_soft_taints_count_for_the_score() -> None:
    tolerations = (Toleration(key="a"), Toleration(key="b", effect="PreferNoSchedule"), Toleration(effect="NoSchedule"))
    assert prefer_no_schedule_tolerations(tolerations) == tolerations[:2]
