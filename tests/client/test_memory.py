"""The in-process cluster behaves as an API server does, at once."""

from __future__ import annotations

import pytest

from scheduler.api.objects import (
    Node,
    ObjectMeta,
    ObjectReference,
    Pod,
    PodCondition,
    PodSchedulingGate,
    PodSpec,
    PodStatus,
)
from scheduler.client.errors import BindConflictError, PodGoneError
from scheduler.client.interface import Event
from scheduler.client.kinds import NODES, PODS, UNFINISHED_PODS
from scheduler.client.memory import MemoryCluster, MemoryWriter

NOON = 1_800_000_000


def pod(name="a", *, uid="u1", deleted=None, phase="", **spec):
    meta = ObjectMeta(name=name, namespace="ns", uid=uid, deletion_timestamp=deleted)
    return Pod(metadata=meta, spec=PodSpec(**spec), status=PodStatus(phase=phase))


def cluster_with_log(*objects):
    cluster = MemoryCluster(objects, now=lambda: NOON)
    log = []
    informer = cluster.informer(PODS, selection=UNFINISHED_PODS)
    informer.add_handler(
        lambda old, new: log.append(("+" if old is None else "-" if new is None else "~") + (new or old).metadata.name)
    )
    cluster.sync()
    return cluster, log


def test_objects_get_what_the_api_server_gives_them():
    cluster = MemoryCluster(now=lambda: NOON)
    stored = cluster.put(Pod(metadata=ObjectMeta(name="a")))
    assert (stored.metadata.namespace, stored.metadata.resource_version) == ("default", "1")
    assert stored.metadata.creation_timestamp == "2027-01-15T08:00:00Z"
    assert len(stored.metadata.uid) == 36
    node = cluster.put(Node(metadata=ObjectMeta(name="n1", namespace="ignored")))
    assert (node.metadata.namespace, node.metadata.resource_version) == ("", "2")
    assert cluster.get(NODES, "", "n1") == node
    assert cluster.list(PODS) == [stored]


def test_a_replaced_object_keeps_its_uid():
    cluster = MemoryCluster()
    first = cluster.put(Pod(metadata=ObjectMeta(name="a")))
    assert cluster.put(Pod(metadata=ObjectMeta(name="a"))).metadata.uid == first.metadata.uid


def test_informers_hear_of_everything_once_synced():
    cluster, log = cluster_with_log(pod("a"), pod("b"))
    cluster.put(pod("a", node_name="n1"))
    cluster.delete(PODS, "ns", "b")
    assert log == ["+a", "+b", "~a", "-b"]
    assert cluster.delete(PODS, "ns", "b") is None


def test_a_pod_that_finishes_leaves_the_selection():
    cluster, log = cluster_with_log(pod("a"), pod("done", phase="Failed"))
    cluster.put(pod("a", phase="Succeeded"))
    assert log == ["+a", "-a"]


def test_writes_of_handlers_are_delivered_in_order():
    cluster = MemoryCluster([pod("a"), pod("b")])
    seen = {"first": [], "second": []}
    informer = cluster.informer(PODS)

    def first(old, new):
        seen["first"].append((new.metadata.name, new.spec.node_name))
        if not new.spec.node_name:
            cluster.bind("ns", new.metadata.name, "u1", "n1")

    informer.add_handler(first)
    informer.add_handler(lambda old, new: seen["second"].append((new.metadata.name, new.spec.node_name)))
    cluster.sync()
    cluster.put(pod("c"))
    assert seen["second"] == seen["first"]
    assert seen["second"][-2:] == [("c", ""), ("c", "n1")]


class TestBind:
    def test_assigns_the_node_clears_the_nomination_and_sets_the_condition(self):
        cluster, log = cluster_with_log(pod())
        cluster.patch_pod_status("ns", "a", "u1", nominated_node_name="n9")
        cluster.bind("ns", "a", "u1", "n1")
        bound = cluster.get(PODS, "ns", "a")
        assert bound.spec.node_name == "n1"
        assert bound.status.nominated_node_name == ""
        (condition,) = bound.status.conditions
        assert (condition.type, condition.status) == ("PodScheduled", "True")
        assert log == ["+a", "~a", "~a"]

    @pytest.mark.parametrize(
        ("existing", "error", "text"),
        [
            (None, PodGoneError, 'pods "a" not found'),
            (pod(uid="other"), PodGoneError, "UID in precondition: u1, UID in object meta: other"),
            (pod(node_name="n2"), BindConflictError, 'pod a is already assigned to node "n2"'),
            (pod(deleted="2027-01-15T08:00:00Z"), BindConflictError, "pod a is being deleted"),
            (
                pod(scheduling_gates=(PodSchedulingGate(name="g"),)),
                BindConflictError,
                "pod a has non-empty .spec.schedulingGates",
            ),
        ],
        ids=["gone", "replaced", "bound", "terminating", "gated"],
    )
    def test_is_refused_as_the_api_server_refuses_it(self, existing, error, text):
        cluster = MemoryCluster([existing] if existing else [])
        with pytest.raises(error) as refused:
            cluster.bind("ns", "a", "u1", "n1")
        assert text in str(refused.value)


class TestStatusPatch:
    CONDITION = PodCondition(type="PodScheduled", status="False", reason="Unschedulable", message="no room")

    def test_sets_conditions_by_type(self):
        cluster, _ = cluster_with_log(pod())
        cluster.patch_pod_status("ns", "a", "u1", conditions=[self.CONDITION], nominated_node_name="n1")
        cluster.patch_pod_status("ns", "a", "u1", conditions=[self.CONDITION])
        status = cluster.get(PODS, "ns", "a").status
        assert (status.conditions, status.nominated_node_name) == ((self.CONDITION,), "n1")

    def test_that_changes_nothing_is_no_news(self):
        cluster, log = cluster_with_log(pod())
        for _ in range(2):
            cluster.patch_pod_status("ns", "a", "u1", conditions=[self.CONDITION])
        assert log == ["+a", "~a"]

    @pytest.mark.parametrize("existing", [pod(node_name="n1"), pod(uid="other")], ids=["bound", "replaced"])
    def test_of_a_pod_that_is_no_longer_pending_does_nothing(self, existing):
        cluster, log = cluster_with_log(existing)
        cluster.patch_pod_status("ns", "a", "u1", conditions=[self.CONDITION])
        assert log == ["+a"]


async def test_the_writer_writes_to_the_cluster():
    cluster = MemoryCluster([pod("a"), pod("b")])
    writer = MemoryWriter(cluster)
    writer.patch_pod_status("ns", "a", "u1", nominated_node_name="n1")
    assert cluster.get(PODS, "ns", "a").status.nominated_node_name == "n1"
    await writer.bind("ns", "a", "u1", "n1")
    await writer.delete_pod("ns", "b", "u1")
    await writer.delete_pod("ns", "a", "another uid")
    assert [(p.metadata.name, p.spec.node_name) for p in cluster.list(PODS)] == [("a", "n1")]


def test_events_are_kept_and_series_replace_them():
    def event(name, note):
        return Event(
            name=name,
            namespace="ns",
            event_time="",
            reporting_controller="berth",
            reporting_instance="berth-host",
            action="Binding",
            reason="Scheduled",
            type="Normal",
            regarding=ObjectReference(),
            note=note,
        )

    writer = MemoryWriter(cluster := MemoryCluster())
    writer.create_event(event("e1", "first"))
    writer.patch_event(event("e1", "series"))
    writer.patch_event(event("e2", "whole"))
    assert [e.note for e in cluster.events] == ["series", "whole"]


async def test_a_condition_is_set_of_a_bound_pod_too():
    cluster = MemoryCluster([pod(uid="u", node_name="n")])
    writer = MemoryWriter(cluster)
    condition = PodCondition(type="DisruptionTarget", status="True", reason="PreemptionByScheduler")
    assert await writer.set_pod_condition("ns", "a", "u", condition)
    assert not await writer.set_pod_condition("ns", "a", "other", condition)
    assert not await writer.set_pod_condition("ns", "gone", "u", condition)
    (found,) = cluster.get(PODS, "ns", "a").status.conditions
    assert (found.type, found.reason) == ("DisruptionTarget", "PreemptionByScheduler")


async def test_a_deletion_tells_whether_the_pod_was_there():
    writer = MemoryWriter(MemoryCluster([pod(uid="u")]))
    assert not await writer.delete_pod("ns", "a", "other")
    assert await writer.delete_pod("ns", "a", "u")
    assert not await writer.delete_pod("ns", "a", "u")
