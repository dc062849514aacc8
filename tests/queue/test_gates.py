"""PreEnqueue plugins and the pods that they hold back."""

from __future__ import annotations

import pytest

from scheduler.framework.status import error, unresolvable
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from scheduler.queue import gates as module
from scheduler.queue.gates import Gates
from tests.cycle.rig import PROFILE, profile_of
from tests.framework.stubs import Gate
from tests.queue.entries import entry, on_node_add

CLOSED = unresolvable("closed")


def gates_of(*plugins):
    metrics = SchedulerMetrics()
    return Gates({PROFILE: profile_of(*plugins)}, metrics), metrics


def test_a_pod_passes_when_no_plugin_objects():
    gates, _ = gates_of(Gate("A"), Gate("B"))
    waiting = entry("a")
    gates.ask(waiting)
    assert (waiting.gated, waiting.rejectors) == (False, frozenset())


@pytest.mark.parametrize("status", [CLOSED, error("boom")])
def test_a_pod_is_held_back_by_the_first_that_objects(status):
    diary = []
    first, second = Gate("A", status, diary), Gate("B", None, diary)
    first.hints = [on_node_add()]
    gates, _ = gates_of(first, second)
    waiting = entry("a", plugins=["Old"])
    gates.ask(waiting)
    assert diary == ["A a"]
    assert waiting.gating_plugin == "A"
    assert waiting.gating_events == (on_node_add(),)
    assert waiting.unschedulable_plugins == {"A", "Old"}
    assert waiting.last_message == status.message


def test_whoever_held_the_pod_back_before_is_asked_first():
    diary = []
    gates, _ = gates_of(Gate("A", None, diary), Gate("B", CLOSED, diary))
    waiting = entry("a", gating_plugin="B")
    gates.ask(waiting)
    assert diary == ["B a"]


def test_a_pod_that_is_let_go_keeps_its_rejectors_until_it_is_tried():
    plugin = Gate("A", CLOSED)
    gates, _ = gates_of(plugin)
    waiting = entry("a")
    gates.ask(waiting)
    plugin.answer = None
    gates.ask(waiting)
    assert (waiting.gated, waiting.gating_events, waiting.rejectors) == (False, (), {"A"})


def test_the_point_is_timed_as_a_success_whatever_comes_of_it():
    gates, metrics = gates_of(Gate("A", CLOSED))
    gates.ask(entry("a"))
    assert metrics.framework_extension_point_duration.labels("PreEnqueue", "Success", PROFILE).count == 1


@pytest.mark.parametrize(("chance", "count"), [(0.05, 1), (0.5, 0)])
def test_plugins_are_timed_in_a_tenth_of_the_calls(monkeypatch, chance, count):
    monkeypatch.setattr(module.random, "random", lambda: chance)
    gates, metrics = gates_of(Gate("A", CLOSED))
    gates.ask(entry("a"))
    series = metrics.plugin_execution_duration.labels("A", "PreEnqueue", "UnschedulableAndUnresolvable")
    assert series.count == count


class TestAskingAgain:
    """Of pods that one and the same plugin holds back, with an event that may help them."""

    def held(self, *names):
        diary = []
        self.first, self.second = Gate("A", None, diary), Gate("B", CLOSED, diary)
        self.gates, self.metrics = gates_of(self.first, self.second)
        entries = [entry(name) for name in names]
        for waiting in entries:
            self.gates.ask(waiting)
        diary.clear()
        self.diary = diary
        return entries

    def runs(self):
        return self.metrics.framework_extension_point_duration.labels("PreEnqueue", "Success", PROFILE).count

    def test_only_that_plugin_is_asked(self):
        entries = self.held("a", "b")
        assert self.gates.ask_again(entries) == (entries, [])
        assert self.diary == ["B a", "B b"]

    def test_those_that_it_lets_go_are_left_to_be_asked_for_in_full(self):
        a, b = self.held("a", "b")
        self.second.pre_enqueue = lambda pod: CLOSED if pod.name == "a" else None
        assert self.gates.ask_again([a, b]) == ([a], [b])
        assert (a.gating_plugin, b.gating_plugin) == ("B", "B")

    def test_each_run_counts(self):
        entries = self.held("a", "b", "c")
        before = self.runs()
        self.gates.ask_again(entries)
        assert self.runs() == before + 3

    def test_another_message_is_noted(self):
        (waiting,) = self.held("a")
        self.second.answer = unresolvable("still closed")
        self.gates.ask_again([waiting])
        assert waiting.last_message == "still closed"

    def test_a_plugin_that_the_profile_no_longer_has_holds_nobody_back(self):
        waiting = entry("a", gating_plugin="Gone")
        gates, _ = gates_of(Gate("A"))
        assert gates.ask_again([waiting]) == ([], [waiting])
