"""SchedulingGates."""

from __future__ import annotations

from scheduler.framework.events import QueueingHint
from scheduler.framework.status import unresolvable
from scheduler.plugins.scheduling_gates import SchedulingGates
from tests.builders import info, pod
from tests.plugins.harness import events


def test_a_pod_without_gates_is_let_in():
    assert SchedulingGates().pre_enqueue(info(pod("a"))) is None


def test_a_pod_with_gates_waits_and_they_are_named_in_order():
    waiting = info(pod("a").gate("example.com/b", "example.com/a"))
    expected = unresolvable("waiting for scheduling gates: [example.com/b example.com/a]")
    assert SchedulingGates().pre_enqueue(waiting) == expected


def test_only_the_removal_of_the_last_gate_helps():
    plugin = SchedulingGates()
    registered = events(plugin.events_to_register())
    assert registered == {"TargetPod UPDATE_POD_SCHEDULING_GATES_ELIMINATED": "after_gates_eliminated"}
    old, new = info(pod("a").gate("x")), info(pod("a"))
    assert plugin.after_gates_eliminated(old, old, new) is QueueingHint.QUEUE
