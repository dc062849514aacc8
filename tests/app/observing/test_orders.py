"""Under which circumstances a choice is the best that there was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scheduler.app.assembly import assemble
from scheduler.app.observing.orders import Explanation, chosen_among_best, decide, explanation
from scheduler.client.memory import MemoryCluster, MemoryWriter
from scheduler.config.features import FeatureGates
from scheduler.config.load import default_config
from scheduler.plugins.registry import IN_TREE
from tests.builders import node, pod

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scheduler.cycle.scheduler import Scheduler


@pytest.fixture
async def scheduler() -> Scheduler:
    """One with the default profile and nothing in its state."""
    gates = FeatureGates()
    config = default_config(feature_gates=gates)
    return assemble(config, registry=IN_TREE, gates=gates, writer=MemoryWriter(MemoryCluster()))


def filled(scheduler: Scheduler, nodes: Iterable[Any], pods: Iterable[Any] = ()) -> list[str]:
    """Fill the state; the uids of the pods, the last one first."""
    for item in nodes:
        scheduler.state.set_node(item.build())
    uids = []
    for item in pods:
        placed = scheduler.state.info(item.build())
        scheduler.state.set_pod(placed)
        uids.insert(0, placed.uid)
    return uids


def explained(
    scheduler: Scheduler, asked: Any, chosen: str, *, earlier: Iterable[str] = (), later: Iterable[str] = ()
) -> Explanation | None:
    profile = next(iter(scheduler.profiles.values()))
    return explanation(
        scheduler.state,
        profile,
        scheduler.state.info(asked.build()),
        chosen,
        earlier=list(earlier),
        later=list(later),
        percentage=0,
    )


def test_a_choice_among_the_best_needs_no_explanation(scheduler: Scheduler) -> None:
    filled(scheduler, [node("n1"), node("n2")])
    assert explained(scheduler, pod("a").cpu("1"), "n1") == Explanation(0, None)


def test_a_bind_that_the_other_scheduler_did_not_know(scheduler: Scheduler) -> None:
    """n1 was empty when it was chosen; the pod on it overtook."""
    earlier = filled(scheduler, [node("n1"), node("n2")], [pod("x").cpu("1").on("n2"), pod("y").cpu("2").on("n1")])
    assert explained(scheduler, pod("a").cpu("1"), "n1", earlier=earlier) == Explanation(1, None)


def test_of_the_binds_in_flight_only_those_that_speak_against_the_node(scheduler: Scheduler) -> None:
    """The pod on n1 was decided on later than the pod, the one on n2, which was seen after it, before."""
    pods = [pod("y").cpu("1").on("n1"), pod("a").cpu("1").on("n1"), pod("x").cpu("3").on("n2")]
    x, own, y = filled(scheduler, [node("n1"), node("n2")], pods)
    asked = pod("a").set("metadata.uid", own).cpu("1")
    assert explained(scheduler, asked, "n1", earlier=[y], later=[x]) == Explanation(0, None)
    (z,) = filled(scheduler, [], [pod("z").cpu("3").on("n1")])
    assert explained(scheduler, asked, "n1", earlier=[y], later=[x]) == Explanation(1, None)
    scheduler.state.remove_pod(z)
    filled(scheduler, [], [pod("more").cpu("3500m").on("n1")])
    assert explained(scheduler, asked, "n1", earlier=[y], later=[x]) is None


def test_a_choice_that_nothing_explains(scheduler: Scheduler) -> None:
    filled(scheduler, [node("n1"), node("n2")], [pod("x").cpu("2").on("n1")])
    assert explained(scheduler, pod("a").cpu("1"), "n1") is None


def test_a_node_that_is_not_there(scheduler: Scheduler) -> None:
    filled(scheduler, [node("n1")])
    assert explained(scheduler, pod("a").cpu("1"), "gone") is None


def test_no_choice_where_nothing_fits(scheduler: Scheduler) -> None:
    filled(scheduler, [node("n1").capacity(cpu="1")])
    assert explained(scheduler, pod("a").cpu("2"), "") == Explanation(0, None)
    assert explained(scheduler, pod("a").cpu("1"), "") is None


def test_the_best_of_a_sample(scheduler: Scheduler) -> None:
    """150 nodes, of which a search finds 100: an emptier one may be left out, but not fifty-one of them."""
    names = [f"n{number:03}" for number in range(150)]
    filled(scheduler, map(node, names), (pod(f"on-{name}").cpu("1").on(name) for name in names[:100]))
    found = explained(scheduler, pod("a").cpu("1"), "n050")
    assert found == Explanation(0, 100)
    scheduler.state.remove_pod(_uid(scheduler, "on-n099"))
    assert explained(scheduler, pod("a").cpu("1"), "n050") is None


def test_nothing_is_left_of_what_was_tried(scheduler: Scheduler) -> None:
    earlier = filled(scheduler, [node("n1"), node("n2")], [pod("y").cpu("2").on("n1")])
    profile = next(iter(scheduler.profiles.values()))
    before = scheduler.state.nodes.requested.copy()
    explained(scheduler, pod("a").cpu("1"), "n1", earlier=earlier)
    assert (scheduler.state.nodes.requested == before).all()
    decision = decide(scheduler.state, profile, scheduler.state.info(pod("a").cpu("1").build()))
    assert chosen_among_best(decision, "n2")
    assert not chosen_among_best(decision, "n1")


def _uid(scheduler: Scheduler, name: str) -> str:
    return next(item.uid for item in scheduler.state.pods if item.name == name)
