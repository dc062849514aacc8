"""PreEnqueue plugins and the pods that they hold back."""

from __future__ import annotations

import pytest

from scheduler.framework.status import error, unresolvable
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from scheduler.queue import gates as module
from scheduler.queue.gates import Gates
from scheduler.queue.parked import ParkedGroup
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


class Doorkeeper(Gate):
    """A gate that knows whom it lets go by now."""

    open_for: frozenset[str] | None = frozenset()

    def let_go(self, held):
        self.diary.append(f"{self.name} {' '.join(held)}")
        return None if self.open_for is None else held & self.open_for


class TestLettingGo:
    """Of pods that one and the same plugin holds back, with an event that may help them."""

    def held(self, *names):
        diary = []
        self.first, self.second = Gate("A", None, diary), Doorkeeper("B", CLOSED, diary)
        self.gates, self.metrics = gates_of(self.first, self.second)
        members = ParkedGroup()
        for name in names:
            waiting = members[f"uid-{name}"] = entry(name)
            self.gates.ask(waiting)
        diary.clear()
        self.diary = diary
        return members

    def let_go(self, members):
        found = self.gates.let_go(members)
        return found if found is None else [entry.pod.name for entry in found]

    def runs(self):
        return self.metrics.framework_extension_point_duration.labels("PreEnqueue", "Success", PROFILE).count

    def test_only_that_plugin_is_asked_and_but_once(self):
        members = self.held("a", "b")
        assert self.let_go(members) == []
        assert self.diary == ["B uid-a uid-b"]

    @pytest.mark.parametrize("free", [("b",), ("c", "a"), ("a", "b", "c")])
    def test_those_that_it_lets_go_are_left_to_be_asked_for_in_full_in_the_order_in_which_they_came(self, free):
        members = self.held("a", "b", "c")
        self.second.open_for = frozenset(f"uid-{name}" for name in free)
        assert self.let_go(members) == sorted(free)
        assert {entry.gating_plugin for entry in members.values()} == {"B"}

    def test_a_plugin_that_has_no_such_answer_is_to_be_asked_for_each(self):
        members = self.held("a", "b")
        self.second.open_for = None
        assert self.let_go(members) is None

    def test_each_that_stays_counts_as_a_run(self, monkeypatch):
        monkeypatch.setattr(module.random, "random", lambda: 0.0)
        members = self.held("a", "b", "c")
        series = self.metrics.plugin_execution_duration.labels("B", "PreEnqueue", "UnschedulableAndUnresolvable")
        self.second.open_for = frozenset({"uid-b"})
        before, timed = self.runs(), series.count
        self.let_go(members)
        assert (self.runs(), series.count) == (before + 2, timed + 2)

    def test_a_plugin_that_the_profile_no_longer_has_holds_nobody_back(self):
        members = ParkedGroup()
        members["uid-a"] = entry("a", gating_plugin="Gone")
        gates, _ = gates_of(Gate("A"))
        assert gates.let_go(members) is None
