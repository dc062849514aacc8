"""The same pods placed twice: what comes out differently, and why."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scheduler.app.comparing import NOT_THERE, Comparison, compare
from tests.app.simulating import simulation, weighted
from tests.builders import expression, node, pod, term

if TYPE_CHECKING:
    from tests.builders import NodeBuilder, PodBuilder

Side = tuple["list[NodeBuilder | PodBuilder]", "dict[str, Any] | None"]

# a is preferred by affinity, b has more room.
NODES = [node("a").label(disk="ssd").capacity(cpu="4"), node("b").capacity(cpu="16")]
POD = pod("p").cpu("1").prefers_node(100, term(expression("disk", "In", "ssd")))


def compared(a: Side, b: Side) -> Comparison:
    def maker(side: Side) -> Any:
        return lambda watch: simulation(*side[0], config=side[1], scores=True, observe=watch)

    return asyncio.run(compare(("old", "new"), (maker(a), maker(b)), lambda *_: None))


def test_alike() -> None:
    side: Side = ([*NODES, POD], None)
    found = compared(side, side)
    assert (found.moved, found.alike) == ((), 1)
    assert (found.a.name, found.a.scheduled, found.b.name, found.b.scheduled) == ("old", 1, "new", 1)


def test_a_pod_elsewhere_with_each_sides_points_for_both_nodes() -> None:
    objects = [*NODES, POD]
    found = compared((objects, weighted("NodeAffinity", 1)), (objects, weighted("NodeResourcesFit", 100)))
    (moved,) = found.moved
    assert moved.a is not None
    assert moved.b is not None
    assert (moved.a.node, moved.b.node) == ("a", "b")
    for verdicts, winner, loser in ((moved.under_a, "a", "b"), (moved.under_b, "b", "a")):
        points = verdicts.points
        assert set(points) == {"a", "b"}
        assert points[winner].total > points[loser].total
        assert sum(points[winner].plugins.values()) == points[winner].total
    assert moved.under_a.points["a"].plugins["NodeAffinity"] == 100
    assert moved.under_b.points["a"].plugins["NodeResourcesFit"] % 100 == 0


def test_a_node_that_one_side_turns_down() -> None:
    before: Side = ([*NODES, POD], None)
    after: Side = ([NODES[0].taint("full"), NODES[1], POD], None)
    (moved,) = compared(before, after).moved
    assert set(moved.under_a.points) == {"a", "b"}
    assert moved.under_b.rejected["a"].plugin == "TaintToleration"


def test_a_node_that_one_side_does_not_have() -> None:
    (moved,) = compared(([*NODES, POD], None), ([NODES[1], POD], None)).moved
    assert moved.under_b.rejected["a"].reasons == (NOT_THERE,)


def test_a_pod_that_stays_pending_on_one_side() -> None:
    (moved,) = compared(([*NODES, POD], None), ([node("tiny").capacity(cpu="100m"), POD], None)).moved
    assert moved.b is not None
    assert (moved.b.node, moved.b.status) == (None, "Unschedulable")
    assert "Insufficient cpu" in moved.b.message


def test_a_pod_that_ran_on_one_side_and_was_placed_on_the_other() -> None:
    running: Side = ([*NODES, POD.on("b")], None)
    (moved,) = compared(running, ([*NODES, POD], None)).moved
    assert moved.a is not None
    assert (moved.a.node, moved.a.status) == ("b", "Running")
    assert compared(([*NODES, POD.on("a")], None), ([*NODES, POD], None)).moved == ()


def test_what_it_is_busy_with() -> None:
    told = []

    def make(watch: Any) -> Any:
        return simulation(*(NODES if told else NODES[1:]), POD, scores=True, observe=watch)

    asyncio.run(compare(("old", "new"), (make, make), lambda *step: told.append(step)))
    assert told == [("old", 1, 1), ("new", 1, 1), ("old, for its reasons", 1, 1)]
