"""From the informers into state and queue."""

from __future__ import annotations

import pytest

from scheduler.api.objects import DeviceClass, Namespace, ObjectMeta, Service
from scheduler.client.kinds import NAMESPACES, SERVICES
from scheduler.framework.events import ActionType, EventHint, EventResource
from scheduler.framework.status import Code, Status, unschedulable
from tests.builders import node, pod
from tests.cycle.rig import Rig
from tests.framework.stubs import Filter, Permit

NO = unschedulable("no")
MINUTE = 60.0


def rig_with(resource, actions, **more):
    """A rig whose only filter turns pods down on node "n" and asks for some events."""
    plugin = Filter("A", {"n": NO})
    plugin.hints = [EventHint(resource, actions)]
    rig = Rig(plugin, **more)
    rig.put(node("n"))
    return rig, plugin


async def waiting(resource, actions, *pods):
    """The same with pods that were turned down a minute ago."""
    rig, plugin = rig_with(resource, actions)
    rig.put(*(pods or [pod("p")]))
    await rig.run()
    rig.clock.advance(MINUTE)
    return rig, plugin


class TestNodes:
    async def test_a_new_node_is_counted_and_told(self):
        rig, _ = await waiting(EventResource.NODE, ActionType.ADD)
        rig.put(node("m"))
        assert len(rig.state.nodes) == 2
        assert rig.where("p") == "active"

    async def test_a_changed_node_is_told_by_what_changed(self):
        rig, _ = await waiting(EventResource.NODE, ActionType.UPDATE_NODE_LABEL)
        rig.put(node("n").taint("t"))
        assert rig.where("p") == "unschedulable"
        rig.put(node("n").taint("t").label(x="y"))
        assert rig.where("p") == "active"

    async def test_a_node_that_goes_is_told_and_no_longer_counted(self):
        rig, _ = await waiting(EventResource.NODE, ActionType.DELETE)
        rig.delete(node("n"))
        assert len(rig.state.nodes) == 0
        assert rig.where("p") == "active"

    async def test_handling_is_timed_by_event(self):
        rig, _ = rig_with(EventResource.NODE, ActionType.ADD)
        rig.put(node("n").label(x="y"))
        rig.delete(node("n"))
        for label in ("NodeAdd", "NodeUpdateNodeLabel", "NodeDelete"):
            assert rig.metrics.event_handling_duration.labels(label).count == 1


class TestPendingPods:
    def test_pods_of_other_schedulers_are_not_ours(self):
        rig, _ = rig_with(EventResource.NODE, ActionType.ADD)
        rig.put(pod("p").scheduler("somebody-else"))
        assert rig.where("p") == ""
        assert len(rig.scheduler.unscheduled) == 0

    async def test_a_change_of_the_pod_itself_may_help_it(self):
        rig, _ = await waiting(EventResource.TARGET_POD, ActionType.UPDATE_POD_LABEL)
        rig.put(pod("p").label(x="y"))
        assert rig.where("p") == "active"

    async def test_an_update_without_news_is_passed_over(self):
        rig, _ = await waiting(EventResource.TARGET_POD, ActionType.UPDATE)
        rig.handlers.pod(None, rig.pod("p"))
        assert rig.where("p") == "unschedulable"
        assert rig.metrics.event_handling_duration.labels("UnscheduledPodUpdate").count == 1

    async def test_a_deleted_pod_is_forgotten(self):
        rig, _ = await waiting(EventResource.NODE, ActionType.ADD)
        rig.delete(pod("p"))
        assert rig.where("p") == ""
        assert len(rig.scheduler.unscheduled) == 0

    async def test_a_pod_that_gives_up_its_nominated_node_lets_those_that_matter_no_more_try(self):
        rig, _ = await waiting(
            EventResource.ASSIGNED_POD,
            ActionType.DELETE,
            pod("more").priority(9),
            pod("less").priority(1),
        )
        rig.put(pod("holder").priority(5).nominated("n"))
        rig.put(pod("holder").priority(5))
        assert (rig.where("more"), rig.where("less")) == ("unschedulable", "active")

    async def test_so_does_one_that_is_deleted(self):
        rig, _ = await waiting(
            EventResource.ASSIGNED_POD, ActionType.DELETE, pod("more").priority(9), pod("less").priority(1)
        )
        rig.put(pod("holder").priority(5).nominated("n"))
        rig.delete(pod("holder"))
        assert (rig.where("more"), rig.where("less")) == ("unschedulable", "active")


class TestAssignedPods:
    async def test_one_that_comes_is_counted_and_told(self):
        rig, _ = await waiting(EventResource.ASSIGNED_POD, ActionType.ADD)
        rig.put(pod("q").on("n"))
        assert rig.state.nodes.pod_count[rig.state.nodes.rows["n"]] == 1
        assert rig.where("p") == "active"

    async def test_one_that_changes_is_told_by_what_changed(self):
        rig, _ = await waiting(EventResource.ASSIGNED_POD, ActionType.UPDATE_POD_SCALE_DOWN)
        rig.put(pod("q").on("n").cpu("2"))
        rig.put(pod("q").on("n").cpu("2").label(x="y"))
        assert rig.where("p") == "unschedulable"
        rig.put(pod("q").on("n").cpu("1").label(x="y"))
        assert rig.where("p") == "active"

    async def test_one_that_goes_is_told(self):
        rig, _ = await waiting(EventResource.ASSIGNED_POD, ActionType.DELETE)
        rig.put(pod("q").on("n"))
        rig.delete(pod("q"))
        assert rig.state.nodes.pod_count[rig.state.nodes.rows["n"]] == 0
        assert rig.where("p") == "active"

    async def test_a_waiting_pod_that_somebody_else_binds_leaves_the_queue(self):
        rig, _ = await waiting(EventResource.NODE, ActionType.ADD)
        rig.cluster.bind("default", "p", rig.pod("p").metadata.uid, "n")
        assert rig.where("p") == ""
        assert rig.state.pods.get(rig.pod("p").metadata.uid).node_name == "n"

    async def test_a_pod_that_we_bound_counts_once(self):
        rig = Rig()
        rig.put(node("n"), pod("p"))
        await rig.run()
        assert rig.state.nodes.pod_count.sum() == 1
        assert not rig.state.is_assumed(rig.pod("p").metadata.uid)
        assert len(rig.scheduler.unscheduled) == 0

    async def test_handling_is_timed_by_event(self):
        rig = Rig()
        rig.put(node("n"), pod("p"))
        await rig.run()
        rig.put(pod("q").on("n"))
        rig.put(pod("q").on("n").label(x="y"))
        rig.delete(pod("q"))
        counts = {
            label: rig.metrics.event_handling_duration.labels(label).count
            for label in (
                "UnscheduledPodAdd",
                "UnscheduledPodDelete",
                "AssignedPodAdd",
                "AssignedPodUpdate",
                "AssignedPodUpdatePodLabel",
                "AssignedPodDelete",
            )
        }
        assert counts == {
            "UnscheduledPodAdd": 1,
            "UnscheduledPodDelete": 1,
            "AssignedPodAdd": 2,
            "AssignedPodUpdate": 1,
            "AssignedPodUpdatePodLabel": 1,
            "AssignedPodDelete": 1,
        }


class TestAssumedPods:
    def waiting_for_permission(self):
        rig = Rig(Filter("A"), Permit("P", (Status(Code.WAIT), 600.0)))
        rig.put(node("n"), pod("p"))
        assert rig.scheduler.schedule_next()
        return rig

    @pytest.mark.parametrize("how", ["deleted", "terminating"])
    async def test_one_that_waits_for_permission_is_turned_down_and_frees_its_room(self, how):
        rig = self.waiting_for_permission()
        if how == "deleted":
            rig.delete(pod("p"))
        else:
            rig.put(pod("p").terminating())
        await rig.scheduler.settle()
        assert rig.state.nodes.pod_count.sum() == 0
        assert len(rig.state.assumed) == 0
        assert len(rig.queue.in_flight) == 0

    async def test_one_that_is_beyond_waiting_is_forgotten_at_once(self):
        rig = self.waiting_for_permission()
        uid = rig.pod("p").metadata.uid
        rig.scheduler.waiting.get(uid).allow("P")
        rig.delete(pod("p"))
        assert not rig.state.is_assumed(uid)
        await rig.scheduler.settle()
        assert rig.state.nodes.pod_count.sum() == 0

    async def test_its_updates_do_not_bring_it_back_into_the_queue(self):
        rig = self.waiting_for_permission()
        rig.put(pod("p").label(x="y"))
        assert rig.where("p") == "in flight"
        rig.scheduler.waiting.get(rig.pod("p").metadata.uid).allow("P")
        await rig.scheduler.settle()
        assert rig.node_of("p") == "n"


class TestOtherObjects:
    def test_namespaces_are_known_by_their_labels(self):
        rig = Rig()
        rig.cluster.put(Namespace(metadata=ObjectMeta(name="ns", labels={"team": "a"})))
        assert rig.state.namespaces["ns"] == {"team": "a"}
        rig.cluster.delete(NAMESPACES, "", "ns")
        assert "ns" not in rig.state.namespaces

    def test_objects_that_plugins_look_up_are_stored(self):
        rig = Rig()
        rig.cluster.put(Service(metadata=ObjectMeta(name="s", namespace="default")))
        assert rig.state.objects.get("Service", "default", "s") is not None
        rig.cluster.delete(SERVICES, "default", "s")
        assert rig.state.objects.get("Service", "default", "s") is None

    async def test_they_are_told_to_those_who_ask(self):
        rig, _ = await waiting(EventResource.DEVICE_CLASS, ActionType.ADD)
        rig.cluster.put(DeviceClass(metadata=ObjectMeta(name="gpu")))
        assert rig.where("p") == "active"
        assert rig.metrics.event_handling_duration.labels("resource.k8s.io/DeviceClassAdd").count == 1
