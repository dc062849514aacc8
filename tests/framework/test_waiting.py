"""Pods that Permit plugins make wait. The loop's clock is virtual: waiting costs no time."""

from __future__ import annotations

import asyncio

import pytest

from scheduler.framework.status import Code, error, unschedulable
from scheduler.framework.waiting import LONGEST_WAIT, WaitingPod, WaitingPods
from tests.builders import info, pod

pytestmark = pytest.mark.looptime

POD = info(pod("a"))


async def test_it_goes_on_once_all_plugins_let_it():
    waiting = WaitingPod(POD, {"A": 10.0, "B": 20.0})
    waiting.allow("A")
    assert waiting.pending_plugins == ["B"]
    waiting.allow("B")
    assert await waiting.wait() is None


async def test_one_refusal_is_enough():
    waiting = WaitingPod(POD, {"A": 10.0, "B": 20.0})
    waiting.allow("A")
    assert waiting.reject("B", "no quota")
    status = await waiting.wait()
    assert status == unschedulable("no quota").by("B")


async def test_what_is_decided_first_stands():
    waiting = WaitingPod(POD, {"A": 10.0})
    waiting.allow("A")
    assert not waiting.reject("A", "too late")
    assert await waiting.wait() is None


@pytest.mark.parametrize(
    ("seconds", "text"), [(10.0, "10s"), (90.0, "1m30s"), (0.25, "250ms"), (0.0, "0s"), (3600.0, "15m0s")]
)
async def test_a_plugin_that_waited_long_enough_turns_it_down(seconds, text):
    status = await WaitingPod(POD, {"A": seconds}).wait()
    assert status.code is Code.UNSCHEDULABLE
    assert status.plugin == "A"
    assert status.message == f"rejected due to timeout after waiting {text} at plugin A"
    assert asyncio.get_running_loop().time() == min(seconds, LONGEST_WAIT)


async def test_the_shortest_wait_decides():
    status = await WaitingPod(POD, {"A": 30.0, "B": 3.0}).wait()
    assert status.plugin == "B"


async def test_the_time_runs_from_the_beginning_not_from_when_somebody_waits():
    waiting = WaitingPod(POD, {"A": 5.0})
    await asyncio.sleep(4.0)
    await waiting.wait()
    assert asyncio.get_running_loop().time() == 5.0


async def test_whoever_waits_can_be_cancelled():
    waiting = WaitingPod(POD, {"A": 5.0})
    task = asyncio.create_task(waiting.wait())
    await asyncio.sleep(1.0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert waiting.reject("A", "still undecided")


async def test_all_waiting_pods_can_be_found():
    pods = WaitingPods()
    waiting = WaitingPod(POD, {"A": 5.0})
    pods.add(waiting)
    assert list(pods) == [waiting]
    assert pods.get(POD.uid) is waiting
    pods.remove(POD.uid)
    assert len(pods) == 0
    assert pods.get(POD.uid) is None
    waiting.stop()


async def test_a_pod_that_is_going_away_is_turned_down_by_nobody_in_particular():
    pods = WaitingPods()
    assert not pods.reject(POD.uid)
    waiting = WaitingPod(POD, {"A": 5.0})
    pods.add(waiting)
    assert pods.reject(POD.uid)
    assert await waiting.wait() == unschedulable("removed")


async def test_a_pod_that_was_let_go_is_not_turned_down_any_more():
    pods = WaitingPods()
    waiting = WaitingPod(POD, {"A": 5.0})
    pods.add(waiting)
    waiting.allow("A")
    assert not pods.reject(POD.uid)


async def test_it_can_be_turned_down_for_another_pod_which_is_no_refusal():
    waiting = WaitingPod(POD, {"A": 10.0})
    assert waiting.preempt("P", "preempted")
    assert not waiting.preempt("P", "again")
    assert await waiting.wait() == error("waiting on permit for pod: preempted").by("P")
