"""Looking into the queue."""

from __future__ import annotations

from scheduler.framework.status import unresolvable
from tests.queue.waitingroom import Room


def full():
    room = Room()
    room.park("parked")
    room.park("failed")
    room.queue.activate([("default", "failed")])
    entry = room.pop()
    room.reject(entry)
    room.gate.answer = unresolvable("closed")
    room.add("gated")
    room.gate.answer = None
    room.add("fresh")
    return room


def test_every_pod_is_in_one_of_four_places():
    room = full()
    assert room.where() == {"fresh": "active", "failed": "backoff", "parked": "unschedulable", "gated": "gated"}
    assert room.queue.counts() == {"active": 1, "backoff": 1, "unschedulable": 1, "gated": 1}
    assert len(room.queue) == 4


def test_a_pod_is_found_wherever_it_waits():
    room = full()
    for name in room.where():
        assert room.queue.get("default", name).pod.name == name
    assert room.queue.get("default", "unknown") is None


def test_the_place_of_a_pod_is_known_by_name():
    queue = full().queue
    places = {name: queue.place_of(("default", name)) for name in ("fresh", "failed", "parked", "gated", "unknown")}
    assert places == {
        "fresh": "active",
        "failed": "backoff",
        "parked": "unschedulable",
        "gated": "unschedulable",
        "unknown": "",
    }


def test_those_who_turned_waiting_pods_down_are_counted():
    assert full().queue.rejector_counts() == {("A", "default-scheduler"): 1, ("G", "default-scheduler"): 1}


def test_a_pod_in_flight_is_counted_nowhere():
    room = Room()
    room.park("a")
    room.queue.activate([("default", "a")])
    assert room.queue.rejector_counts() == {("A", "default-scheduler"): 1}
    room.pop()
    assert room.queue.rejector_counts() == {}
    assert (len(room.queue), len(room.queue.in_flight)) == (0, 1)


def test_who_ever_turned_a_pod_down_is_remembered():
    room = full()
    assert room.queue.rejectors_seen == {("A", "default-scheduler"), ("G", "default-scheduler")}
    room.queue.activate([("default", "parked")])
    room.pop()
    assert room.queue.rejectors_seen == {("A", "default-scheduler"), ("G", "default-scheduler")}
