"""What was recorded of an attempt that found no node, for people."""

from __future__ import annotations

from msgspec.structs import replace

from scheduler.explain.record import PostFilterRecord
from scheduler.explain.refusal import refused
from scheduler.explain.views import Rejected
from tests.explain.test_placement import text
from tests.fakes.decisions import REFUSAL


def test_the_message_comes_first_then_the_nodes_by_reason_the_largest_group_first():
    taint = Rejected(plugin="TaintToleration", code="Unschedulable", reasons=("untolerated taint",), nodes=("cp",))
    lines = text(refused(replace(REFUSAL, rejected=(taint, *REFUSAL.rejected)))).splitlines()
    assert lines[0] == "0/3 nodes are available: 3 Insufficient cpu."
    assert [line.split()[:2] for line in lines[2:4]] == [["3", "NodeResourcesFit"], ["1", "TaintToleration"]]


def test_who_has_to_go_for_the_pod_is_told():
    made = PostFilterRecord("Success", "", "a", ("shop/old", "shop/older"), ("shop/old",))
    assert "preemption on a: shop/old, shop/older have to go" in text(refused(replace(REFUSAL, post_filter=made)))


def test_so_is_that_nobody_could():
    vain = PostFilterRecord("Unschedulable", "preemption: 0/3 nodes help", None, (), ())
    assert "preemption: 0/3 nodes help" in text(refused(replace(REFUSAL, post_filter=vain)))
