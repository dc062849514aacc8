"""From a decision to a bound pod: order, waiting, failures, and being cancelled."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from scheduler.client.extender.interface import ExtenderError
from scheduler.client.memory import MemoryWriter
from scheduler.framework.events import ActionType, EventHint, EventResource
from scheduler.framework.interface import EnqueueExtensions
from scheduler.framework.status import SKIP, Code, Status, error, unschedulable
from tests.builders import node, pod
from tests.cycle.rig import PROFILE, Rig
from tests.framework.stubs import Bind, Filter, Permit, PostBind, PreBind, Reserve, StubExtender

WAIT = Status(Code.WAIT)


class LoggingWriter(MemoryWriter):
    """Notes what is written, in order."""

    def __init__(self, cluster, diary):
        super().__init__(cluster)
        self.diary = diary
        self._cluster_patch = cluster.patch_pod_status
        self.patch_pod_status = self._patch

    def _patch(self, namespace, name, uid, *, conditions=(), nominated_node_name=None):
        what = [condition.status for condition in conditions]
        self.diary.append(f"patch {name} {what} {nominated_node_name!r}")
        self._cluster_patch(namespace, name, uid, conditions=conditions, nominated_node_name=nominated_node_name)

    async def bind(self, namespace, name, uid, node):
        self.diary.append(f"api bind {name} {node}")
        await super().bind(namespace, name, uid, node)


def make(*plugins, diary=None, **options):
    rig = Rig(*plugins, writer=partial(LoggingWriter, diary=[] if diary is None else diary), **options)
    rig.put(node("n"), pod("p"))
    return rig


class TestOrder:
    async def test_every_plugin_has_its_turn(self):
        diary = []
        rig = make(
            Reserve("R", None, diary),
            Permit("P", None, diary),
            PreBind("B", None, diary),
            PostBind("X", None, diary),
            diary=diary,
        )
        await rig.step()
        assert diary == [
            "reserve R",
            "permit P",
            "patch p [] 'n'",
            "prebind B",
            "api bind p n",
            "postbind X n",
        ]
        assert rig.node_of("p") == "n"

    async def test_after_the_bind_nothing_is_written_to_the_pod(self):
        diary = []
        rig = make(PreBind("B"), PostBind("X"), diary=diary)
        await rig.step()
        assert diary[-1] == "api bind p n"
        assert rig.condition("p").status == "True"
        assert rig.pod("p").status.nominated_node_name == ""

    async def test_where_nothing_takes_time_the_prospect_is_not_announced(self):
        diary, idle = [], PreBind("B")
        idle.flight = SKIP
        await make(idle, diary=diary).step()
        assert diary == ["api bind p n"]
        assert idle.diary == []

    async def test_where_the_pod_names_its_node_already_it_is_not_announced_again(self):
        diary = []
        rig = Rig(PreBind("B"), writer=partial(LoggingWriter, diary=diary))
        rig.put(node("n"), pod("p").nominated("n"))
        await rig.step()
        assert diary == ["api bind p n"]

    async def test_without_the_gate_for_it_no_prospect_is_announced_and_no_plugin_asked_beforehand(self):
        diary, idle = [], PreBind("A")
        idle.flight = SKIP
        rig = make(Permit("P", (WAIT, 600.0)), idle, diary=diary, nominating=False)
        assert rig.scheduler.schedule_next()
        await asyncio.sleep(0)
        rig.scheduler.waiting.get(rig.pod("p").metadata.uid).allow("P")
        await rig.scheduler.settle()
        assert diary == ["api bind p n"]
        assert idle.diary == ["prebind A"]

    async def test_the_pod_is_reported_as_scheduled(self):
        rig = make(Filter("A"))
        rig.clock.advance(5)
        await rig.step()
        assert rig.notes("Scheduled") == ["Successfully assigned default/p to n"]
        event = rig.cluster.events[0]
        assert (event.type, event.action) == ("Normal", "Binding")

    async def test_its_way_through_the_queue_is_measured(self):
        rig = make(Filter("A"))
        rig.clock.advance(5)
        await rig.step()
        assert rig.metrics.schedule_attempts.labels("scheduled", PROFILE).value == 1
        assert rig.metrics.pod_scheduling_attempts.labels().sum == 1
        assert rig.metrics.pod_scheduling_sli_duration.labels("1").sum == 5
        assert rig.metrics.pod_scheduled_after_flush.labels().value == 0

    async def test_a_pod_that_got_its_node_only_after_the_flush_is_counted(self):
        rig = Rig(Filter("A", {"n": unschedulable("no")}))
        rig.put(node("n"), pod("p"))
        await rig.step()
        rig.scheduler.profiles[PROFILE].filter[0].answer = {}
        rig.clock.advance(301)
        rig.queue.flush_unschedulable()
        await rig.step()
        assert rig.metrics.pod_scheduled_after_flush.labels().value == 1


class TestWaiting:
    def waiting(self, *more, seconds=600.0):
        rig = make(Permit("P", (WAIT, seconds)), *more)
        assert rig.scheduler.schedule_next()
        return rig, rig.scheduler.waiting.get(rig.pod("p").metadata.uid)

    async def test_a_pod_waits_for_permission_with_its_room_reserved(self):
        rig, waiting = self.waiting()
        await asyncio.sleep(0)
        assert (rig.node_of("p"), rig.scheduler.binding, len(rig.state.assumed)) == ("", 1, 1)
        assert rig.pod("p").status.nominated_node_name == "n"
        waiting.allow("P")
        await rig.scheduler.settle()
        assert rig.node_of("p") == "n"
        assert len(rig.scheduler.waiting) == 0

    async def test_a_refusal_while_waiting_makes_the_pod_unschedulable(self):
        rig, waiting = self.waiting(Reserve("R"))
        waiting.reject("P", "no quota")
        await rig.scheduler.settle()
        assert rig.condition("p").message == "0/1 nodes are available: 1 no quota."
        assert rig.condition("p").reason == "Unschedulable"
        assert rig.pod("p").status.nominated_node_name == ""
        assert rig.queue.get("default", "p").rejectors == {"P"}
        assert len(rig.state.assumed) == 0
        assert rig.scheduler.profiles[PROFILE].reserve[0].diary == ["reserve R", "unreserve R"]

    @pytest.mark.looptime
    async def test_so_does_running_out_of_time(self):
        rig, _ = self.waiting(seconds=20.0)
        await rig.scheduler.settle()
        assert rig.condition("p").message == (
            "0/1 nodes are available: 1 rejected due to timeout after waiting 20s at plugin P."
        )

    async def test_the_wait_is_measured_by_how_it_ended(self):
        rig, waiting = self.waiting()
        waiting.reject("P", "no")
        await rig.scheduler.settle()
        assert rig.metrics.permit_wait_duration.labels("Unschedulable").count == 1

    async def test_events_are_kept_for_it_only_while_it_waits(self):
        gate = asyncio.Event()
        slow = PreBind("B")
        slow.wait = gate.wait
        rig, waiting = self.waiting(slow)
        await asyncio.sleep(0)
        assert len(rig.queue.in_flight) == 1
        waiting.allow("P")
        await asyncio.sleep(0.01)
        assert len(rig.queue.in_flight) == 0
        gate.set()
        await rig.scheduler.settle()


class TestFailure:
    @pytest.mark.parametrize(
        ("plugin", "message"),
        [
            (PreBind("B", error("boom")), 'running PreBind plugin "B": boom'),
            (Bind("B", error("boom")), 'running Bind plugin "B": boom'),
            (Bind("B", KeyError("x")), "running Bind plugin \"B\": KeyError: 'x'"),
            (Bind("B", SKIP), ""),
        ],
    )
    async def test_an_error_is_a_scheduler_error_and_the_pod_is_tried_again(self, plugin, message):
        rig = make(plugin, Reserve("R"))
        await rig.step()
        condition = rig.condition("p")
        assert (condition.reason, condition.message) == ("SchedulerError", message)
        assert rig.where("p") == "backoff"
        assert len(rig.state.assumed) == 0
        assert rig.metrics.schedule_attempts.labels("error", PROFILE).value == 1

    async def test_a_failing_pre_flight_keeps_the_pod_from_being_bound(self):
        broken = PreBind("B")
        broken.flight = error("boom")
        rig = make(broken)
        await rig.step()
        assert rig.condition("p").message == 'running PreBindPreFlight "B": boom'

    @pytest.mark.parametrize("plugin", [PreBind("B", unschedulable("no")), Bind("B", unschedulable("no"))])
    async def test_a_refusal_is_no_error_but_waits_for_no_event_either(self, plugin):
        rig = make(plugin)
        await rig.step()
        condition = rig.condition("p")
        assert (condition.reason, condition.message) == ("Unschedulable", "no")
        assert rig.where("p") == "backoff"
        assert rig.queue.get("default", "p").errors == 1

    async def test_a_pod_that_is_gone_when_it_is_bound(self):
        gate = asyncio.Event()
        slow = PreBind("B")
        slow.wait = gate.wait
        rig = make(slow)
        rig.scheduler.schedule_next()
        await asyncio.sleep(0)
        rig.delete(pod("p"))
        gate.set()
        await rig.scheduler.settle()
        assert rig.state.nodes.pod_count.sum() == 0
        assert rig.where("p") == ""

    @pytest.mark.parametrize("failure", [error("boom"), unschedulable("no")])
    async def test_others_may_have_the_room_that_it_frees(self, failure):
        picky = Filter("A", {"m": unschedulable("no")})
        picky.hints = [EventHint(EventResource.ASSIGNED_POD, ActionType.DELETE)]
        gate = asyncio.Event()
        slow = Bind("B", failure)
        slow.wait = gate.wait
        rig = Rig(picky, slow)
        rig.put(node("n"), pod("p"))
        rig.scheduler.schedule_next()
        await asyncio.sleep(0)
        picky.answer = {"n": unschedulable("no")}
        rig.put(pod("q"))
        rig.scheduler.schedule_next()
        assert rig.where("q") == "unschedulable"
        rig.clock.advance(60)
        gate.set()
        await rig.scheduler.settle()
        assert rig.where("q") == "active"

    async def test_a_pod_that_was_turned_down_is_not_woken_by_the_room_that_it_frees_itself(self):
        class Listening(Permit, EnqueueExtensions):
            def events_to_register(self):
                return [EventHint(EventResource.ASSIGNED_POD, ActionType.DELETE)]

        class Silent(MemoryWriter):
            """Writes no status: giving up the nomination would be an event of its own."""

            def __init__(self, cluster):
                super().__init__(cluster)
                self.patch_pod_status = lambda *told, **more: None

        rig = Rig(Listening("P", (WAIT, 600.0)), writer=Silent)
        rig.put(node("n"), pod("p"))
        rig.scheduler.schedule_next()
        await asyncio.sleep(0)
        rig.clock.advance(60)
        rig.scheduler.waiting.get(rig.pod("p").metadata.uid).reject("P", "no")
        await rig.scheduler.settle()
        assert rig.where("p") == "unschedulable"

    async def test_what_goes_wrong_after_the_bind_does_not_take_it_back(self, monkeypatch):
        rig = make(Filter("A"))

        def fail(*args, **kwargs):
            raise RuntimeError

        monkeypatch.setattr(rig.scheduler.failures, "record", fail)
        await rig.step()
        assert rig.node_of("p") == "n"
        assert rig.state.nodes.pod_count.sum() == 1


class TestCancellation:
    async def cancelled(self, rig):
        rig.scheduler.schedule_next()
        await asyncio.sleep(0)
        (task,) = rig.scheduler._tasks
        task.cancel()
        await rig.scheduler.settle()
        assert task.cancelled()

    async def test_while_it_waits_the_decision_is_taken_back_silently(self):
        rig = make(Permit("P", (WAIT, 600.0)), Reserve("R"))
        await self.cancelled(rig)
        assert len(rig.state.assumed) == 0
        assert len(rig.queue.in_flight) == 0
        assert len(rig.scheduler.waiting) == 0
        assert rig.notes() == []

    async def test_once_the_bind_has_begun_the_pod_keeps_its_place(self):
        slow = Bind("B")
        slow.wait = asyncio.Event().wait
        rig = make(slow)
        await self.cancelled(rig)
        assert len(rig.state.assumed) == 1
        assert rig.notes() == []


class TestExtenders:
    async def test_bind_instead_of_the_plugins(self):
        diary = []
        rig = Rig(Filter("F"), Bind("B", None, diary), extenders=[StubExtender("x", diary, bind=None)])
        rig.put(node("n"), pod("p"))
        await rig.step()
        assert diary == ["x read_from", "x bind n"]
        assert rig.notes("Scheduled") == ["Successfully assigned default/p to n"]

    async def test_that_fail_to_bind_fail_the_attempt(self):
        rig = Rig(Filter("F"), extenders=[StubExtender(bind=ExtenderError("shy"))])
        rig.put(node("n"), pod("p"))
        await rig.step()
        assert rig.node_of("p") == ""
        assert rig.notes() == ["shy"]
        assert rig.condition("p").reason == "SchedulerError"

    async def test_that_are_ignorable_leave_it_to_the_plugins_if_they_fail(self):
        rig = Rig(Filter("F"), extenders=[StubExtender(ignorable=True, bind=ExtenderError("shy"))])
        rig.put(node("n"), pod("p"))
        await rig.step()
        assert rig.node_of("p") == "n"
