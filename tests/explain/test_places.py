"""Where pods are on their way through the scheduler."""

from __future__ import annotations

from scheduler.explain.places import next_try, place_of, queue_counts
from tests.builders import node, pod
from tests.cycle.rig import Rig


async def test_pods_on_their_way_to_a_node_are_counted_as_binding() -> None:
    rig = Rig()
    rig.put(node("n"), pod("p"))
    assert queue_counts(rig.scheduler)["active"] == 1
    assert rig.scheduler.schedule_next()
    counts = queue_counts(rig.scheduler)
    assert (counts["active"], counts["binding"], counts["waitingOnPermit"]) == (0, 1, 0)
    await rig.scheduler.settle()
    assert queue_counts(rig.scheduler)["binding"] == 0


async def test_a_pod_is_in_the_queue_that_it_waits_in() -> None:
    rig = Rig()
    rig.put(pod("gated").gate("g"), pod("active"))
    entries = {name: rig.queue.get("default", name) for name in ("gated", "active")}
    places = {name: place_of(rig.scheduler, entry) for name, entry in entries.items() if entry is not None}
    assert places == {"gated": "gated", "active": "active"}


async def test_an_active_pod_is_tried_now_and_a_gated_one_never() -> None:
    rig = Rig()
    rig.put(pod("gated").gate("g"), pod("active"))
    tries = {}
    for name in ("gated", "active"):
        entry = rig.queue.get("default", name)
        assert entry is not None
        tries[name] = next_try(rig.scheduler, entry)
    assert tries == {"gated": None, "active": rig.clock.now}
