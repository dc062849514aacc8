"""What happened to a pod in the queue."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.framework.events import QueueingHint
from scheduler.framework.status import unresolvable
from scheduler.queue.history import LIMIT, HistoryEntry, KeptEvents, QueueHistory, described
from tests.builders import info, node, pod
from tests.queue.waitingroom import NODE, NODE_ADD, NODE_LABEL, POD_LABEL, Room


def told(room: Room, entry: Any) -> list[tuple[str, ...]]:
    """What, event, plugin and queue of each entry, without the empty ones at the end."""
    found = []
    for one in room.queue.history(entry):
        fields = [one.what, one.event, one.plugin, one.queue]
        while not fields[-1]:
            fields.pop()
        found.append((*fields, *([f"x{one.count}"] if one.count > 1 else [])))
    return found


class TestOfAPod:
    def test_it_is_added_tried_and_turned_down(self) -> None:
        room = Room()
        assert told(room, room.park("p", "A")) == [("Added", "UnscheduledPodAdd"), ("Popped",), ("Failed", "", "A")]

    def test_an_event_wakes_it_by_a_plugins_hint(self) -> None:
        room = Room()
        entry = room.park("p", "A")
        room.queue.move_all(NODE_ADD, None, NODE)
        assert told(room, entry)[3:] == [("Woken", "NodeAdd", "A", "backoff")]
        assert room.queue.history(entry)[-1].object == "n"

    def test_a_hint_that_says_no_is_counted(self) -> None:
        room = Room(lambda *_: QueueingHint.SKIP)
        entry = room.park("p", "A")
        for _ in range(3):
            room.clock.advance(1)
            room.queue.move_all(NODE_ADD, None, NODE)
        assert told(room, entry)[3:] == [("Kept", "NodeAdd", "A", "x3")]
        kept = room.queue.history(entry)[-1]
        assert (kept.time, kept.until) == (1001.0, 1003.0)

    def test_an_event_that_its_plugins_did_not_ask_for_is_no_part_of_it(self) -> None:
        room = Room()
        entry = room.park("p", "A")
        room.queue.move_all(NODE_LABEL, NODE, NODE)
        assert len(told(room, entry)) == 3

    def test_what_it_slept_through_stays_when_it_is_woken(self) -> None:
        answers = [QueueingHint.SKIP, QueueingHint.SKIP, QueueingHint.QUEUE]
        room = Room(lambda *_: answers.pop(0))
        entry = room.park("p", "A")
        for _ in range(3):
            room.queue.move_all(NODE_ADD, None, NODE)
        assert [what for what, *_ in told(room, entry)[3:]] == ["Kept", "Woken"]

    def test_what_others_slept_through_before_it_came_is_not_its_own(self) -> None:
        room = Room(lambda *_: QueueingHint.SKIP)
        first = room.park("p", "A")
        room.queue.move_all(NODE_ADD, None, NODE)
        second = room.park("q", "A")
        room.queue.move_all(NODE_ADD, None, NODE)
        assert told(room, first)[-1][-1] == "x2"
        assert told(room, second)[-1] == ("Kept", "NodeAdd", "A")

    def test_the_end_of_its_backoff_lets_it_be_tried(self) -> None:
        room = Room()
        entry = room.park("p", "A")
        room.queue.move_all(NODE_ADD, None, NODE)
        room.clock.advance(60)
        room.queue.flush_backoff()
        assert told(room, entry)[-1] == ("BackoffOver", "BackoffComplete", "", "active")

    def test_it_is_flushed_when_it_waited_too_long(self) -> None:
        room = Room()
        entry = room.park("p", "A")
        room.clock.advance(301)
        room.queue.flush_unschedulable()
        assert told(room, entry)[-1] == ("Flushed", "UnschedulableTimeout", "", "active")

    def test_a_gate_holds_it_back(self) -> None:
        room = Room()
        room.gate.answer = unresolvable("not yet")
        room.add("p")
        entry = room.queue.get("default", "p")
        assert told(room, entry) == [
            ("Added", "UnscheduledPodAdd"),
            ("Gated", "UnscheduledPodAdd", "G", "gated"),
        ]

    def test_its_own_change_wakes_it(self) -> None:
        room = Room()
        entry = room.park("p", "A")
        room.queue.update(entry.pod, room.info("p"), [POD_LABEL])
        assert told(room, entry)[-1][:3] == ("Woken", "TargetPodUpdatePodLabel", "A")

    def test_somebody_activates_it(self) -> None:
        room = Room()
        entry = room.park("p", "A")
        room.queue.activate([("default", "p")])
        assert told(room, entry)[-1] == ("Activated", "ForceActivate", "", "active")

    def test_an_event_during_its_attempt_wakes_it_afterwards(self) -> None:
        room = Room()
        room.add("p")
        entry = room.pop()
        room.queue.move_all(NODE_ADD, None, NODE)
        room.reject(entry, "A")
        assert told(room, entry)[2:] == [("Failed", "", "A"), ("Woken", "NodeAdd", "A")]

    def test_it_goes(self) -> None:
        room = Room()
        entry = room.park("p", "A")
        room.queue.delete(entry.pod)
        assert told(room, entry)[-1] == ("Deleted",)

    def test_nothing_is_kept_where_nobody_wants_it(self) -> None:
        room = Room(histories=False)
        entry = room.park("p", "A")
        room.queue.move_all(NODE_ADD, None, NODE)
        assert room.queue.history(entry) == []


class TestBounds:
    def test_equal_entries_in_a_row_are_one(self) -> None:
        history = QueueHistory()
        for now in range(5):
            history.note("Popped", float(now))
        assert history.entries == [HistoryEntry("Popped", 0.0, count=5, until=4.0)]

    def test_so_they_are_when_some_come_from_elsewhere(self) -> None:
        history = QueueHistory()
        history.note("Kept", 0.0, event="e", about="one")
        history.extend([HistoryEntry("Kept", 1.0, "e", "two", count=2, until=2.0), HistoryEntry("Kept", 3.0, "f")])
        assert history.entries == [
            HistoryEntry("Kept", 0.0, "e", "two", count=3, until=2.0),
            HistoryEntry("Kept", 3.0, "f"),
        ]

    def test_the_first_entry_and_the_newest_stay(self) -> None:
        history = QueueHistory()
        for now in range(3 * LIMIT):
            history.note(f"what {now}", float(now))
        assert len(history.entries) == LIMIT
        assert [history.entries[0].what, history.entries[-1].what] == ["what 0", f"what {3 * LIMIT - 1}"]

    def test_so_they_do_when_many_come_at_once(self) -> None:
        history = QueueHistory()
        history.note("Added", 0.0)
        history.extend([HistoryEntry("Kept", float(now)) for now in range(2 * LIMIT)])
        assert [len(history.entries), history.entries[0].what] == [LIMIT, "Added"]
        assert history.entries[-1].time == 2 * LIMIT - 1

    def test_a_group_keeps_the_newest_runs(self) -> None:
        kept = KeptEvents()
        for number in range(3 * LIMIT):
            kept.note("Kept", float(number), event=f"event {number}", plugin="A")
        found = kept.since(0, 0.0)
        assert [len(found), found[-1].event] == [LIMIT, f"event {3 * LIMIT - 1}"]


@pytest.mark.parametrize(
    ("item", "name"),
    [
        (node("n1").build(), "n1"),
        (info(pod("p").namespace("ns")), "ns/p"),
        (pod("p").namespace("ns").build(), "ns/p"),
        (None, ""),
    ],
)
def test_an_object_is_told_by_its_name(item: object, name: str) -> None:
    assert described(item) == name
