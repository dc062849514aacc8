"""What comes into which queue by which event, as kube-scheduler counts it: pods always, entities when they move."""

from __future__ import annotations

from scheduler.framework.status import unresolvable
from tests.queue.entries import queue_always
from tests.queue.waitingroom import Room

ONE = (1, 1)
POD_ONLY = (1, 0)


def test_a_new_pod():
    room = Room()
    room.add("a")
    assert room.incoming() == {("active", "UnscheduledPodAdd"): ONE}


def test_a_new_pod_that_is_gated():
    room = Room()
    room.gate.answer = unresolvable("closed")
    room.add("a")
    assert room.incoming() == {("unschedulable", "UnscheduledPodAdd"): ONE}


def test_a_rejected_pod_goes_where_its_strategy_says_and_is_no_new_entity():
    room = Room()
    room.park("a")
    assert room.incoming()["unschedulable", "ScheduleAttemptFailure"] == POD_ONLY


def test_a_failed_pod():
    room = Room()
    room.add("a")
    room.reject(room.pop())
    assert room.incoming()["backoff", "ScheduleAttemptFailure"] == POD_ONLY


def test_an_event_that_lets_a_pod_back_off():
    room = Room(queue_always)
    room.park("a")
    room.node_added()
    assert room.incoming()["backoff", "NodeAdd"] == POD_ONLY


def test_an_event_that_makes_a_pod_active_since_its_backoff_is_over():
    room = Room(queue_always)
    room.park("a")
    room.clock.advance(60)
    room.node_added()
    assert room.incoming()["active", "NodeAdd"] == ONE


def test_the_end_of_backoff():
    room = Room(queue_always)
    room.park("a")
    room.node_added()
    room.clock.advance(60)
    room.queue.flush_backoff()
    assert room.incoming()["active", "BackoffComplete"] == ONE


def test_an_early_pop():
    room = Room(queue_always)
    room.park("a")
    room.node_added()
    room.pop()
    assert room.incoming()["active", "PopFromBackoffQ"] == ONE


def test_activation():
    room = Room()
    entry = room.park("a")
    room.queue.activate([entry.name])
    assert room.incoming()["active", "ForceActivate"] == ONE


def test_the_flush():
    room = Room()
    room.park("a")
    room.clock.advance(301)
    room.queue.flush_unschedulable()
    assert room.incoming()["active", "UnschedulableTimeout"] == ONE


def test_a_gated_pod_that_is_asked_again_in_vain_came_in_only_once():
    room = Room()
    room.gate.answer = unresolvable("closed")
    room.add("a")
    room.queue.activate([("default", "a")])
    assert room.incoming() == {("unschedulable", "UnscheduledPodAdd"): ONE}
