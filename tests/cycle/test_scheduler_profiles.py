"""A profile that is changed while the scheduler runs: what becomes of the pods that are on their way."""

from __future__ import annotations

import asyncio

import pytest

from scheduler.framework.events import ActionType, EventHint, EventResource, QueueingHint
from scheduler.framework.status import Code, Status, unresolvable, unschedulable
from scheduler.plugins.default_binder import DefaultBinder
from scheduler.plugins.priority_sort import PrioritySort
from tests.builders import node, pod
from tests.cycle.rig import PROFILE, Rig, profile_of
from tests.framework.stubs import Filter, Gate, Permit, PreBind, Reserve, Score

NO = unschedulable("no")
CLOSED = unresolvable("closed")
WAIT = Status(Code.WAIT)


class OtherSort(PrioritySort):
    """Sorts alike, but is another plugin."""


def change(rig, *plugins, **more):
    """Give the profile these plugins instead, and whatever sorted and bound before."""
    former = rig.scheduler.profiles[PROFILE]
    kept = [] if any(isinstance(plugin, PrioritySort) for plugin in plugins) else former.queue_sort
    rig.scheduler.change_profile(profile_of(*plugins, *former.bind, *kept, **more))


async def turns(count=5):
    for _ in range(count):
        await asyncio.sleep(0)


class TestDecisions:
    async def test_the_next_pod_is_placed_by_the_new_weights(self):
        one, two = Score("S", {"a": 5}), Score("T", {"b": 3})
        rig = Rig(one, two)
        rig.put(node("a"), node("b"), pod("before"))
        await rig.step()
        change(rig, one, two, weights={"T": 2})
        rig.put(pod("after"))
        await rig.step()
        assert (rig.node_of("before"), rig.node_of("after")) == ("a", "b")

    async def test_verdicts_are_those_of_the_new_plugins_also_for_a_shape_seen_before(self):
        rig = Rig(Filter("A", {"a": NO}))
        rig.put(node("a"), node("b"), pod("before"))
        await rig.step()
        change(rig, Filter("A", {"b": NO}))
        rig.put(pod("after"))
        await rig.step()
        assert (rig.node_of("before"), rig.node_of("after")) == ("b", "a")

    async def test_series_of_new_plugins_are_there_from_the_beginning(self):
        rig = Rig(Filter("A"))
        change(rig, Filter("B"))
        assert ("B", "Filter", PROFILE) in rig.metrics.plugin_evaluation._series


class TestRefusals:
    async def test_the_queue_can_not_be_sorted_otherwise(self):
        rig = Rig(Filter("A"))
        before = rig.scheduler.profiles[PROFILE]
        with pytest.raises(ValueError, match="would sort the queue otherwise"):
            change(rig, Filter("A"), OtherSort())
        assert rig.scheduler.profiles[PROFILE] is before

    async def test_no_profile_can_be_added(self):
        with pytest.raises(ValueError, match='there is no profile "other"'):
            Rig(Filter("A")).scheduler.change_profile(profile_of(Filter("A"), name="other"))


class TestPending:
    async def test_a_pod_that_a_removed_plugin_turned_down_is_tried_again_after_its_backoff(self):
        rig = Rig(Filter("A", {"n": NO}), Filter("B"))
        rig.put(node("n"), pod("p"))
        await rig.step()
        assert rig.where("p") == "unschedulable"
        change(rig, Filter("B"))
        assert rig.where("p") == "backoff"
        assert rig.queue.get("default", "p").woken_by == "ProfileUpdate"
        assert rig.metrics.queue_incoming_pods.labels("backoff", "ProfileUpdate").value == 1
        await rig.step()
        assert rig.node_of("p") == "n"

    async def test_one_that_was_turned_down_while_the_profile_changed_is_tried_again_too(self):
        permit = Permit("W", (WAIT, 60.0))
        rig = Rig(permit)
        rig.put(node("n"), pod("p"))
        rig.scheduler.schedule_next()
        await turns()
        change(rig, Permit("W"))
        (waiting,) = rig.scheduler.waiting
        waiting.reject("W", "too late")
        await rig.scheduler.settle()
        assert rig.where("p") == "backoff"

    async def test_an_event_during_the_change_is_weighed_by_the_new_hints(self):
        def never(pod, old, new):
            return QueueingHint.SKIP

        old, new = Filter("A", {"n": NO}), Filter("A", {"n": NO, "m": NO})
        old.hints = [EventHint(EventResource.NODE, ActionType.ADD)]
        new.hints = [EventHint(EventResource.NODE, ActionType.ADD, never)]
        rig = Rig(old)
        rig.put(node("n"), pod("p"))
        await rig.step()
        change(rig, new)
        await rig.step()
        assert rig.where("p") == "unschedulable"
        rig.put(node("m"))
        assert rig.where("p") == "unschedulable"


class TestGates:
    async def test_a_pod_behind_a_gate_that_is_gone_goes_on(self):
        rig = Rig(Gate("G", CLOSED))
        rig.put(node("n"), pod("p"))
        assert rig.where("p") == "gated"
        change(rig, Filter("A"))
        await rig.step()
        assert rig.node_of("p") == "n"

    async def test_a_new_gate_holds_back_what_was_about_to_be_tried(self):
        rig = Rig(Filter("A"))
        rig.put(node("n"), pod("p"))
        assert rig.where("p") == "active"
        change(rig, Gate("G", CLOSED))
        assert rig.where("p") == "gated"
        assert not await rig.step()


class TestInFlight:
    async def test_what_the_old_plugin_reserved_the_old_plugin_takes_back(self):
        old, new = [], []
        flying = asyncio.Event()
        late = PreBind("L", NO)
        late.wait = flying.wait
        rig = Rig(Reserve("R", None, old), late)
        rig.put(node("n"), pod("p"))
        rig.scheduler.schedule_next()
        await turns()
        change(rig, Reserve("R", None, new))
        flying.set()
        await rig.scheduler.settle()
        assert (old, new) == (["reserve R", "unreserve R"], [])
        assert len(rig.state.assumed) == 0
        rig.clock.advance(10)
        rig.queue.flush_backoff()
        await rig.step()
        assert (rig.node_of("p"), new) == ("n", ["reserve R"])

    async def test_a_removed_permit_plugin_lets_go_those_that_wait_for_it_alone(self):
        one, two = Permit("W", (WAIT, 60.0)), Permit("V", (WAIT, 60.0))
        rig = Rig(one, two)
        rig.put(node("n"), pod("p"))
        rig.scheduler.schedule_next()
        await turns()
        change(rig, two)
        (waiting,) = rig.scheduler.waiting
        assert waiting.pending_plugins == ["V"]
        change(rig, Filter("A"))
        await rig.scheduler.settle()
        assert rig.node_of("p") == "n"

    async def test_a_permit_plugin_that_stays_goes_on_to_decide(self):
        rig = Rig(Permit("W", (WAIT, 60.0)))
        rig.put(node("n"), pod("p"))
        rig.scheduler.schedule_next()
        await turns()
        change(rig, Permit("W"))
        (waiting,) = rig.scheduler.waiting
        waiting.allow("W")
        await rig.scheduler.settle()
        assert rig.node_of("p") == "n"

    async def test_a_plugin_made_anew_may_take_over_from_its_former_self(self):
        taken = []

        class Successor(Filter):
            def take_over(self, former):
                taken.append(former)

        old = Filter("A")
        rig = Rig(old, Filter("B"))
        same = rig.scheduler.profiles[PROFILE].plugins["B"]
        change(rig, Successor("A"), same)
        assert taken == [old]

    async def test_the_binder_is_the_old_profiles_for_pods_that_it_placed(self):
        rig = Rig(Filter("A"))
        (binder,) = rig.scheduler.profiles[PROFILE].bind
        assert isinstance(binder, DefaultBinder)
        rig.put(node("n"), pod("p"))
        rig.scheduler.schedule_next()
        change(rig, Filter("B"))
        await rig.scheduler.settle()
        assert rig.node_of("p") == "n"
