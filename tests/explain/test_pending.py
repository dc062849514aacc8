"""Waiting pods, grouped by what holds them up and what they have in common."""

from __future__ import annotations

from scheduler.explain.pending import NOT_TRIED, pending_view
from tests.builders import node, pod
from tests.cycle.rig import PROFILE, Rig


async def test_pods_of_one_template_with_one_cause_are_a_group() -> None:
    rig = Rig()
    rig.put(node("n").capacity(cpu="1"))
    for number in range(3):
        rig.put(pod(f"web-{number}").cpu("5").label(app="web").owned_by("ReplicaSet", "web"))
    rig.put(pod("other").cpu("7"))
    await rig.run()
    view = pending_view(rig.scheduler, rig.clock.now)
    assert (view.total, view.queues["unschedulable"]) == (4, 4)
    first, second = view.groups
    assert (first.count, first.plugins, first.owner, first.profile) == (
        3,
        ("NodeResourcesFit",),
        "ReplicaSet/web",
        PROFILE,
    )
    assert first.cause.startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert (first.pods, first.example) == (("default/web-0", "default/web-1", "default/web-2"), "default/web-0")
    assert (first.queues, first.attempts) == ({"unschedulable": 3}, 1)
    assert first.next_try == "1970-01-01T00:21:40.000000Z"  # five minutes after it was turned down
    assert second.pods == ("default/other",)


def test_pods_that_were_not_tried_yet_say_so() -> None:
    rig = Rig()
    rig.put(pod("p"))
    (group,) = pending_view(rig.scheduler, rig.clock.now).groups
    assert (group.cause, group.plugins, group.queues) == (NOT_TRIED, (), {"active": 1})


def test_pods_behind_a_gate_name_it_and_are_not_tried_by_themselves() -> None:
    rig = Rig()
    rig.put(pod("p").gate("example.com/approval"))
    (group,) = pending_view(rig.scheduler, rig.clock.now).groups
    assert (group.plugins, group.queues, group.next_try) == (("SchedulingGates",), {"gated": 1}, "")
    assert "example.com/approval" in group.cause


async def test_a_group_lists_no_more_pods_than_it_is_asked_for() -> None:
    rig = Rig()
    rig.put(*(pod(f"p{number}") for number in range(5)))
    (group,) = pending_view(rig.scheduler, rig.clock.now, names=2).groups
    assert (group.count, len(group.pods)) == (5, 2)
