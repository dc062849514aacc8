"""The scheduling queue: what becomes of a pod from its coming to its going."""

from __future__ import annotations

import asyncio

import pytest

from scheduler.framework.events import ActionType, ClusterEvent, EventResource, QueueingHint
from scheduler.framework.status import unresolvable
from tests.builders import pod
from tests.queue.entries import queue_always, queue_never
from tests.queue.waitingroom import NODE, NODE_ADD, NODE_LABEL, POD_LABEL, Room

CLOSED = unresolvable("closed")
POD_TOLERATION = ClusterEvent(EventResource.TARGET_POD, ActionType.UPDATE_POD_TOLERATION)


class TestOrder:
    def test_the_highest_priority_comes_first_then_the_longest_wait(self):
        room = Room()
        for name, priority in (("low", 0), ("first", 5), ("second", 5)):
            room.queue.add(room.info(name, pod(name).priority(priority)))
            room.clock.advance(1)
        assert [room.pop().pod.name for _ in range(3)] == ["first", "second", "low"]
        assert room.pop() is None

    def test_every_pop_is_an_attempt(self):
        room = Room()
        entry = room.park("a")
        room.queue.activate([entry.name])
        assert room.pop().attempts == 2

    def test_a_pod_that_is_in_flight_already_is_discarded(self):
        room = Room()
        room.add("a")
        room.pop()
        room.add("a", "b")
        assert room.pop().pod.name == "b"


class TestWaiting:
    async def test_whoever_waits_is_woken_by_a_pod(self):
        room = Room()
        waiter = asyncio.create_task(room.queue.wait())
        await asyncio.sleep(0)
        assert not waiter.done()
        room.add("a")
        await waiter
        assert room.queue.ready

    async def test_whoever_waits_can_be_woken_without_one(self):
        room = Room()
        waiter = asyncio.create_task(room.queue.wait())
        await asyncio.sleep(0)
        room.queue.wake()
        await waiter
        assert not room.queue.ready

    async def test_where_a_pod_is_ready_nobody_waits(self):
        room = Room()
        room.add("a")
        await room.queue.wait()

    async def test_a_pod_in_backoff_wakes_if_it_may_be_popped_early(self):
        room = Room()
        entry = room.park("a")
        waiter = asyncio.create_task(room.queue.wait())
        await asyncio.sleep(0)
        room.node_added()
        await waiter
        assert room.pop() is entry


class TestRejection:
    def test_a_rejected_pod_waits_for_an_event_that_may_help(self):
        room = Room(queue_always)
        entry = room.park("a")
        assert room.where() == {"a": "unschedulable"}
        assert (entry.rejections, entry.errors) == (1, 0)
        room.clock.advance(60)
        room.node_added()
        assert room.where() == {"a": "active"}
        assert entry.woken_by == "NodeAdd"

    def test_within_its_backoff_it_goes_to_the_backoff_queue(self):
        room = Room(queue_always)
        room.park("a")
        room.node_added()
        assert room.where() == {"a": "backoff"}

    def test_an_event_that_does_not_help_leaves_it(self):
        room = Room(queue_never)
        room.park("a")
        room.clock.advance(60)
        room.node_added()
        assert room.where() == {"a": "unschedulable"}

    def test_a_hint_is_run_once_for_pods_alike(self):
        asked = []

        def hint(waiting, old, new):
            asked.append(waiting.name)
            return QueueingHint.QUEUE

        room = Room(hint)
        for name in "abc":
            room.park(name)
        room.clock.advance(60)
        room.node_added()
        assert len(asked) == 1
        assert set(room.where().values()) == {"active"}

    def test_an_event_may_be_for_some_pods_only(self):
        room = Room(queue_always)
        room.park("a")
        room.park("b")
        room.clock.advance(60)
        room.node_added(only=lambda waiting: waiting.name == "b")
        assert room.where() == {"a": "unschedulable", "b": "active"}

    def test_a_failed_attempt_is_tried_again_after_its_backoff_without_any_event(self):
        room = Room()
        room.add("a")
        entry = room.pop()
        room.reject(entry)
        assert room.where() == {"a": "backoff"}
        assert (entry.rejections, entry.errors) == (0, 1)

    def test_failures_in_a_row_are_forgotten_after_a_rejection(self):
        room = Room()
        room.add("a")
        entry = room.pop()
        room.reject(entry)
        room.queue.activate([entry.name])
        room.pop()
        room.reject(entry, "A")
        assert (entry.rejections, entry.errors) == (1, 0)

    def test_a_pod_comes_back_once(self):
        room = Room()
        entry = room.park("a")
        with pytest.raises(ValueError, match="Pod default/a is already present in the unschedulable queue"):
            room.queue.add_unschedulable(entry)


class TestInFlightEvents:
    def flying(self, hint=queue_always):
        room = Room(hint)
        room.add("a")
        return room, room.pop()

    def test_an_event_during_the_attempt_is_replayed(self):
        room, entry = self.flying()
        room.node_added()
        room.reject(entry, "A")
        assert room.where() == {"a": "backoff"}

    def test_one_that_does_not_help_is_not(self):
        room, entry = self.flying(queue_never)
        room.node_added()
        room.reject(entry, "A")
        assert room.where() == {"a": "unschedulable"}

    def test_events_that_nobody_hears_of_are_not_kept(self):
        room, _ = self.flying()
        room.queue.move_all(ClusterEvent(EventResource.CSI_NODE, ActionType.ADD), None, None)
        room.queue.move_all(NODE_ADD, None, NODE)
        assert room.queue.in_flight.counts() == {"NodeAdd": 1}

    def test_a_pending_plugin_that_is_satisfied_lets_the_pod_go_at_once(self):
        room, entry = self.flying()
        room.node_added()
        room.reject(entry, pending=("A",))
        assert room.where() == {"a": "active"}

    def test_an_update_of_the_pod_itself_is_replayed(self):
        room, entry = self.flying()
        room.queue.update(entry.pod, room.info("a", pod("a").label(x="y")), [POD_LABEL])
        assert room.where() == {}
        room.reject(entry, "A")
        assert room.where() == {"a": "backoff"}

    def test_a_pod_that_is_done_is_not_in_flight(self):
        room, entry = self.flying()
        room.queue.done(entry.pod.uid)
        assert len(room.queue.in_flight) == 0

    def test_a_pod_that_was_done_before_it_came_back_is_tried_again(self):
        room, entry = self.flying(queue_never)
        room.queue.done(entry.pod.uid)
        room.reject(entry, "A")
        assert room.where() == {"a": "backoff"}


class TestBackoff:
    def test_when_it_is_over_the_pod_is_active(self):
        room = Room(queue_always)
        room.park("a")
        room.node_added()
        room.clock.advance(1.9)
        room.queue.flush_backoff()
        assert room.where() == {"a": "backoff"}
        room.clock.advance(0.1)
        room.queue.flush_backoff()
        assert room.where() == {"a": "active"}

    def test_with_nothing_else_to_do_a_rejected_pod_is_popped_early(self):
        room = Room(queue_always)
        entry = room.park("a")
        room.node_added()
        assert room.pop() is entry

    def test_a_failed_one_never_is(self):
        room = Room()
        room.add("a")
        room.reject(room.pop())
        assert not room.queue.ready
        assert room.pop() is None

    def test_without_the_gate_nothing_is_popped_early(self):
        room = Room(queue_always, pop_early=False)
        room.park("a")
        room.node_added()
        assert room.pop() is None

    def test_backoff_grows_with_every_rejection(self):
        room = Room(queue_always)
        entry = room.park("a")
        waited = []
        for _ in range(5):
            room.node_added()
            start = room.clock.now
            while room.where() != {"a": "active"}:
                room.clock.advance(1)
                room.queue.flush_backoff()
            waited.append(room.clock.now - start)
            room.pop()
            room.reject(entry, "A")
        # One second more than the backoff: the second in which it ends still counts.
        assert waited == [2, 3, 5, 9, 11]


class TestFlush:
    def test_after_five_minutes_a_pod_is_tried_without_reason(self):
        room = Room()
        entry = room.park("a")
        room.clock.advance(300)
        room.queue.flush_unschedulable()
        assert room.where() == {"a": "unschedulable"}
        room.clock.advance(0.5)
        room.queue.flush_unschedulable()
        assert room.where() == {"a": "active"}
        assert (entry.flushed, entry.woken_by) == (True, "UnschedulableTimeout")

    def test_coming_back_it_is_as_before(self):
        room = Room()
        entry = room.park("a")
        room.clock.advance(301)
        room.queue.flush_unschedulable()
        room.pop()
        room.reject(entry, "A")
        assert not entry.flushed

    def test_a_gated_pod_is_asked_again_and_not_taken_for_flushed(self):
        room = Room()
        room.gate.answer = CLOSED
        room.add("a")
        room.clock.advance(301)
        room.queue.flush_unschedulable()
        assert room.where() == {"a": "gated"}
        assert not room.queue.get("default", "a").flushed
        assert room.gate.diary == ["G a", "G a"]

    def test_a_gated_pod_is_not_asked_again_at_every_look(self):
        room = Room()
        room.gate.answer = CLOSED
        room.add("a")
        for _ in range(3):
            room.clock.advance(301)
            room.queue.flush_unschedulable()
            room.queue.flush_unschedulable()
        assert len(room.gate.diary) == 4

    def test_pods_in_flight_hear_of_it_only_if_there_was_anything_to_flush(self):
        room = Room()
        room.add("a")
        room.pop()
        room.queue.flush_unschedulable()
        assert room.queue.in_flight.counts() == {}


class TestGating:
    def gated(self):
        room = Room(queue_always)
        room.gate.answer = CLOSED
        room.add("a")
        return room

    def test_a_gated_pod_is_held_back(self):
        room = self.gated()
        assert room.where() == {"a": "gated"}
        assert room.pop() is None

    def test_only_events_of_the_gate_let_it_be_asked_again(self):
        room = self.gated()
        room.node_added()
        assert room.gate.diary == ["G a"]
        room.queue.move_all(NODE_LABEL, NODE, NODE)
        assert room.gate.diary == ["G a", "G a"]
        assert room.where() == {"a": "gated"}

    def test_once_the_gate_opens_it_is_active(self):
        room = self.gated()
        room.gate.answer = None
        room.queue.move_all(NODE_LABEL, NODE, NODE)
        assert room.where() == {"a": "active"}
        assert room.pop().first_attempt == room.clock.now

    def test_gates_are_asked_before_backoff_and_not_again_after_it(self):
        room = Room(queue_always)
        room.park("a")
        room.gate.diary.clear()
        room.node_added()
        assert room.gate.diary == ["G a"]
        room.clock.advance(5)
        room.queue.flush_backoff()
        assert (room.where(), room.gate.diary) == ({"a": "active"}, ["G a"])

    def test_without_early_popping_they_are_asked_after_backoff(self):
        room = Room(queue_always, pop_early=False)
        room.park("a")
        room.gate.diary.clear()
        room.node_added()
        assert room.gate.diary == []
        room.clock.advance(5)
        room.queue.flush_backoff()
        assert room.gate.diary == ["G a"]

    def test_a_gate_that_closed_meanwhile_holds_a_rejected_pod_back(self):
        room = Room(queue_always)
        room.park("a")
        room.gate.answer = CLOSED
        room.node_added()
        assert room.where() == {"a": "gated"}


class TestUpdate:
    def update(self, room, name, builder, *events):
        old = room.queue.get("default", name).pod
        room.queue.update(old, room.info(name, builder), events)

    def test_a_waiting_pod_is_renewed_where_it_is(self):
        room = Room()
        room.add("a")
        self.update(room, "a", pod("a").priority(9), POD_LABEL)
        assert room.queue.get("default", "a").pod.priority == 9
        assert room.where() == {"a": "active"}

    def test_an_active_pod_takes_its_new_place(self):
        room = Room()
        room.add("a", "b")
        self.update(room, "b", pod("b").priority(9))
        assert room.pop().pod.name == "b"

    def test_a_change_that_may_help_lets_an_unschedulable_pod_be_tried(self):
        room = Room()
        room.park("a")
        room.clock.advance(60)
        self.update(room, "a", pod("a").label(x="y"), POD_LABEL)
        assert room.where() == {"a": "active"}

    def test_another_change_leaves_it(self):
        room = Room()
        room.park("a")
        room.clock.advance(60)
        self.update(room, "a", pod("a").label(x="y"), POD_TOLERATION)
        assert room.where() == {"a": "unschedulable"}

    def test_a_pod_in_backoff_stays_there(self):
        room = Room(queue_always)
        room.park("a")
        room.node_added()
        self.update(room, "a", pod("a").label(x="y"), POD_LABEL)
        assert room.where() == {"a": "backoff"}

    def test_a_pod_that_is_not_there_is_added(self):
        room = Room()
        room.queue.update(room.info("a"), room.info("a"), [])
        assert room.where() == {"a": "active"}


class TestNominations:
    def test_a_new_pod_holds_its_nominated_node(self):
        room = Room()
        room.queue.add(room.info("a", pod("a").nominated("n")))
        assert [held.name for held in room.nominations.on_node("n")] == ["a"]

    def test_a_gated_one_does_as_well(self):
        room = Room()
        room.gate.answer = CLOSED
        room.queue.add(room.info("a", pod("a").nominated("n")))
        assert len(room.nominations) == 1

    def test_a_nomination_that_only_this_process_knows_of_survives_an_update(self):
        room = Room()
        entry = room.park("a")
        room.nominations.add(entry.pod, "n")
        room.queue.update(entry.pod, room.info("a", pod("a").label(x="y")), [])
        assert room.nominations.node_of(entry.pod.uid) == "n"
        assert room.nominations.on_node("n")[0].shape.labels == {"x": "y"}

    def test_one_that_the_api_server_took_back_does_not(self):
        room = Room()
        room.queue.add(room.info("a", pod("a").nominated("n")))
        old = room.queue.get("default", "a").pod
        room.queue.update(old, room.info("a"), [])
        assert len(room.nominations) == 0

    def test_a_deleted_pod_holds_none(self):
        room = Room()
        room.queue.add(room.info("a", pod("a").nominated("n")))
        room.queue.delete(room.info("a"))
        assert len(room.nominations) == 0


class TestDeletion:
    def test_a_pod_is_gone_from_wherever_it_waited(self):
        room = Room(queue_always)
        room.park("backoff")
        room.node_added()
        room.park("parked")
        room.add("active")
        for name in ("backoff", "parked", "active"):
            room.queue.delete(room.info(name))
        assert room.where() == {}


class TestActivation:
    def test_an_unschedulable_pod_is_active_at_once(self):
        room = Room()
        entry = room.park("a")
        room.queue.activate([entry.name])
        assert (room.where(), entry.woken_by) == ({"a": "active"}, "ForceActivate")

    def test_a_pod_in_backoff_is_as_well(self):
        room = Room(queue_always)
        entry = room.park("a")
        room.node_added()
        room.queue.activate([entry.name])
        assert room.where() == {"a": "active"}

    def test_a_gated_pod_stays_gated(self):
        room = Room()
        room.gate.answer = CLOSED
        room.add("a")
        room.queue.activate([("default", "a")])
        assert room.where() == {"a": "gated"}

    def test_a_pod_in_flight_is_tried_again_when_it_comes_back(self):
        room = Room(queue_never)
        room.add("a", "b")
        first, second = room.pop(), room.pop()
        room.queue.activate([first.name])
        room.reject(first, "A")
        room.reject(second, "A")
        assert room.where() == {"a": "backoff", "b": "unschedulable"}

    def test_an_unknown_pod_is_ignored(self):
        room = Room()
        room.queue.activate([("default", "a")])
        assert room.where() == {}
