"""Small questions about a pod."""

from __future__ import annotations

import pytest

from scheduler.api.conditions import (
    find_condition,
    is_resize_infeasible,
    is_terminal,
    is_terminating,
    pod_priority,
)
from scheduler.api.objects import ObjectMeta, Pod, PodCondition, PodSpec, PodStatus


def with_conditions(*conditions: PodCondition) -> Pod:
    return Pod(status=PodStatus(conditions=conditions))


def test_the_first_condition_of_a_type_is_found() -> None:
    first, second = PodCondition(type="A", reason="x"), PodCondition(type="A", reason="y")
    assert find_condition(with_conditions(first, second), "A") is first
    assert find_condition(Pod(), "A") is None


@pytest.mark.parametrize(("priority", "expected"), [(None, 0), (0, 0), (-5, -5), (2_000_000_000, 2_000_000_000)])
def test_a_pod_without_priority_has_0(priority: int | None, expected: int) -> None:
    assert pod_priority(Pod(spec=PodSpec(priority=priority))) == expected


@pytest.mark.parametrize(
    ("phase", "ended"), [("Succeeded", True), ("Failed", True), ("Running", False), ("Pending", False), ("", False)]
)
def test_succeeded_and_failed_pods_have_ended(phase: str, ended: bool) -> None:
    assert is_terminal(Pod(status=PodStatus(phase=phase))) is ended


def test_a_pod_with_a_deletion_time_is_terminating() -> None:
    assert is_terminating(Pod(metadata=ObjectMeta(deletion_timestamp="2026-01-01T00:00:00Z")))
    assert not is_terminating(Pod())


def test_only_the_first_resize_condition_says_whether_it_is_infeasible() -> None:
    deferred = PodCondition(type="PodResizePending", reason="Deferred")
    infeasible = PodCondition(type="PodResizePending", reason="Infeasible")
    assert is_resize_infeasible(with_conditions(infeasible, deferred))
    assert not is_resize_infeasible(with_conditions(deferred, infeasible))
    assert not is_resize_infeasible(Pod())
