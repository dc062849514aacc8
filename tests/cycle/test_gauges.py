"""What is read from a scheduler at each scrape."""

from __future__ import annotations

import asyncio

from scheduler.cycle.gauges import wire
from scheduler.framework.status import Code, Status, unresolvable, unschedulable
from tests.builders import node, pod
from tests.cycle.rig import PROFILE, Rig
from tests.framework.stubs import Filter, Gate, Permit, Score, StubExtender

NO = unschedulable("no")


def samples(rig, name):
    """The samples of a metric by the values of its labels."""
    for family in rig.metrics.registry.collect():
        if family.name == name:
            return {tuple(sample.labels.values()): sample.value for sample in family.samples}
    raise AssertionError(name)


def wired(*plugins):
    rig = Rig(*plugins)
    wire(rig.scheduler)
    rig.put(node("n"))
    return rig


def test_an_idle_scheduler_has_all_queues_at_zero():
    rig = wired(Filter("A"))
    assert samples(rig, "scheduler_pending_pods") == {
        (queue,): 0 for queue in ("active", "backoff", "gated", "incomplete", "pending", "unschedulable")
    }
    assert samples(rig, "scheduler_queued_entities") == {
        (queue, "pod"): 0 for queue in ("active", "backoff", "gated", "unschedulable")
    }
    assert samples(rig, "scheduler_goroutines") == {("binding",): 0}
    assert samples(rig, "scheduler_inflight_events") == {("PodPopped",): 0}


async def test_waiting_pods_are_counted_by_queue_and_by_who_turned_them_down():
    gate = Gate("G")
    rig = wired(Filter("A", {"n": NO}), gate)
    rig.put(pod("parked"))
    await rig.step()
    gate.answer = unresolvable("closed")
    rig.put(pod("gated"))
    gate.answer = None
    rig.put(pod("active"))
    counts = samples(rig, "scheduler_pending_pods")
    assert {key[0]: value for key, value in counts.items() if value} == {"active": 1, "gated": 1, "unschedulable": 1}
    assert samples(rig, "scheduler_unschedulable_pods") == {("A", PROFILE): 1, ("G", PROFILE): 1}
    rig.delete(pod("parked"))
    assert samples(rig, "scheduler_unschedulable_pods") == {("A", PROFILE): 0, ("G", PROFILE): 1}


async def test_who_turned_a_pod_down_between_two_scrapes_shows_as_zero():
    answers = {"n": NO}
    rig = wired(Filter("A", answers))
    rig.put(pod("p"))
    await rig.step()
    answers.clear()
    rig.queue.activate([("default", "p")])
    await rig.step()
    assert samples(rig, "scheduler_unschedulable_pods") == {("A", PROFILE): 0}


async def test_extenders_that_were_asked_for_scores_show_as_idle():
    rig = Rig(Score("S"), extenders=[StubExtender(prioritize=[])])
    wire(rig.scheduler)
    rig.put(node("n"), pod("p"))
    await rig.step()
    assert samples(rig, "scheduler_goroutines") == {("binding",): 0}
    rig.put(node("m"), pod("q"))
    await rig.step()
    assert samples(rig, "scheduler_goroutines") == {("binding",): 0, ("prioritizing_extender",): 0}


async def test_pods_on_their_way_are_counted_with_the_events_kept_for_them():
    rig = wired(Filter("A"), Permit("P", (Status(Code.WAIT), 600.0)))
    rig.put(pod("p"))
    rig.scheduler.schedule_next()
    await asyncio.sleep(0)
    rig.put(node("m"))
    assert samples(rig, "scheduler_goroutines") == {("binding",): 1}
    assert samples(rig, "scheduler_inflight_events") == {("NodeAdd",): 1, ("PodPopped",): 1}
    assert samples(rig, "scheduler_cache_size") == {("assumed_pods",): 1, ("nodes",): 2, ("pods",): 1}
    rig.scheduler.waiting.get(rig.pod("p").metadata.uid).allow("P")
    await rig.scheduler.settle()
    assert samples(rig, "scheduler_goroutines") == {("binding",): 0}
    assert samples(rig, "scheduler_inflight_events") == {("NodeAdd",): 0, ("PodPopped",): 0}
    assert samples(rig, "scheduler_cache_size") == {("assumed_pods",): 0, ("nodes",): 2, ("pods",): 1}
