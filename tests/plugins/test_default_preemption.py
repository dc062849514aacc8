"""DefaultPreemption."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scheduler.framework.diagnosis import Rejections
from scheduler.framework.interface import PostFilterResult
from scheduler.framework.status import Code, Status, unschedulable
from scheduler.plugins.default_preemption import DefaultPreemption
from tests.builders import info, node, pod, state
from tests.plugins.harness import cycle_of

if TYPE_CHECKING:
    from scheduler.cache.state import ClusterState
    from scheduler.framework.cycle import Cycle
    from tests.builders import PodBuilder

PLUGIN = DefaultPreemption()


def test_evicts_nobody_and_leaves_the_nomination():
    cycle = cycle_of(state([node("n")]), pod("p").priority(10).nominated("n"))
    assert PLUGIN.post_filter(cycle) == PostFilterResult(unschedulable(), nominated_node=None)


def test_holds_no_pod_back():
    assert PLUGIN.pre_enqueue(info(pod("p").nominated("n"))) is None
    assert list(PLUGIN.events_to_register()) == []


def turned_down(cluster: ClusterState, incoming: PodBuilder, codes: dict[str, int]) -> Cycle:
    """A cycle in which NodeUnschedulable or NodeResourcesFit (by code) turned the nodes down."""
    cycle = cycle_of(cluster, incoming)
    rejections = Rejections(cycle)
    rejections.evaluated[:] = True
    for name, code in codes.items():
        rejections.overrides[cluster.nodes.rows[name]] = Status(Code(code), ("some reason",))
    cycle.rejections = rejections
    return cycle


HELPLESS, HOPEFUL = Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.UNSCHEDULABLE


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ([HELPLESS, HELPLESS], "2 Preemption is not helpful for scheduling."),
        ([HOPEFUL, HOPEFUL], "2 No preemption victims found for incoming pod."),
        (
            [HOPEFUL, HELPLESS],
            "1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.",
        ),
    ],
)
def test_says_why_there_is_nobody_to_evict(codes, expected):
    cluster = state([node("a"), node("b")], [pod("there").priority(5).on("a")])
    cycle = turned_down(cluster, pod("p").priority(5), dict(zip("ab", codes, strict=True)))
    told = PLUGIN.post_filter(cycle).status
    assert told == unschedulable(f"preemption: 0/2 nodes are available: {expected}")


def test_says_nothing_where_somebody_might_be_evicted():
    cluster = state([node("a"), node("b")], [pod("there").priority(4).on("a")])
    cycle = turned_down(cluster, pod("p").priority(5), {"a": HOPEFUL, "b": HELPLESS})
    assert PLUGIN.post_filter(cycle).status == unschedulable()


def test_a_pod_that_never_preempts_is_told_so():
    incoming = pod("p").priority(5).set("spec.preemptionPolicy", "Never")
    told = PLUGIN.post_filter(turned_down(state([node("a")]), incoming, {"a": HOPEFUL})).status
    assert told == unschedulable("preemption: not eligible due to preemptionPolicy=Never.")
