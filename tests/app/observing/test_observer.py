"""Another scheduler's decisions as they come in by informers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from scheduler.api.objects import PodCondition
from scheduler.app.assembly import assemble, connect
from scheduler.app.observing.observer import Observer
from scheduler.app.observing.report import Outcome, Tally
from scheduler.app.observing.service import default_profiles
from scheduler.client.kinds import PODS
from scheduler.client.memory import MemoryCluster, MemoryWriter
from scheduler.config.features import FeatureGates
from scheduler.config.load import default_config
from scheduler.plugins.registry import IN_TREE
from tests.builders import node, pod

if TYPE_CHECKING:
    from scheduler.app.observing.report import Observation


class World:
    """A cluster with another scheduler, played by the test, and an observer."""

    def __init__(self) -> None:
        gates = FeatureGates()
        config = default_profiles(default_config(feature_gates=gates), ["other"])
        self.seen: list[Observation] = []
        self.tally = Tally(["other"], on_add=self.seen.append)
        self.time = 0.0
        scheduler = assemble(config, registry=IN_TREE, gates=gates, writer=MemoryWriter(MemoryCluster()))
        self.observer = Observer(scheduler, self.tally, clock=lambda: self.time, now=lambda: 0.0)
        self.state = scheduler.state
        self.cluster = MemoryCluster()
        connect(scheduler, self.cluster, self.observer)

    def begin(self, *objects: Any) -> None:
        """What is there, then the watch."""
        for item in objects:
            self.cluster.put(item.build())
        self.cluster.sync()
        self.observer.begun = True

    def create(self, name: str, *, cpu: str = "1", scheduler: str = "other") -> None:
        self.cluster.put(pod(name).scheduler(scheduler).cpu(cpu).build())

    def bind(self, name: str, node_name: str) -> None:
        """The other scheduler places a pod."""
        found = self.cluster.get(PODS, "default", name)
        assert found is not None
        self.cluster.put(replace(found, spec=replace(found.spec, node_name=node_name)))

    def refuse(self, name: str) -> None:
        """It says that the pod fits nowhere."""
        found = self.cluster.get(PODS, "default", name)
        assert found is not None
        condition = PodCondition(type="PodScheduled", status="False", reason="Unschedulable", message="0/2 nodes")
        self.cluster.put(replace(found, status=replace(found.status, conditions=(condition,))))

    @property
    def outcomes(self) -> list[tuple[str, Outcome]]:
        return [(item.pod.removeprefix("default/"), item.outcome) for item in self.seen]


@pytest.fixture
async def world() -> World:
    made = World()
    made.begin(node("n1").capacity(cpu="4"), node("n2").capacity(cpu="4"))
    return made


def test_a_choice_among_the_best_agrees(world: World) -> None:
    world.create("a")
    world.bind("a", "n2")
    assert world.outcomes == [("a", Outcome.AGREED)]
    assert world.seen[0].node == "n2"


def test_the_decision_is_taken_before_the_pod_counts(world: World) -> None:
    """The pod fills its node, so that it would not fit if it were counted."""
    world.create("a", cpu="4")
    world.bind("a", "n1")
    assert world.outcomes == [("a", Outcome.AGREED)]
    assert len(world.state.pods) == 1


async def test_a_worse_choice_stands_once_nothing_can_explain_it_any_more() -> None:
    world = World()
    world.begin(node("n1").capacity(cpu="4"), node("n2").capacity(cpu="4"), pod("there").cpu("2").on("n1"))
    world.create("a")
    world.bind("a", "n1")
    assert world.observer.open == 1
    world.time += 4
    world.observer.settle()
    assert world.outcomes == []
    world.time += 2
    world.observer.settle()
    assert world.outcomes == [("a", Outcome.DIFFERENT)]
    assert "NodeResourcesFit" in world.seen[0].agreement.behind


def test_binds_that_overtook_it_explain_a_choice(world: World) -> None:
    """a was to go to n1, and so was b, decided next; but b is seen bound first."""
    world.create("a", cpu="1")
    world.create("b", cpu="2")
    world.create("c", cpu="1")
    world.bind("b", "n2")
    world.bind("c", "n1")
    world.bind("a", "n2")
    assert world.outcomes == [("b", Outcome.AGREED), ("c", Outcome.AGREED), ("a", Outcome.OTHER_ORDER)]
    assert world.seen[2].detail == "decided before 2 binds in flight counted"


async def test_a_bind_that_is_seen_later_explains_a_choice() -> None:
    """a went to n2 since b was on its way to n1, although a was bound first."""
    world = World()
    world.begin(node("n1").capacity(cpu="4"), node("n2").capacity(cpu="4"), pod("there").cpu("2").on("n2"))
    world.create("a", cpu="1")
    world.create("b", cpu="3")
    world.bind("a", "n2")
    assert world.observer.open == 1
    world.bind("b", "n1")
    assert world.observer.open == 0
    assert world.outcomes == [("b", Outcome.AGREED), ("a", Outcome.OTHER_ORDER)]
    assert world.seen[1].detail == "decided after 1 bind that became known later"


def test_a_refusal_that_is_shared_agrees(world: World) -> None:
    world.create("big", cpu="8")
    world.refuse("big")
    assert world.outcomes == [("big", Outcome.AGREED)]
    assert world.seen[0].node == ""
    world.refuse("big")
    assert len(world.seen) == 1


def test_a_refusal_that_is_not_shared_differs_unless_the_pod_is_placed_soon(world: World) -> None:
    world.create("a")
    world.refuse("a")
    assert world.observer.open == 1
    world.bind("a", "n1")
    assert world.outcomes == [("a", Outcome.OTHER_ORDER), ("a", Outcome.AGREED)]
    world.create("b")
    world.refuse("b")
    world.observer.settle(all_open=True)
    assert world.outcomes[2:] == [("b", Outcome.DIFFERENT)]


def test_pods_of_others_count_but_are_not_compared(world: World) -> None:
    world.create("theirs", cpu="4", scheduler="somebody")
    world.bind("theirs", "n1")
    assert world.seen == []
    world.create("a")
    world.bind("a", "n2")
    assert world.outcomes == [("a", Outcome.AGREED)]


def test_a_pod_that_came_with_its_node_is_skipped(world: World) -> None:
    world.cluster.put(pod("daemon").scheduler("other").on("n1").build())
    assert (world.seen, world.tally.skipped) == ([], 1)


async def test_what_was_there_before_is_not_compared() -> None:
    world = World()
    world.begin(node("n1"), pod("old").scheduler("other").on("n1"), pod("new").scheduler("other"))
    assert (world.seen, world.tally.skipped, world.observer.waiting) == ([], 0, 1)
    world.bind("new", "n1")
    assert world.outcomes == [("new", Outcome.AGREED)]


def test_pods_with_a_node_in_prospect_hold_it_against_lesser_ones(world: World) -> None:
    high = pod("high").scheduler("other").cpu("4").set("spec.priority", 10).set("status.nominatedNodeName", "n1")
    world.cluster.put(high.build())
    world.create("a")
    world.bind("a", "n2")
    assert world.outcomes == [("a", Outcome.AGREED)]
    world.cluster.delete(PODS, "default", "high")
    assert len(world.state.nominations) == 0
