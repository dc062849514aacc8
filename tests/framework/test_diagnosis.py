"""Why a pod fits nowhere."""

from __future__ import annotations

import numpy as np

from scheduler.framework.cycle import Cycle
from scheduler.framework.diagnosis import Rejections
from scheduler.framework.status import Code, Status, unresolvable, unschedulable
from tests.builders import info, node, pod, state
from tests.framework.stubs import Filter


def rejections_of(nodes=3, *verdicts, evaluated=True):
    """Each verdict: a list of statuses (None fits) by node, in the order of the filters A, B, …"""
    cluster = state([node(f"n{i}") for i in range(nodes)])
    found = Rejections(Cycle(info(pod("p"), cluster), cluster, "p"))
    found.evaluated = np.full(nodes, evaluated)
    for name, statuses in zip("ABC", verdicts, strict=False):
        plugin = Filter(name)
        plugin.statuses = [status for status in statuses if status is not None]
        places = iter(range(1, nodes + 1))
        found.verdicts.append((plugin, np.array([0 if s is None else next(places) for s in statuses], np.uint8)))
    return found


CPU = unschedulable("Insufficient cpu")
MEMORY = unschedulable("Insufficient memory")
BOTH = unschedulable("Insufficient cpu", "Insufficient memory")
TAINT = unresolvable("node(s) had untolerated taint(s)")


class TestMessage:
    def test_reasons_are_counted(self):
        assert rejections_of(3, [CPU, CPU, TAINT]).message() == (
            "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu."
        )

    def test_every_reason_of_a_node_counts(self):
        assert rejections_of(2, [BOTH, MEMORY]).message() == (
            "0/2 nodes are available: 1 Insufficient cpu, 2 Insufficient memory."
        )

    def test_counts_are_sorted_as_text(self):
        text = rejections_of(12, [TAINT] * 2 + [CPU] * 10).message()
        assert text == "0/12 nodes are available: 10 Insufficient cpu, 2 node(s) had untolerated taint(s)."

    def test_only_the_first_filter_that_rejects_a_node_is_heard(self):
        assert rejections_of(2, [TAINT, None], [CPU, CPU]).message() == (
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s)."
        )

    def test_nodes_that_were_not_looked_at_have_the_absent_reason(self):
        found = rejections_of(3, [CPU, None, None])
        found.evaluated[1:] = False
        found.absent = unresolvable("node(s) didn't satisfy plugin(s) [NodeAffinity]")
        assert found.message() == (
            "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."
        )

    def test_a_refusal_by_pre_filter_is_not_counted(self):
        found = rejections_of(3, evaluated=False)
        found.absent = unresolvable("no way")
        found.pre_filter_message = "no way"
        assert found.message() == "0/3 nodes are available: no way."

    def test_what_post_filter_says_comes_last_and_gets_no_full_stop(self):
        assert rejections_of(1, [CPU]).message("preemption: not helpful") == (
            "0/1 nodes are available: 1 Insufficient cpu. preemption: not helpful"
        )

    def test_without_any_reason(self):
        assert rejections_of(1, [unschedulable()]).message() == "0/1 nodes are available:"


class TestStatuses:
    def test_each_node_has_that_of_the_first_filter_to_reject_it(self):
        found = rejections_of(3, [None, TAINT, None], [CPU, CPU, None])
        assert found.statuses() == {0: CPU.by("B"), 1: TAINT.by("A")}
        assert [found.status_of(row) for row in range(3)] == [CPU.by("B"), TAINT.by("A"), None]

    def test_absent_nodes_have_the_absent_one(self):
        found = rejections_of(2, [CPU, None])
        found.evaluated[1] = False
        found.absent = unresolvable("elsewhere")
        assert found.statuses() == {0: CPU.by("A"), 1: unresolvable("elsewhere")}

    def test_overrides_take_precedence(self):
        found = rejections_of(2, [CPU, None])
        found.overrides = {0: Status(Code.SUCCESS), 1: TAINT.by("X")}
        assert found.statuses() == {1: TAINT.by("X")}
        assert (found.status_of(0), found.status_of(1)) == (None, TAINT.by("X"))

    def test_overrides_of_nodes_that_were_not_looked_at_say_nothing(self):
        found = rejections_of(2, [CPU, None])
        found.evaluated[1] = False
        found.overrides = {1: TAINT.by("X")}
        assert found.statuses() == {0: CPU.by("A")}

    def test_rows_can_be_found_by_their_code(self):
        found = rejections_of(4, [TAINT, None, None, None], [None, CPU, CPU, None])
        found.evaluated[3] = False
        found.absent = unresolvable("elsewhere")
        assert found.rows_with(Code.UNSCHEDULABLE).tolist() == [1, 2]
        assert found.rows_with(Code.UNSCHEDULABLE_AND_UNRESOLVABLE).tolist() == [0, 3]
        assert found.rows_with(Code.ERROR).tolist() == []


def test_once_it_is_settled_the_same_is_found_each_time():
    found = rejections_of(3, [CPU, None, TAINT], [None, MEMORY, CPU])
    found.overrides = {0: unschedulable("else").by("X")}
    before = [(status, rows.tolist()) for status, rows in found.groups()]
    groups = found.settle().groups()
    assert [(status, rows.tolist()) for status, rows in groups] == before
    assert found.groups() is groups


class TestPlugins:
    def test_all_who_rejected_a_node_must_be_heard(self):
        found = rejections_of(3, [None, TAINT, None], [CPU, CPU, None])
        assert found.rejecting_plugins() == {"A", "B"}

    def test_those_who_restricted_the_nodes_are_among_them(self):
        found = rejections_of(1, [CPU])
        found.unschedulable_plugins = {"NodeAffinity"}
        assert found.rejecting_plugins() == {"A", "NodeAffinity"}

    def test_an_absent_status_without_a_plugin_adds_nobody(self):
        found = rejections_of(1, evaluated=False)
        found.absent = unresolvable("elsewhere")
        assert found.rejecting_plugins() == set()

    def test_pending_ones_are_told_apart(self):
        found = rejections_of(2, [CPU, None], [None, Status(Code.PENDING, ("soon",))])
        assert found.pending_plugins() == {"B"}
        assert found.rejecting_plugins() == {"A", "B"}
