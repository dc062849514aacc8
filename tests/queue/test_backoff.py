"""How long pods wait before they are tried again."""

from __future__ import annotations

import math

import pytest

from scheduler.queue.backoff import BackoffQueue
from tests.builders import pod
from tests.cycle.rig import Clock
from tests.queue.entries import entry


def make(clock=None, *, initial=1.0, maximum=10.0, windows=True):
    return BackoffQueue(
        initial=initial,
        maximum=maximum,
        clock=clock or Clock(),
        sort_key=lambda waiting: waiting.timestamp,
        windows=windows,
    )


def rejected(name, timestamp=1000.0, times=1, **more):
    return entry(name, timestamp, rejections=times, plugins=["A"], **more)


def failed(name, timestamp=1000.0, times=1):
    return entry(name, timestamp, errors=times)


class TestDuration:
    @pytest.mark.parametrize(
        ("count", "seconds"), [(0, 0), (1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (6, 10), (5000, 10)]
    )
    def test_it_doubles_up_to_the_maximum(self, count, seconds):
        assert make().duration(count) == seconds

    def test_it_may_begin_with_more_than_a_second(self):
        assert make(initial=3.0, maximum=1000.0).duration(5) == 48.0

    def test_the_maximum_holds_for_the_first_as_well(self):
        assert make(initial=5.0, maximum=3.0).duration(1) == 3.0


class TestEnd:
    def test_it_is_rounded_down_to_a_whole_second(self):
        assert make().until(rejected("a", 1000.7)) == 1001.0

    def test_without_windows_it_is_exact(self):
        assert make(windows=False).until(rejected("a", 1000.25)) == 1001.25

    def test_failures_in_a_row_count_instead_of_rejections(self):
        waiting = rejected("a", times=4)
        waiting.errors = 2
        assert make().until(waiting) == 1002.0

    @pytest.mark.parametrize("waiting", [rejected("a", 1000.0, 16), failed("a", 1000.0, 16)])
    def test_many_of_either_wait_for_the_maximum(self, waiting):
        assert make(maximum=32.0).until(waiting) == 1032.0

    def test_it_is_worked_out_once(self):
        waiting = rejected("a")
        waiting.backoff_until = 1000.5
        assert make().until(waiting) == 1000.5

    def test_a_pod_that_was_never_tried_has_none(self):
        assert make().until(entry("a", 1000.0)) == -math.inf

    def test_a_maximum_of_zero_turns_it_off(self):
        assert make(maximum=0.0).until(rejected("a")) == -math.inf


class TestBackingOff:
    @pytest.mark.parametrize(("now", "still"), [(1000.9, True), (1001.0, True), (1001.9, True), (1002.0, False)])
    def test_in_the_window_of_its_end_a_pod_still_waits(self, now, still):
        assert make(Clock(now)).is_backing_off(rejected("a", 1000.5)) is still

    @pytest.mark.parametrize(("now", "still"), [(1001.4, True), (1001.5, True), (1001.6, False)])
    def test_without_windows_it_waits_to_its_very_end(self, now, still):
        assert make(Clock(now), windows=False).is_backing_off(rejected("a", 1000.5)) is still


class TestOrder:
    def test_finished_pods_come_in_the_order_of_their_ends(self):
        clock = Clock()
        queue = make(clock)
        for waiting in (rejected("late", 1001.0), failed("failed", 1000.0), rejected("early", 1000.0)):
            queue.push(waiting)
        assert queue.pop_finished() == []
        clock.now = 1002.0
        assert [w.pod.name for w in queue.pop_finished()] == ["early", "failed"]
        clock.now = 1003.0
        assert [w.pod.name for w in queue.pop_finished()] == ["late"]

    def test_within_a_window_pods_are_ordered_as_when_active(self):
        queue = make()
        queue.push(rejected("second", 1000.8))
        queue.push(rejected("first", 1000.2))
        assert queue.pop_early().pod.name == "first"

    @pytest.mark.parametrize("windows", [True, False])
    @pytest.mark.parametrize(
        ("there", "finished"),
        [
            ("", ""),
            ("old new", "old"),
            ("old-failed new-failed", "old-failed"),
            ("old new old-failed new-failed", "old old-failed"),
            ("old old-failed", "old old-failed"),
            ("new new-failed", ""),
        ],
        ids=["nothing", "rejected", "failed", "both", "all of both", "none of both"],
    )
    def test_only_those_whose_backoff_is_over_are_taken_out(self, windows, there, finished):
        pods = {
            "old": rejected("old", 998.0),
            "new": rejected("new", 1001.0),
            "old-failed": failed("old-failed", 998.0),
            "new-failed": failed("new-failed", 1001.0),
        }
        queue = make(Clock(1000.0), windows=windows)
        for name in there.split():
            queue.push(pods[name])
        assert [waiting.pod.name for waiting in queue.pop_finished()] == finished.split()
        assert len(queue) == len(there.split()) - len(finished.split())

    @pytest.mark.parametrize(
        ("windows", "order"),
        [(True, ["p5", "p4", "p2", "p3"]), (False, ["p5", "p3", "p4", "p2"])],
        ids=["within a window by priority", "without windows by end"],
    )
    def test_priority_counts_within_a_window_only(self, windows, order):
        queue = BackoffQueue(
            initial=1.0,
            maximum=10.0,
            clock=Clock(1000.0),
            sort_key=lambda waiting: (-waiting.pod.priority, waiting.timestamp),
            windows=windows,
        )
        times = [(1, 1000.0), (1, 999.0), (2, 998.001), (1, 998.0), (2, 998.0), (1, 997.0)]
        for number, (priority, timestamp) in enumerate(times):
            name = f"p{number}"
            queue.push(rejected(name, timestamp, pod=pod(name).priority(priority)))
        assert [waiting.pod.name for waiting in queue.pop_finished()] == order

    def test_failed_pods_are_never_taken_early(self):
        queue = make()
        queue.push(failed("a"))
        assert (queue.early, len(queue), queue.pop_early()) == (0, 1, None)


def test_pods_can_be_found_and_taken_out():
    queue = make()
    queue.push(rejected("a"))
    queue.push(failed("b"))
    assert {waiting.pod.name for waiting in queue} == {"a", "b"}
    assert queue.get(("default", "b")).pod.name == "b"
    assert queue.remove(("default", "b")).pod.name == "b"
    assert queue.remove(("default", "b")) is None
    assert queue.get(("default", "a")).pod.name == "a"
    assert len(queue) == 1
