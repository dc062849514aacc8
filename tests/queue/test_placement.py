"""Pods that PreEnqueue plugins hold back: when the plugins are asked, and where the pods are meanwhile."""

from __future__ import annotations

import pytest

from scheduler.framework.events import ActionType, EventHint, EventResource
from scheduler.framework.status import unresolvable
from scheduler.queue import history, incoming
from tests.builders import pod
from tests.framework.stubs import Gate
from tests.queue.entries import queue_always
from tests.queue.waitingroom import NODE, NODE_ADD, NODE_LABEL, POD_LABEL, Room

CLOSED = unresolvable("closed")
TIMEOUT = incoming.UNSCHEDULABLE_TIMEOUT


def second_gate() -> Gate:
    gate = Gate("H")
    gate.hints = [EventHint(EventResource.NODE, ActionType.UPDATE_NODE_LABEL)]
    return gate


def wildcard(room: Room) -> None:
    room.queue.move_all(TIMEOUT, None, None)


class TestOnTheWayToActive:
    @pytest.mark.parametrize("early", [True, False])
    @pytest.mark.parametrize(
        ("first", "second", "place"),
        [(None, None, "active"), (CLOSED, CLOSED, "gated"), (CLOSED, None, "gated"), (None, CLOSED, "gated")],
        ids=["both let it in", "neither does", "the first does not", "the second does not"],
    )
    def test_all_plugins_must_let_a_new_pod_in(self, early, first, second, place):
        gate = second_gate()
        room = Room(others=(gate,), pop_early=early)
        room.gate.answer, gate.answer = first, second
        room.add("a")
        assert room.where() == {"a": place}

    @pytest.mark.parametrize(("early", "place"), [(True, "active"), (False, "gated")])
    def test_after_backoff_a_pod_is_asked_about_only_if_it_was_not_before(self, early, place):
        room = Room(queue_always, pop_early=early)
        room.park("a")
        room.node_added()
        room.gate.answer = CLOSED
        room.clock.advance(12)
        room.queue.flush_backoff()
        assert room.where() == {"a": place}

    @pytest.mark.parametrize(
        ("in_backoff", "early", "place"),
        [(False, True, "gated"), (False, False, "gated"), (True, True, "active"), (True, False, "gated")],
    )
    def test_so_it_is_when_a_pod_is_activated(self, in_backoff, early, place):
        room = Room(queue_always, pop_early=early)
        entry = room.park("a")
        if in_backoff:
            room.node_added()
        room.gate.answer = CLOSED
        room.queue.activate([entry.name])
        assert room.where() == {"a": place}

    @pytest.mark.parametrize(
        ("early", "answer", "place"),
        [(True, CLOSED, "gated"), (False, CLOSED, "backoff"), (True, None, "backoff"), (False, None, "backoff")],
    )
    def test_before_backoff_a_pod_is_asked_about_only_if_it_may_be_popped_early(self, early, answer, place):
        room = Room(queue_always, pop_early=early)
        room.park("a")
        room.gate.answer = answer
        room.node_added()
        assert room.where() == {"a": place}


class TestEvents:
    @pytest.mark.parametrize(("answer", "place"), [(None, "backoff"), (CLOSED, "gated")])
    def test_the_wildcard_asks_again_about_a_pod_that_was_tried_before(self, answer, place):
        room = Room()
        room.park("a")
        room.gate.answer = CLOSED
        wildcard(room)
        assert room.where() == {"a": "gated"}
        room.gate.answer = answer
        wildcard(room)
        assert room.where() == {"a": place}

    def test_hints_are_not_asked_for_an_event_that_the_gate_does_not_hear_of(self):
        def fail(waiting, old, new):
            raise AssertionError("not to be asked")

        room = Room(fail)
        room.park("a")
        room.gate.answer = CLOSED
        wildcard(room)
        room.gate.answer = None
        room.node_added()
        assert room.where() == {"a": "gated"}

    def test_but_for_one_that_it_does(self):
        room = Room(queue_always)
        room.gate.hints = [EventHint(EventResource.NODE, ActionType.ADD, queue_always)]
        room.park("a")
        room.gate.answer = CLOSED
        wildcard(room)
        room.gate.answer = None
        room.queue.get("default", "a").gating_events = tuple(room.gate.hints)
        room.queue.move_all(NODE_ADD, None, None)
        assert room.where() == {"a": "backoff"}

    @pytest.mark.parametrize("early", [True, False], ids=["all at once", "one by one"])
    def test_those_that_stay_behind_the_gate_come_in_again_and_it_is_in_their_histories(self, early):
        room = Room(queue_always, pop_early=early)
        room.gate.answer = CLOSED
        room.add("a", "b")
        room.clock.advance(1)
        for _ in range(2):
            room.queue.move_all(NODE_LABEL, NODE, NODE)
        assert room.where() == {"a": "gated", "b": "gated"}
        assert room.incoming()["unschedulable", NODE_LABEL.label] == (4, 4)
        for name in ("a", "b"):
            first, *_, last = room.queue.history(room.queue.get("default", name))
            assert first.what == history.ADDED
            assert (last.what, last.event, last.plugin, last.count) == (history.GATED, NODE_LABEL.label, "G", 2)

    def test_of_several_only_those_go_that_the_gate_lets_go(self):
        room = Room(queue_always)
        room.gate.answer = CLOSED
        room.add("a", "b", "c")
        room.gate.pre_enqueue = lambda waiting: None if waiting.name == "b" else CLOSED
        room.queue.move_all(NODE_LABEL, NODE, NODE)
        assert room.where() == {"a": "gated", "b": "active", "c": "gated"}

    def test_that_the_others_stay_is_no_part_of_the_history_of_the_one_that_goes(self):
        room = Room(queue_always)
        room.gate.answer = CLOSED
        room.add("a", "b")
        room.gate.pre_enqueue = lambda waiting: None if waiting.name == "b" else CLOSED
        entries = {name: room.queue.get("default", name) for name in ("a", "b")}
        room.queue.move_all(NODE_LABEL, NODE, NODE)
        last = {name: room.queue.history(entry)[-2:] for name, entry in entries.items()}
        assert [(one.what, one.event) for one in last["a"]] == [
            (history.GATED, "UnscheduledPodAdd"),
            (history.GATED, NODE_LABEL.label),
        ]
        assert [(one.what, one.event) for one in last["b"]] == [
            (history.GATED, "UnscheduledPodAdd"),
            (history.WOKEN, NODE_LABEL.label),
        ]

    def test_where_only_some_are_asked_the_others_have_no_part_in_it(self):
        room = Room(queue_always)
        room.gate.answer = CLOSED
        room.add("a", "b")
        before = len(room.queue.history(room.queue.get("default", "b")))
        room.queue.move_all(NODE_LABEL, NODE, NODE, only=lambda waiting: waiting.name == "a")
        assert room.queue.history(room.queue.get("default", "a"))[-1].event == NODE_LABEL.label
        assert len(room.queue.history(room.queue.get("default", "b"))) == before


class TestUpdates:
    @pytest.mark.parametrize("node", ["", "n"], ids=["", "nominated"])
    @pytest.mark.parametrize(("answer", "place"), [(None, "active"), (CLOSED, "gated")])
    def test_an_update_of_a_pod_that_is_not_there_adds_it(self, node, answer, place):
        room = Room()
        room.gate.answer = answer
        builder = pod("a").nominated(node) if node else pod("a")
        room.queue.update(room.info("a"), room.info("a", builder), [POD_LABEL])
        assert room.where() == {"a": place}
        assert room.nominations.nodes() == ([node] if node else [])

    @pytest.mark.parametrize(("seconds", "place"), [(0, "backoff"), (10, "active")])
    def test_an_update_that_may_help_respects_backoff(self, seconds, place):
        room = Room()
        entry = room.park("a")
        room.clock.advance(seconds)
        room.queue.update(entry.pod, room.info("a", pod("a").label(x="y")), [POD_LABEL])
        assert room.where() == {"a": place}

    @pytest.mark.parametrize(
        ("seconds", "early", "opened"),
        [(10, True, "active"), (0, True, "backoff"), (10, False, "active")],
        ids=["after its backoff", "within its backoff", "without early pops"],
    )
    def test_a_gate_may_close_and_open_again_by_updates(self, seconds, early, opened):
        room = Room(pop_early=early)
        entry = room.park("a")
        room.clock.advance(seconds)

        def update(value: str) -> str:
            old = room.queue.get("default", "a").pod
            room.queue.update(old, room.info("a", pod("a").label(x=value)), [POD_LABEL])
            return room.where()["a"]

        room.gate.answer = CLOSED
        assert update("1") == "gated"
        room.gate.answer = None
        assert update("2") == opened
        assert room.queue.counts()["gated"] == 0
        assert entry.attempts == 1

    def test_the_first_attempt_counts_from_when_the_gate_opens(self):
        room = Room()
        room.gate.answer = CLOSED
        room.add("a")
        room.clock.advance(60)
        room.gate.answer = None
        wildcard(room)
        entry = room.pop()
        assert (entry.attempts, entry.first_attempt) == (1, room.clock.now)


class TestFlush:
    @pytest.mark.parametrize("backing_off", [False, True], ids=["", "backing off"])
    @pytest.mark.parametrize(
        ("before", "after", "flushed"),
        [(None, None, True), (CLOSED, None, True), (None, CLOSED, False), (CLOSED, CLOSED, False)],
        ids=["never gated", "no longer gated", "gated now", "gated still"],
    )
    def test_a_pod_is_flushed_unless_it_is_gated_now(self, before, after, flushed, backing_off):
        seconds = 1000.0 if backing_off else 0.0
        room = Room(initial_backoff=seconds, maximum_backoff=seconds)
        entry = room.park("a")
        room.gate.answer = before
        if before is not None:
            wildcard(room)
            assert room.where() == {"a": "gated"}
        room.gate.answer = after
        room.clock.advance(301)
        room.queue.flush_unschedulable()
        place = "gated" if after is not None else "backoff" if backing_off else "active"
        assert (room.where(), entry.flushed) == ({"a": place}, flushed)

    def test_a_gated_pod_is_flushed_no_more_often_than_others(self):
        room = Room()
        room.gate.answer = CLOSED
        room.add("a")
        asked = []
        for seconds in (301, 240, 61):
            room.clock.advance(seconds)
            room.queue.flush_unschedulable()
            asked.append(len(room.gate.diary))
        assert asked == [2, 2, 3]


class TestCounts:
    def room(self):
        gate = second_gate()
        return Room(others=(gate,)), gate

    def counts(self, room) -> tuple[int, int]:
        found = room.queue.rejector_counts()
        return tuple(found.get((name, "default-scheduler"), 0) for name in "GH")

    def test_a_pod_is_counted_once_for_a_gate_that_holds_it_again(self):
        room, _ = self.room()
        room.gate.answer = CLOSED
        room.add("a")
        wildcard(room)
        assert self.counts(room) == (1, 0)

    def test_and_for_each_gate_that_held_it_since_it_was_tried(self):
        room, gate = self.room()
        room.gate.answer = CLOSED
        room.add("a")
        room.gate.answer, gate.answer = None, CLOSED
        wildcard(room)
        assert self.counts(room) == (1, 1)

    @pytest.mark.parametrize("end", ["popped", "deleted"])
    @pytest.mark.parametrize("gates", [1, 2])
    def test_until_it_is_tried_or_goes(self, gates, end):
        room, gate = self.room()
        room.gate.answer = CLOSED
        room.add("a")
        if gates == 2:
            room.gate.answer, gate.answer = None, CLOSED
            wildcard(room)
        if end == "deleted":
            room.queue.delete(room.info("a"))
        else:
            room.gate.answer = gate.answer = None
            wildcard(room)
            room.pop()
        assert self.counts(room) == (0, 0)

    def test_a_pod_that_no_gate_held_is_counted_for_none(self):
        room, _ = self.room()
        room.add("a")
        assert self.counts(room) == (0, 0)
        room.queue.delete(room.info("a"))
        assert self.counts(room) == (0, 0)

    def test_of_waiting_pods_change_as_they_go(self):
        room, _ = self.room()
        room.add("active", "more")
        room.gate.answer = CLOSED
        room.add("gated", "held")
        room.gate.answer = None
        expected = {"active": 2, "backoff": 0, "unschedulable": 0, "gated": 2}
        assert room.queue.counts() == expected
        for name in ("more", "held"):
            room.queue.delete(room.info(name))
        assert room.queue.counts() == {**expected, "active": 1, "gated": 1}
        wildcard(room)
        assert room.queue.counts() == {**expected, "active": 2, "gated": 0}
