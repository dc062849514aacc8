"""What becomes of pods that are tried again and again, among others that wait."""

from __future__ import annotations

import pytest

from scheduler.framework.events import ActionType, ClusterEvent, EventResource
from scheduler.framework.interface import QueueSortPlugin
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from scheduler.queue import incoming
from scheduler.queue.queue import SchedulingQueue
from tests.builders import info, pod
from tests.cycle.rig import PROFILE, profile_of
from tests.framework.stubs import Filter
from tests.queue.entries import CLUSTER, on_node_add, queue_always, queue_never
from tests.queue.waitingroom import NODE, NODE_ADD, NODE_LABEL, POD_LABEL, Room

TIMEOUT = incoming.UNSCHEDULABLE_TIMEOUT
UNHEARD = ClusterEvent(EventResource.CSI_NODE, ActionType.ADD)


def plugin(name: str, hint) -> Filter:
    """A filter that hears of new nodes."""
    built = Filter(name)
    built.hints = [on_node_add(hint)]
    return built


def wildcard(room: Room) -> None:
    room.queue.move_all(TIMEOUT, None, None)


def names(entries) -> list[str]:
    return [entry.pod.name for entry in entries]


class TestInFlight:
    def test_pods_that_come_back_after_an_event_that_helps_all_back_off(self):
        room = Room()
        room.add(*"abcd")
        entries = [room.pop() for _ in range(3)]
        wildcard(room)
        last = room.pop()
        for entry in entries:
            room.reject(entry, "A")
        room.reject(last, "A")
        assert room.where() == {"a": "backoff", "b": "backoff", "c": "backoff", "d": "unschedulable"}

    def test_events_before_the_attempt_do_not_count(self):
        room = Room(queue_never)
        room.add("a")
        wildcard(room)
        entry = room.pop()
        room.node_added()
        room.reject(entry, "A")
        assert room.where() == {"a": "unschedulable"}

    def test_a_failed_pod_backs_off_whatever_happened_and_others_keep_their_events(self):
        room = Room(queue_always)
        room.add("a", "b")
        room.queue.move_all(UNHEARD, None, None)
        first = room.pop()
        room.node_added()
        room.pop()
        room.node_added()
        room.reject(first)
        assert room.where() == {"a": "backoff"}
        assert room.queue.in_flight.counts() == {"NodeAdd": 1}

    @pytest.mark.parametrize(
        ("turned_down", "pending", "place"),
        [(("B", "C"), ("A",), "active"), (("A", "C"), (), "backoff"), (("C",), (), "unschedulable")],
        ids=["a pending one says queue", "one of two says queue", "only one that says skip"],
    )
    def test_plugins_are_heard_when_the_pod_comes_back(self, turned_down, pending, place):
        room = Room(queue_always, others=(plugin("B", queue_always), plugin("C", queue_never)))
        room.add("a")
        entry = room.pop()
        room.node_added()
        room.reject(entry, *turned_down, pending=pending)
        assert room.where() == {"a": place}

    def test_a_pending_plugin_hears_of_an_event_while_another_pod_was_in_flight_too(self):
        room = Room(queue_always, others=(plugin("B", queue_always), plugin("C", queue_never)))
        room.add("a", "b")
        first = room.pop()
        room.queue.move_all(NODE_LABEL, NODE, NODE)
        second = room.pop()
        room.node_added()
        room.reject(first)
        room.reject(second, "B", "C", pending=("A",))
        assert room.where() == {"a": "backoff", "b": "active"}

    def test_who_turned_a_pod_down_is_known_until_it_is_tried_again(self):
        room = Room(queue_always, others=(plugin("B", queue_never),))
        room.add("a")
        room.reject(room.pop(), "B", pending=("A",))
        room.node_added()
        entry = room.pop()
        assert (entry.unschedulable_plugins, entry.pending_plugins) == ({"B"}, {"A"})

    def test_a_pod_popped_twice_leaves_nothing_behind(self):
        room = Room()
        room.add("a", "b")
        first, second = room.pop(), room.pop()
        room.node_added()
        room.add("a", "c")
        third = room.pop()
        assert (third.pod.name, len(room.queue)) == ("c", 0)
        for entry in (first, second, third):
            room.reject(entry)
        assert set(room.where().values()) == {"backoff"}
        assert (len(room.queue.in_flight), room.queue.in_flight.counts()) == (0, {})


class TestAmongOthers:
    def test_a_pod_that_was_just_tried_comes_after_those_that_were_not(self):
        room = Room()
        room.add(*"abcde")
        room.clock.advance(0.001)
        tried = room.pop()
        room.reject(tried, "A")
        room.clock.advance(12)
        wildcard(room)
        assert names(room.pop() for _ in range(5)) == ["b", "c", "d", "e", "a"]

    def test_one_that_failed_twice_does_not_hold_up_a_newer_one(self):
        room = Room()
        room.add("old")
        room.reject(room.pop(), "A")
        room.clock.advance(3)
        wildcard(room)
        entry = room.pop()
        room.add("new")
        room.clock.advance(0.1)
        room.reject(entry, "A")
        room.clock.advance(3)
        wildcard(room)
        assert room.pop().pod.name == "new"

    def test_a_high_priority_in_backoff_lets_a_lower_one_pass(self):
        room = Room()
        for name, priority in (("mid", 5), ("high", 9)):
            room.queue.add(room.info(name, pod(name).priority(priority)))
        room.reject(room.pop(), "A")
        wildcard(room)
        assert room.where() == {"high": "backoff", "mid": "active"}
        assert room.pop().pod.name == "mid"

    def test_of_two_that_waited_too_long_the_higher_priority_comes_first(self):
        room = Room()
        for name, priority in (("high", 9), ("mid", 5)):
            room.queue.add(room.info(name, pod(name).priority(priority)))
        high, mid = room.pop(), room.pop()
        room.reject(high, "A")
        room.reject(mid, "A")
        room.clock.advance(301)
        room.queue.flush_unschedulable()
        assert names(room.pop() for _ in range(2)) == ["high", "mid"]

    @pytest.mark.parametrize("way", ["added", "unschedulable", "backoff"])
    def test_those_of_one_priority_come_by_their_time_however_they_became_active(self, way):
        room = Room(queue_always)
        if way == "added":
            room.add("first")
            room.clock.advance(1)
            room.add("second")
        else:
            room.add("first", "second")
            first, second = room.pop(), room.pop()
            room.reject(first, *(("A",) if way == "unschedulable" else ()))
            room.clock.advance(1)
            room.reject(second, *(("A",) if way == "unschedulable" else ()))
            room.clock.advance(60)
            room.queue.flush_backoff()
            room.node_added()
        assert names(room.pop() for _ in range(2)) == ["first", "second"]

    def test_the_profiles_queue_sort_decides(self):
        class LowestFirst(QueueSortPlugin):
            name = "LowestFirst"

            def sort_key(self, waiting, enqueued):
                return waiting.priority

        room = Room()
        profile = profile_of(Filter("A"), LowestFirst())
        profile.queue_sort = (profile.plugins["LowestFirst"],)
        queue = SchedulingQueue({PROFILE: profile}, room.nominations, SchedulerMetrics(), clock=room.clock)
        for name, priority in (("high", 9), ("low", 1)):
            queue.add(room.info(name, pod(name).priority(priority)))
        assert [queue.pop().pod.name for _ in range(2)] == ["low", "high"]

    def test_a_nominated_pod_of_higher_priority_is_next_and_the_rejected_one_waits(self):
        room = Room()
        room.add("a")
        entry = room.pop()
        room.queue.add(room.info("high", pod("high").priority(9).nominated("n")))
        room.reject(entry, "A")
        assert room.pop().pod.name == "high"
        assert room.where() == {"a": "unschedulable"}
        assert [held.name for held in room.nominations.on_node("n")] == ["high"]


class TestMoveAll:
    def test_each_pod_goes_by_who_turned_it_down(self):
        room = Room(queue_always, others=(plugin("B", None),))
        for name in ("helped", "failed", "not-helped"):
            room.add(name)
        helped, failed, other = (room.pop() for _ in range(3))
        room.reject(helped, "A")
        room.reject(failed)
        room.reject(other, "Z")
        room.node_added()
        assert room.where() == {"helped": "backoff", "failed": "backoff", "not-helped": "unschedulable"}
        room.clock.advance(12)
        room.queue.flush_backoff()
        assert room.where() == {"helped": "active", "failed": "active", "not-helped": "unschedulable"}

    def test_a_pending_plugin_that_says_queue_makes_a_parked_pod_active_within_its_backoff(self):
        room = Room(queue_always)
        room.add("a")
        room.reject(room.pop(), pending=("A",))
        room.node_added()
        assert room.where() == {"a": "active"}

    @pytest.mark.parametrize(("seconds", "place"), [(0, "backoff"), (1, "backoff"), (2, "active")])
    def test_a_pod_is_active_a_second_after_its_backoff(self, seconds, place):
        room = Room(queue_always)
        room.park("a")
        room.clock.advance(seconds)
        room.node_added()
        assert room.where() == {"a": place}

    def test_hints_are_not_asked_about_the_wildcard(self):
        def fail(waiting, old, new):
            raise AssertionError("not to be asked")

        room = Room(fail)
        room.park("a")
        wildcard(room)
        assert room.where() == {"a": "backoff"}

    @pytest.mark.parametrize(
        ("chosen", "expected"),
        [
            (None, {0, 1, 2, 3, 4}),
            (lambda waiting: waiting.priority >= 2, {2, 3, 4}),
            (lambda waiting: waiting.priority % 2 == 0 and waiting.priority >= 2, {2, 4}),
            (lambda waiting: waiting.priority < 0, set()),
        ],
        ids=["all", "some", "fewer", "none"],
    )
    def test_an_event_may_be_for_chosen_pods(self, chosen, expected):
        room = Room()
        for priority in range(5):
            room.queue.add(room.info(f"p{priority}", pod(f"p{priority}").priority(priority)))
            room.reject(room.pop(), "A")
        room.queue.move_all(TIMEOUT, None, None, only=chosen)
        assert {int(name[1:]) for name, place in room.where().items() if place == "backoff"} == expected

    def test_pods_are_not_chosen_for_an_event_that_nobody_hears_of(self):
        def fail(waiting):
            raise AssertionError("not to be asked")

        room = Room()
        room.park("a")
        room.queue.move_all(UNHEARD, None, None, only=fail)
        assert room.where() == {"a": "unschedulable"}


class TestCounts:
    @pytest.mark.parametrize("early", [True, False], ids=["windows", "exact"])
    def test_backoff_of_attempt_after_attempt(self, early):
        room = Room(pop_early=early)
        room.add("a")
        waited = []
        for attempt in range(1, 8):
            entry = room.pop()
            assert entry.attempts == attempt
            start = room.clock.now
            room.reject(entry, "A")
            wildcard(room)
            assert room.where() == {"a": "backoff"}
            waited.append(entry.backoff_until - start)
            room.clock.advance(waited[-1] + 1)
            room.queue.flush_backoff()
            assert room.where() == {"a": "active"}
        assert waited == [1, 2, 4, 8, 10, 10, 10]

    @pytest.mark.parametrize("updated", [False, True])
    def test_the_first_attempt_is_remembered_over_the_second(self, updated):
        room = Room()
        start = room.clock.now
        room.add("a")
        room.reject(room.pop(), "A")
        room.clock.advance(301)
        room.queue.flush_unschedulable()
        if updated:
            old = room.queue.get("default", "a").pod
            room.queue.update(old, room.info("a", pod("a").label(x="y")), [POD_LABEL])
        entry = room.pop()
        assert (entry.attempts, entry.first_attempt) == (2, start)

    def test_once_is_enough(self):
        room = Room()
        room.add("a")
        entry = room.pop()
        assert (entry.attempts, entry.first_attempt) == (1, room.clock.now)


class TestDeletion:
    @pytest.mark.parametrize(
        ("prepare", "gone", "left", "rejectors"),
        [
            (lambda room: room.add("a", "b"), "a", {"b": "active"}, {}),
            (lambda room: (room.add("a"), room.reject(room.pop()), room.add("b")), "a", {"b": "active"}, {}),
            (
                lambda room: (room.park("a", "A"), room.park("b", "B")),
                "a",
                {"b": "unschedulable"},
                {("B", PROFILE): 1},
            ),
            (lambda room: room.park("a", "A"), "b", {"a": "unschedulable"}, {("A", PROFILE): 1}),
        ],
        ids=["active", "backoff", "unschedulable", "not there"],
    )
    def test_a_pod_that_goes_is_counted_no_longer(self, prepare, gone, left, rejectors):
        room = Room()
        prepare(room)
        room.queue.delete(room.info(gone))
        assert (room.where(), room.queue.rejector_counts()) == (left, rejectors)


class TestActivation:
    def test_an_active_pod_stays_active(self):
        room = Room()
        room.add("a")
        room.queue.activate([("default", "a")])
        assert room.queue.counts()["active"] == 1

    def test_one_in_flight_hears_of_it_and_others_do_not(self):
        room = Room()
        room.add("a", "b")
        room.pop()
        room.queue.activate([("default", "b")])
        assert room.queue.in_flight.counts() == {}
        room.queue.activate([("default", "a")])
        assert room.queue.in_flight.counts() == {"ForceActivate": 1}


def test_only_the_plugins_of_the_pods_own_profile_are_asked():
    room = Room()
    profiles = {
        PROFILE: profile_of(plugin("A", queue_always)),
        "other": profile_of(plugin("A", queue_never), name="other"),
    }
    queue = SchedulingQueue(profiles, room.nominations, SchedulerMetrics(), clock=room.clock)
    for name, profile in (("mine", PROFILE), ("theirs", "other")):
        queue.add(info(pod(name).scheduler(profile), CLUSTER))
        entry = queue.pop()
        entry.unschedulable_plugins = frozenset({"A"})
        queue.add_unschedulable(entry)
    queue.move_all(NODE_ADD, None, NODE)
    places = {name: queue.place_of(("default", name)) for name in ("mine", "theirs")}
    assert places == {"mine": "backoff", "theirs": "unschedulable"}
