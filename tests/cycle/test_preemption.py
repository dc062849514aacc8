"""From a pod that fits nowhere to its place: evictions, the wait for them, and the next attempt."""

from __future__ import annotations

import asyncio
import contextlib

from scheduler.client.kinds import PODS
from scheduler.client.memory import MemoryWriter
from scheduler.framework.status import Code, Status
from tests.builders import node, pod
from tests.cycle.rig import Rig
from tests.framework.stubs import Bind, Permit, PreBind


class SlowWriter(MemoryWriter):
    """Deletes a pod only once the test lets it."""

    def __init__(self, cluster):
        super().__init__(cluster)
        self.allowed = asyncio.Event()
        self.asked = []

    async def delete_pod(self, namespace, name, uid):
        self.asked.append(name)
        await self.allowed.wait()
        return await super().delete_pod(namespace, name, uid)


def full_cluster(**options):
    rig = Rig(**options)
    rig.put(node("n").capacity(cpu="2", memory="8Gi"))
    rig.put(*(pod(name).on("n").cpu("1") for name in ("a", "b")))
    return rig


def urgent():
    return pod("urgent").cpu("2").priority(100)


async def turns():
    for _ in range(10):
        await asyncio.sleep(0)


async def test_the_victims_go_and_the_pod_is_placed():
    rig = full_cluster()
    rig.put(urgent())
    await rig.step()
    assert rig.outcomes[0][1].message == (
        "0/1 nodes are available: 1 Insufficient cpu. "
        "preemption: found a potential placement for pod on node n, preempting 2 victims"
    )
    assert rig.pod("urgent").status.nominated_node_name == "n"
    assert [item.metadata.name for item in rig.cluster.list(PODS)] == ["urgent"]
    await rig.run()
    assert rig.node_of("urgent") == "n"


async def test_victims_get_an_event_that_names_the_preemptor():
    rig = full_cluster()
    rig.put(urgent())
    await rig.step()
    events = [event for event in rig.cluster.events if event.reason == "Preempted"]
    assert sorted(event.regarding.name for event in events) == ["a", "b"]
    assert {event.related for event in events} == {None}, "kube-scheduler v1.37.2 names it in the text only"
    uid = rig.pod("urgent").metadata.uid
    assert {event.note for event in events} == {f"Preempted by pod {uid} on node n"}


async def test_the_pod_is_held_back_until_its_last_victim_is_told_to_go():
    writers = []

    def slow(cluster):
        writers.append(SlowWriter(cluster))
        return writers[0]

    rig = full_cluster(writer=slow)
    rig.put(node("m").capacity(cpu="1"), pod("elsewhere").on("m").cpu("1").priority(200))
    rig.put(urgent())
    rig.scheduler.schedule_next()
    await turns()
    assert len(writers[0].asked) == 1
    # What frees room meanwhile does not wake it.
    rig.delete(pod("elsewhere"))
    assert rig.where("urgent") == "gated"
    assert not rig.scheduler.schedule_next()
    writers[0].allowed.set()
    await rig.scheduler.settle()
    assert len(writers[0].asked) == 2
    await rig.run()
    assert rig.node_of("urgent") == "n"


async def test_lesser_pods_lose_their_nomination_to_the_node():
    rig = full_cluster()
    rig.put(pod("less").cpu("4").priority(50).nominated("n"))
    await rig.step()
    rig.put(pod("less").cpu("4").priority(50).nominated("n"))
    assert rig.state.nominations.node_of(rig.pod("less").metadata.uid) == "n"
    rig.put(urgent())
    await rig.step()
    assert rig.pod("less").status.nominated_node_name == ""
    assert rig.state.nominations.node_of(rig.pod("less").metadata.uid) == ""


async def test_a_pod_that_waits_at_permit_is_turned_down_and_backs_off():
    rig = Rig(Permit("P", (Status(Code.WAIT), 60.0)))
    rig.put(node("n"), pod("p"))
    rig.scheduler.schedule_next()
    await turns()
    assert rig.scheduler.turn_down(rig.pod("p").metadata.uid, "DefaultPreemption")
    await rig.scheduler.settle()
    assert rig.condition("p").reason == "SchedulerError"
    assert rig.condition("p").message == "waiting on permit for pod: preempted"
    assert rig.where("p") == "backoff"
    assert not rig.state.assumed


class Slow(PreBind):
    """Never gets done with its work."""

    async def pre_bind(self, cycle, node):
        await asyncio.Event().wait()


async def test_a_pod_in_prebind_is_turned_down_and_backs_off():
    rig = Rig(Slow("B"), Bind("X"))
    rig.put(node("n"), pod("p"))
    rig.scheduler.schedule_next()
    await turns()
    uid = rig.pod("p").metadata.uid
    assert rig.scheduler.turn_down(uid, "DefaultPreemption")
    await rig.scheduler.settle()
    assert rig.condition("p").message == 'running PreBind plugin "B": preempted by DefaultPreemption'
    assert rig.where("p") == "backoff"
    assert not rig.state.assumed
    assert not rig.scheduler.turn_down(uid, "DefaultPreemption")


async def test_one_that_gets_done_nevertheless_is_turned_down_by_nobody_in_particular():
    class Stubborn(PreBind):
        async def pre_bind(self, cycle, node):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

    rig = Rig(Stubborn("B"), Bind("X"))
    rig.put(node("n"), pod("p"))
    rig.scheduler.schedule_next()
    await turns()
    assert rig.scheduler.turn_down(rig.pod("p").metadata.uid, "DefaultPreemption")
    assert rig.scheduler.turn_down(rig.pod("p").metadata.uid, "DefaultPreemption")
    await rig.scheduler.settle()
    assert rig.condition("p").message == "preempted by DefaultPreemption"
    assert rig.where("p") == "backoff"


async def test_a_bound_pod_can_not_be_turned_down():
    rig = Rig()
    rig.put(node("n"), pod("p"))
    await rig.step()
    assert not rig.scheduler.turn_down(rig.pod("p").metadata.uid, "DefaultPreemption")


async def test_evictions_can_be_waited_for():
    rig = full_cluster()
    await rig.scheduler.evicted()
    rig.put(urgent())
    rig.scheduler.schedule_next()
    assert (rig.scheduler.evicting, rig.scheduler.binding) == (1, 0)
    await rig.scheduler.evicted()
    assert rig.scheduler.evicting == 0


async def test_stopping_waits_for_evictions():
    rig = full_cluster()
    rig.put(urgent())
    rig.scheduler.schedule_next()
    assert await rig.scheduler.settle(5) == 0
    assert rig.scheduler.evicting == 0
