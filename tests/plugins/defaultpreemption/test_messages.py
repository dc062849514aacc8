"""The words of the plugin."""

from __future__ import annotations

from scheduler.framework.status import unresolvable, unschedulable
from scheduler.plugins.defaultpreemption import messages

CPU = unschedulable("Insufficient cpu")
BOTH = unschedulable("Insufficient cpu", "Insufficient memory")


def test_all_reasons_are_counted_and_sorted_as_texts():
    told = messages.nothing_helps(25, {CPU: 2, BOTH: 10, unresolvable(messages.NO_VICTIMS): 3})
    assert told == (
        "0/25 nodes are available: 10 Insufficient memory, 10 Preemption is not helpful for scheduling, "
        "12 Insufficient cpu, 3 No preemption victims found for incoming pod."
    )


def test_reasons_of_no_node_are_left_out():
    assert messages.nothing_helps(1, {CPU: 1}) == "0/1 nodes are available: 1 Insufficient cpu."


def test_an_event_says_whether_the_victim_was_only_in_memory():
    assert messages.event_note("uid", "n", in_memory=False) == "Preempted by pod uid on node n"
    assert messages.event_note("uid", "n", in_memory=True) == (
        "Preempted by pod uid on node n (in kube-scheduler memory)."
    )


def test_the_condition_names_the_scheduler():
    assert messages.condition_message("berth") == "berth: preempting to accommodate a higher priority pod"
