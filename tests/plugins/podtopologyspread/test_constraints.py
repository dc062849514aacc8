"""Spread constraints, compiled."""

from __future__ import annotations

import pytest

from scheduler.api.selectors import SelectorError
from scheduler.plugins.podtopologyspread.constraints import (
    DO_NOT_SCHEDULE,
    SCHEDULE_ANYWAY,
    SYSTEM_DEFAULTS,
    compile_constraints,
)
from tests.builders import expression, pod

LABELS = {"app": "web", "version": "2"}


def compiled(action=DO_NOT_SCHEDULE, *, soft=False, match_label_keys=True, **fields):
    spec = pod("p").spreads("zone", 3, soft=soft, **fields).build().spec
    return compile_constraints(spec.topology_spread_constraints, LABELS, action, match_label_keys=match_label_keys)


def test_only_those_of_the_asked_kind():
    assert len(compiled(SCHEDULE_ANYWAY, soft=True)) == 1
    assert compiled(SCHEDULE_ANYWAY) == compiled(DO_NOT_SCHEDULE, soft=True) == ()


def test_defaults():
    (constraint,) = compiled()
    assert (constraint.max_skew, constraint.topology_key, constraint.min_domains) == (3, "zone", 1)
    assert (constraint.honor_affinity, constraint.honor_taints) == (True, False)
    assert constraint.selector.nothing


@pytest.mark.parametrize(("policy", "honors"), [("Honor", True), ("Ignore", False)])
def test_inclusion_policies(policy, honors):
    (constraint,) = compiled(nodeAffinityPolicy=policy, nodeTaintsPolicy=policy, minDomains=4)
    assert (constraint.honor_affinity, constraint.honor_taints, constraint.min_domains) == (honors, honors, 4)


@pytest.mark.parametrize(
    ("selector", "keys", "text"),
    [
        ({"matchLabels": {"app": "web"}}, ["version"], "app=web,version=2"),
        ({"matchLabels": {"app": "web"}}, ["absent"], "app=web"),
        ({}, ["version"], "version=2"),
        ({"matchLabels": {"version": "1"}}, ["version"], "version=1,version=2"),
    ],
)
def test_match_label_keys_ask_for_the_pods_own_values(selector, keys, text):
    (constraint,) = compiled(labelSelector=selector, matchLabelKeys=keys)
    assert str(constraint.selector) == text


def test_match_label_keys_are_ignored_without_the_gate_for_them():
    (constraint,) = compiled(
        labelSelector={"matchLabels": {"app": "web"}}, matchLabelKeys=["version"], match_label_keys=False
    )
    assert str(constraint.selector) == "app=web"


def test_match_label_keys_do_not_widen_a_selector_of_nothing():
    (constraint,) = compiled(matchLabelKeys=["version"])
    assert constraint.selector.nothing


def test_a_selector_that_does_not_parse_is_an_error():
    with pytest.raises(SelectorError, match='"Near" is not a valid label selector operator'):
        compiled(labelSelector={"matchExpressions": [expression("app", "Near")]})


def test_system_defaults():
    assert [(c.topology_key, c.max_skew, c.when_unsatisfiable) for c in SYSTEM_DEFAULTS] == [
        ("kubernetes.io/hostname", 3, "ScheduleAnyway"),
        ("topology.kubernetes.io/zone", 5, "ScheduleAnyway"),
    ]
