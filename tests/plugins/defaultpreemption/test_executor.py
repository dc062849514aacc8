"""Evicting victims."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from scheduler.cache.state import ClusterState
from scheduler.framework.handle import Handle
from scheduler.framework.interface import Eviction
from scheduler.plugins.defaultpreemption.executor import Executor
from tests.builders import info, pod
from tests.plugins.defaultpreemption.attempts import there, wanting
from tests.plugins.harness import UnusedBinder


class World:
    """A writer that notes what it is told, and waits at a delete call until it is let go on."""

    def __init__(self, *, asynchronous=True, waiting=()):
        self.asynchronous = asynchronous
        self.state = ClusterState()
        self.calls = []
        self.events = []
        self.activated = []
        self.problems = {}
        self.gone = set()
        self.gates = {}
        self.writing = {}
        self.waiting = set(waiting)
        self.tasks = []
        self.handle = Handle(
            self.state,
            UnusedBinder(),
            lambda _gate: True,
            self.activated.extend,
            evictor=self,
            turn_down=self.turn_down,
            spawn=lambda work: self.tasks.append(asyncio.ensure_future(work)),
            recorders={"berth": self},
        )
        self.executor = Executor(self.handle, asynchronous=asynchronous)
        self.preemptor = info(wanting().scheduler("berth"), self.state)

    def victim(self, name, **more):
        found = info(there(name, "n", **more), self.state)
        self.state.set_pod(found)
        return found

    def start(self, *victims):
        self.executor.start(self.preemptor, Eviction("n", tuple(victims)))

    async def finish(self):
        await asyncio.gather(*self.tasks)

    def sees_gone(self, name):
        """The watch tells of a pod's deletion."""
        self.state.remove_pod(next(pod.uid for pod in self.state.pods if pod.name == name))

    def block(self, name):
        """Make the deletion of a pod wait."""
        self.gates[name] = asyncio.Event()

    @property
    def holds(self):
        uid = self.preemptor.uid
        held = self.executor.holds(uid)
        assert held == (uid in self.executor.held())
        return held

    def result(self, label):
        return self.handle.metrics.preemption_goroutines_execution.labels(label).value

    # the writer

    async def set_pod_condition(self, namespace, name, uid, condition, *, present=()):
        self.calls.append(f"condition {name}")
        self.condition, self.present = condition, present
        if name in self.problems:
            raise RuntimeError(self.problems[name])
        return name not in self.gone

    async def delete_pod(self, namespace, name, uid):
        self.calls.append(f"delete {name}")
        if name in self.gates:
            await self.gates[name].wait()
        return True

    def patch_pod_status(self, namespace, name, uid, *, conditions=(), nominated_node_name=None):
        self.calls.append(f"nominate {name} {nominated_node_name!r}")

    async def status_written(self, uid):
        if uid in self.writing:
            await self.writing[uid].wait()

    def turn_down(self, uid, plugin):
        return uid in self.waiting

    def record(self, regarding, *, type, reason, action, note, related=None):  # noqa: A002 (as in Kubernetes)
        self.events.append((regarding.name, type, reason, action, note, related))


async def turns():
    """Let begun work go on until it waits."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_victim_is_told_why_and_then_deleted():
    world = World()
    world.start(world.victim("a"))
    await world.finish()
    assert world.calls == ["condition a", "delete a"]
    condition = world.condition
    assert (condition.type, condition.status, condition.reason) == ("DisruptionTarget", "True", "PreemptionByScheduler")
    assert condition.message == "berth: preempting to accommodate a higher priority pod"


async def test_the_conditions_that_a_victim_has_keep_their_order():
    world = World()
    world.start(msgspec.structs.replace(world.victim("a"), condition_types=("Ready", "PodScheduled")))
    await world.finish()
    assert world.present == ("Ready", "PodScheduled")


async def test_a_victim_that_was_told_before_is_only_deleted():
    world = World()
    world.start(msgspec.structs.replace(world.victim("a"), preempted=True))
    await world.finish()
    assert world.calls == ["delete a"]


async def test_its_event_tells_by_whom_and_where():
    world = World()
    world.start(world.victim("a"))
    await world.finish()
    note = f"Preempted by pod {world.preemptor.uid} on node n"
    assert world.events == [("a", "Normal", "Preempted", "Preempting", note, None)]


async def test_the_preemptor_waits_until_the_deletion_is_seen():
    """It would find its node full, and evict others, if something else woke it in between."""
    world = World()
    world.start(world.victim("a"), world.victim("b"))
    await world.finish()
    assert world.calls[-1] == "delete b"
    world.sees_gone("a")
    assert world.holds
    world.sees_gone("b")
    assert not world.holds


async def test_preemptors_that_never_come_back_are_forgotten():
    world = World()
    world.start(world.victim("a"))
    await world.finish()
    world.sees_gone("a")
    first, world.preemptor = world.preemptor, info(wanting().uid("next"), world.state)
    world.start(world.victim("b"))
    assert first.uid not in world.executor._preempting
    await world.finish()


async def test_a_deletion_that_is_seen_before_it_is_answered_ends_well():
    """Its event overtakes the answer, and another preemption, which forgets what is done, begins in between."""
    world = World()
    world.block("a")
    world.start(world.victim("a"))
    await turns()
    world.sees_gone("a")
    first, world.preemptor = world.preemptor, info(wanting().uid("next"), world.state)
    world.start(world.victim("b"))
    assert not world.executor.holds(first.uid)
    world.gates["a"].set()
    await world.finish()
    assert world.result("success") == 2
    assert world.activated == []


async def test_victims_that_are_leaving_are_left_alone():
    world = World()
    leaving = msgspec.structs.replace(world.victim("leaving"), terminating=True)
    world.start(leaving, world.victim("a"))
    await world.finish()
    assert world.calls == ["condition a", "delete a"]
    assert world.handle.metrics.preemption_victims.labels().sum == 2


async def test_where_all_are_leaving_nobody_is_held_back():
    world = World()
    world.start(msgspec.structs.replace(world.victim("leaving"), terminating=True))
    assert not world.tasks
    assert not world.holds


async def test_the_last_victim_goes_only_after_all_others():
    world = World()
    for name in "ab":
        world.block(name)
    world.start(*map(world.victim, "abc"))
    await turns()
    assert sorted(world.calls) == ["condition a", "condition b", "delete a", "delete b"]
    world.gates["a"].set()
    await turns()
    assert "condition c" not in world.calls
    world.gates["b"].set()
    await world.finish()
    assert world.calls[-2:] == ["condition c", "delete c"]


async def test_the_preemptor_is_held_back_until_the_last_victim_is_known_to_go():
    world = World()
    first, last = map(world.victim, "ab")
    for name in "ab":
        world.block(name)
    world.start(first, last)
    assert world.holds
    await turns()
    world.state.remove_pod(first.uid)
    assert world.holds
    world.gates["a"].set()
    await turns()
    assert world.holds
    world.state.set_pod(msgspec.structs.replace(last, terminating=True))
    assert not world.holds
    world.gates["b"].set()
    await world.finish()
    assert not world.holds


async def test_a_last_victim_that_is_gone_holds_nobody_back():
    world = World()
    victim = world.victim("a")
    world.block("a")
    world.start(victim)
    await turns()
    world.state.remove_pod(victim.uid)
    assert not world.holds
    world.gates["a"].set()
    await world.finish()


async def test_after_a_failure_the_last_victim_stays_and_the_preemptor_is_tried_again():
    world = World()
    world.problems["a"] = "no"
    world.start(*map(world.victim, "abc"))
    await world.finish()
    assert "condition c" not in world.calls
    assert world.activated == ["default/urgent"]
    assert not world.holds
    assert (world.result("error"), world.result("success")) == (1, 0)


async def test_a_failure_of_the_last_one_is_a_failure_too():
    world = World()
    world.problems["a"] = "no"
    world.start(world.victim("a"))
    await world.finish()
    assert (world.activated, world.holds, world.result("error")) == (["default/urgent"], False, 1)


async def test_a_victim_that_is_gone_is_no_failure_and_no_event():
    world = World()
    world.gone.add("a")
    world.start(world.victim("a"))
    await world.finish()
    assert (world.calls, world.events, world.activated) == (["condition a"], [], [])
    assert world.result("success") == 1


async def test_a_waiting_victim_is_turned_down_instead_of_deleted():
    world = World()
    victim = world.victim("a")
    world.waiting.add(victim.uid)
    world.start(victim)
    await world.finish()
    assert world.calls == []
    assert world.events[0][4].endswith(" (in kube-scheduler memory).")
    # No deletion will be heard of.
    assert world.activated == ["default/urgent"]


async def test_only_a_last_victim_in_memory_leaves_the_preemptor_without_an_event():
    world = World()
    first, last = map(world.victim, "ab")
    world.waiting.add(first.uid)
    world.start(first, last)
    await world.finish()
    assert world.calls == ["condition b", "delete b"]
    assert world.activated == []


async def test_lesser_pods_nominated_to_the_node_lose_their_nomination():
    world = World()
    for name, priority, nominated in (("less", 99, "n"), ("as-much", 100, "n"), ("unwritten", 5, "")):
        rival = info(pod(name).uid(name).priority(priority).nominated(nominated), world.state)
        world.state.nominations.add(rival, "n")
    assert [p.name for p in world.executor.lesser_nominations(world.preemptor, "n")] == ["less", "unwritten"]
    written = world.writing["less"] = asyncio.Event()
    world.start(world.victim("a"))
    await turns()
    assert world.calls == ["nominate less ''"]
    written.set()
    await world.finish()
    assert world.calls == ["nominate less ''", "condition a", "delete a"]


async def test_no_victim_goes_before_the_preemptors_nomination_is_written():
    world = World()
    written = world.writing[world.preemptor.uid] = asyncio.Event()
    world.start(*map(world.victim, "ab"))
    await turns()
    assert world.calls == ["condition a"]
    written.set()
    await world.finish()
    assert world.calls == ["condition a", "delete a", "condition b", "delete b"]


@pytest.mark.parametrize("problem", [False, True], ids=["well", "badly"])
async def test_without_the_gate_all_go_at_once_and_nobody_is_held_back(problem):
    world = World(asynchronous=False)
    rival = info(pod("less").nominated("n"), world.state)
    world.state.nominations.add(rival, "n")
    if problem:
        world.problems["a"] = "no"
    world.start(*map(world.victim, "ab"))
    assert not world.holds
    await world.finish()
    assert {"condition a", "condition b", "delete b"} <= set(world.calls)
    assert ("nominate less ''" in world.calls) is not problem
    assert world.activated == (["default/urgent"] if problem else [])
    assert world.result("success") == world.result("error") == 0
