"""A pod, and what is known of its way through the scheduler."""

from __future__ import annotations

from scheduler.explain.pod_view import pod_view
from tests.builders import node, pod
from tests.cycle.rig import Rig


def test_of_a_stranger_nothing_is_known() -> None:
    view = pod_view(Rig().scheduler, None, "default", "stranger")
    assert (view.state, view.pod, view.history) == ("Unknown", "default/stranger", ())


async def test_a_placed_pod_has_a_node() -> None:
    rig = Rig()
    rig.put(node("n"), pod("p").priority(7))
    await rig.run()
    view = pod_view(rig.scheduler, None, "default", "p")
    assert (view.state, view.node, view.priority, view.queue) == ("Scheduled", "n", 7, "")


async def test_a_pod_that_was_turned_down_tells_what_it_waits_for_and_until_when() -> None:
    rig = Rig()
    rig.put(node("n").capacity(cpu="1"), pod("p").cpu("5"))
    await rig.run()
    view = pod_view(rig.scheduler, None, "default", "p")
    assert (view.state, view.queue, view.waits_for) == ("Pending", "unschedulable", ("NodeResourcesFit",))
    assert (view.added, view.attempts) == ("1970-01-01T00:16:40.000000Z", 1)
    assert view.next_try == "1970-01-01T00:21:40.000000Z"
    assert [event.what for event in view.history] == ["Added", "Popped", "Failed"]


async def test_the_next_try_is_at_the_end_of_a_backoff() -> None:
    rig = Rig()
    rig.put(node("n").capacity(cpu="1"), pod("p").cpu("5"))
    await rig.run()
    rig.queue._pop_early = False
    rig.put(node("m").capacity(cpu="8"))
    view = pod_view(rig.scheduler, None, "default", "p")
    assert (view.queue, view.next_try) == ("backoff", "1970-01-01T00:16:41.000000Z")
    assert [(event.what, event.event, event.object) for event in view.history[3:]] == [("Woken", "NodeAdd", "m")]


def test_a_gated_pod_says_so() -> None:
    rig = Rig()
    rig.put(pod("p").gate("example.com/approval"))
    view = pod_view(rig.scheduler, None, "default", "p")
    assert (view.queue, view.waits_for, view.next_try) == ("gated", ("SchedulingGates",), "")
    assert view.latest is not None
    assert view.latest.summary.result == "Gated"
    assert "example.com/approval" in view.latest.summary.message
