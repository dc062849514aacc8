"""Running the PreFilter plugins."""

from __future__ import annotations

import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import NodeNames
from scheduler.framework.pre_filter import run_pre_filters
from scheduler.framework.status import SKIP, Code, PluginError, Status, error, unresolvable, unschedulable
from tests.builders import info, node, pod, state
from tests.framework.stubs import PreFilter

A, B, C = "A", "B", "C"


def run(*answers):
    cluster = state([node("n")])
    diary = []
    plugins = [PreFilter(name, answer, diary) for name, answer in zip("ABC", answers, strict=False)]
    return run_pre_filters(plugins, Cycle(info(pod("p"), cluster), cluster, "p")), diary


def names(*nodes):
    return NodeNames(frozenset(nodes))


def test_without_objections_all_nodes_are_looked_at():
    outcome, _ = run(None, None)
    assert (outcome.status, outcome.names, outcome.skipped) == (None, None, frozenset())


def test_skipping_plugins_are_left_out_of_filtering():
    outcome, diary = run(SKIP, None, SKIP)
    assert outcome.skipped == {"A", "C"}
    assert diary == ["A", "B", "C"]


def test_nodes_that_several_plugins_name_are_intersected():
    outcome, _ = run(names("x", "y"), None, names("y", "z"))
    assert outcome.names == {"y"}
    assert outcome.restricted_by == {"A", "C"}
    assert outcome.status is None


def test_an_unresolvable_refusal_ends_it_at_once():
    outcome, diary = run(names("x"), unresolvable("no"), None)
    assert outcome.status == unresolvable("no").by("B")
    assert diary == ["A", "B"]
    assert outcome.restricted_by == frozenset()


def test_after_a_resolvable_refusal_the_others_are_asked_since_preemption_needs_them():
    outcome, diary = run(unschedulable("first"), unschedulable("last"), names("x"))
    assert diary == ["A", "B", "C"]
    assert outcome.status == unschedulable("last").by("B")
    assert outcome.restricted_by == {"C"}


@pytest.mark.parametrize(
    ("answers", "skipped"),
    [([None, None], ""), ([SKIP, SKIP, SKIP], "ABC"), ([unschedulable("no"), SKIP], "B")],
    ids=["none", "all", "one after a resolvable refusal"],
)
def test_those_that_skip_are_known_by_name(answers, skipped):
    outcome, _ = run(*answers)
    assert outcome.skipped == set(skipped)


@pytest.mark.parametrize("answer", [unresolvable("no"), names()])
def test_after_a_refusal_for_good_nobody_is_asked(answer):
    outcome, diary = run(answer, SKIP)
    assert outcome.status is not None
    assert outcome.status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert (diary, outcome.skipped) == (["A"], frozenset())


@pytest.mark.parametrize("first", [None, SKIP])
def test_a_failure_of_a_later_one_fails_the_attempt(first):
    with pytest.raises(PluginError, match='running PreFilter plugin "B": boom'):
        run(first, error("boom"))


def test_one_plugin_that_leaves_no_node():
    outcome, diary = run(names(), None)
    assert outcome.status == unresolvable("node(s) didn't satisfy plugin A")
    assert outcome.restricted_by == {"A"}
    assert diary == ["A"]


def test_plugins_that_leave_no_node_together():
    outcome, _ = run(names("x"), names("y"))
    assert outcome.status == unresolvable("node(s) didn't satisfy plugin(s) [A B] simultaneously")


@pytest.mark.parametrize("answer", [error("boom"), Status(Code.WAIT, ("boom",)), Status(Code.PENDING, ("boom",))])
def test_anything_else_fails_the_attempt(answer):
    with pytest.raises(PluginError, match='running PreFilter plugin "A": boom'):
        run(answer)
