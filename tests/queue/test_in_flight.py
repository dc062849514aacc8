"""Events that are kept for pods in flight."""

from __future__ import annotations

from scheduler.framework.events import ActionType, ClusterEvent, EventResource
from scheduler.queue.in_flight import InFlight
from tests.queue.entries import entry

ADD = ClusterEvent(EventResource.NODE, ActionType.ADD)
DELETE = ClusterEvent(EventResource.NODE, ActionType.DELETE)


def labels(flight, waiting):
    return [observed.event.label for observed in flight.since(waiting.pod.uid)]


def test_nothing_is_kept_while_nobody_is_in_flight():
    flight = InFlight()
    flight.observe(ADD, None, None)
    first = entry("a")
    flight.add(first)
    assert labels(flight, first) == []


def test_each_pod_sees_the_events_since_it_was_popped():
    flight, first, second = InFlight(), entry("a"), entry("b")
    flight.add(first)
    flight.observe(ADD, None, "n")
    flight.add(second)
    flight.observe(DELETE, "n", None)
    assert labels(flight, first) == ["NodeAdd", "NodeDelete"]
    assert labels(flight, second) == ["NodeDelete"]


def test_events_that_only_a_finished_pod_needed_are_dropped():
    flight, first, second = InFlight(), entry("a"), entry("b")
    flight.add(first)
    flight.observe(ADD, None, None)
    flight.add(second)
    flight.observe(DELETE, None, None)
    flight.done(first.pod.uid)
    assert flight.counts() == {"NodeDelete": 1}
    assert labels(flight, second) == ["NodeDelete"]
    flight.done(second.pod.uid)
    assert flight.counts() == {}


def test_the_labels_of_events_that_were_kept_are_remembered():
    flight, first = InFlight(), entry("a")
    flight.observe(DELETE, None, None)
    flight.add(first)
    flight.observe(ADD, None, None)
    flight.done(first.pod.uid)
    assert flight.seen == {"NodeAdd"}


def test_events_are_kept_while_an_older_pod_needs_them():
    flight, first, second = InFlight(), entry("a"), entry("b")
    flight.add(first)
    flight.observe(ADD, None, None)
    flight.add(second)
    flight.observe(DELETE, None, None)
    flight.done(second.pod.uid)
    assert labels(flight, first) == ["NodeAdd", "NodeDelete"]


def test_when_one_in_the_middle_is_done_the_others_still_see_theirs():
    flight, first, second, third = InFlight(), entry("a"), entry("b"), entry("c")
    flight.add(first)
    flight.observe(ADD, None, None)
    flight.add(second)
    flight.observe(DELETE, None, None)
    flight.add(third)
    flight.observe(ADD, None, None)
    flight.done(second.pod.uid)
    assert labels(flight, first) == ["NodeAdd", "NodeDelete", "NodeAdd"]
    assert labels(flight, third) == ["NodeAdd"]
    assert flight.counts() == {"NodeAdd": 2, "NodeDelete": 1}


def test_a_pod_is_in_flight_once():
    flight, first = InFlight(), entry("a")
    assert flight.add(first)
    assert not flight.add(entry("a"))
    assert first.pod.uid in flight
    assert len(flight) == 1
    assert flight.pods() == [first]


def test_a_pod_can_be_found_by_its_name():
    flight, first = InFlight(), entry("a")
    flight.add(first)
    assert flight.find(("default", "a")) is first
    assert flight.find(("default", "b")) is None


def test_being_done_twice_does_no_harm():
    flight, first = InFlight(), entry("a")
    flight.add(first)
    flight.done(first.pod.uid)
    flight.done(first.pod.uid)
    assert len(flight) == 0
    assert labels(flight, first) == []
