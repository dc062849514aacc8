"""From a changed object to cluster events."""

from __future__ import annotations

import pytest

from scheduler.cycle.cluster_events import node_events, pod_events
from tests.builders import info, node, pod, state

CLUSTER = state()
POD, NODE = pod("a").cpu("1").memory("1Gi"), node("n")


def labels(events):
    return [event.label for event in events]


def pod_labels(old, new, *, target=True):
    return labels(pod_events(info(old, CLUSTER), info(new, CLUSTER), target=target))


class TestPods:
    @pytest.mark.parametrize(
        ("old", "new", "expected"),
        [
            (POD, POD.label(x="y"), ["UpdatePodLabel"]),
            (POD, POD.cpu("500m"), ["UpdatePodScaleDown"]),
            (POD, POD.cpu("2"), ["UpdatePodScaleUp"]),
            (POD, POD.cpu("2").memory("1Mi"), ["UpdatePodScaleDown", "UpdatePodScaleUp"]),
            (POD, pod("a").cpu("1"), ["UpdatePodScaleDown"]),
            (pod("a").cpu("1"), POD, ["UpdatePodScaleUp"]),
            (POD.gate("g"), POD, ["UpdatePodSchedulingGatesEliminated"]),
            (POD.gate("g", "h"), POD.gate("h"), ["Update"]),
            (POD, POD.tolerates("t"), ["UpdatePodToleration"]),
            (POD.gate("g"), POD.label(x="y"), ["UpdatePodLabel", "UpdatePodSchedulingGatesEliminated"]),
            (POD, POD.nominated("n"), ["Update"]),
        ],
    )
    def test_what_changed(self, old, new, expected):
        assert pod_labels(old, new) == [f"TargetPod{action}" for action in expected]

    def test_a_resize_in_place_counts_as_what_the_pod_takes(self):
        status = {"name": "main", "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "2"}}}
        resized = POD.on("n").set("status.containerStatuses", [status])
        assert pod_labels(POD.on("n"), resized) == ["AssignedPodUpdatePodScaleUp"]

    @pytest.mark.parametrize(
        ("builder", "target", "resource"),
        [(POD, True, "TargetPod"), (POD, False, "UnscheduledPod"), (POD.on("n"), True, "AssignedPod")],
    )
    def test_whose_change_it_is(self, builder, target, resource):
        assert pod_labels(builder, builder.label(x="y"), target=target) == [f"{resource}UpdatePodLabel"]


class TestNodes:
    @pytest.mark.parametrize(
        ("old", "new", "expected"),
        [
            (NODE, NODE, []),
            (NODE, NODE.unschedulable(), []),
            (NODE.unschedulable(), NODE, ["UpdateNodeTaint"]),
            (NODE, NODE.capacity(cpu="1"), ["UpdateNodeAllocatable"]),
            (NODE, NODE.label(x="y"), ["UpdateNodeLabel"]),
            (NODE, NODE.taint("t"), ["UpdateNodeTaint"]),
            (NODE, NODE.condition("Ready", "True"), ["UpdateNodeCondition"]),
            (NODE.condition("Ready", "True"), NODE.condition("Ready", "True"), []),
            (NODE, NODE.set("metadata.annotations", {"a": "b"}), ["UpdateNodeAnnotation"]),
            (NODE, NODE.features("F"), ["UpdateNodeDeclaredFeature"]),
            (NODE, NODE.image("i:1", size=5), []),
            (NODE, NODE.taint("t").label(x="y"), ["UpdateNodeLabel", "UpdateNodeTaint"]),
        ],
    )
    def test_what_changed(self, old, new, expected):
        assert labels(node_events(old.build(), new.build())) == [f"Node{action}" for action in expected]

    def test_a_heartbeat_is_no_change_of_condition(self):
        old = NODE.set("status.conditions", [{"type": "Ready", "status": "True", "lastHeartbeatTime": "x"}])
        new = NODE.set("status.conditions", [{"type": "Ready", "status": "True", "reason": "other"}])
        assert node_events(old.build(), new.build()) == []
