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
            (POD.memory("100m"), POD.memory("200m"), ["UpdatePodScaleUp"]),
            (POD.memory("1500m"), POD.memory("1100m"), ["UpdatePodScaleDown"]),
            (pod("a").cpu("1"), POD, ["UpdatePodScaleUp"]),
            (POD.gate("g"), POD, ["UpdatePodSchedulingGatesEliminated"]),
            (POD.gate("g", "h"), POD.gate("h"), ["Update"]),
            (POD, POD.tolerates("t"), ["UpdatePodToleration"]),
            (POD.gate("g"), POD.label(x="y"), ["UpdatePodLabel", "UpdatePodSchedulingGatesEliminated"]),
            (POD, POD.nominated("n"), ["Update"]),
            (POD.label(x="y"), POD.label(x="z"), ["UpdatePodLabel"]),
            (POD.cpu("2"), POD.label(x="y"), ["UpdatePodLabel", "UpdatePodScaleDown"]),
            (POD.set("metadata.annotations", {"a": "b"}), POD.set("metadata.annotations", {"a": "c"}), ["Update"]),
            (POD.tolerates("t"), POD.tolerates("t").tolerates("u"), ["UpdatePodToleration"]),
        ],
    )
    def test_what_changed(self, old, new, expected):
        assert pod_labels(old, new) == [f"TargetPod{action}" for action in expected]

    def test_a_resize_in_place_counts_as_what_the_pod_takes(self):
        status = {"name": "main", "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "2"}}}
        resized = POD.on("n").set("status.containerStatuses", [status])
        assert pod_labels(POD.on("n"), resized) == ["AssignedPodUpdatePodScaleUp"]

    @pytest.mark.parametrize(
        ("old", "new", "told", "expected"),
        [
            ("0", None, {"memory": "0"}, "Update"),
            ("0", None, {}, "UpdatePodScaleDown"),
            (None, "0", {}, "UpdatePodScaleUp"),
            ("1500m", "1100m", {"memory": "2"}, "Update"),
            ("1500m", "1100m", {"memory": "1200m"}, "UpdatePodScaleDown"),
            ("10P", "11P", {}, "Update"),
        ],
        ids=["in force", "gone", "new", "more in force", "less in force", "beyond what is told apart"],
    )
    def test_a_request_counts_with_what_is_in_force_in_thousandths(self, old, new, told, expected):
        status = {"name": "main", "resources": {"requests": told}}

        def asking(memory):
            built = pod("a").cpu("1") if memory is None else pod("a").cpu("1").memory(memory)
            return built.on("n").set("status.containerStatuses", [status] if told else [])

        assert pod_labels(asking(old), asking(new)) == [f"AssignedPod{expected}"]

    @pytest.mark.parametrize(
        ("builder", "target", "resource"),
        [(POD, True, "TargetPod"), (POD, False, "UnscheduledPod"), (POD.on("n"), True, "AssignedPod")],
    )
    def test_whose_change_it_is(self, builder, target, resource):
        assert pod_labels(builder, builder.label(x="y"), target=target) == [f"{resource}UpdatePodLabel"]

    def test_a_change_of_an_assigned_pod_is_one_even_if_it_is_about_its_gates(self):
        expected = ["AssignedPodUpdatePodSchedulingGatesEliminated"]
        assert pod_labels(POD.on("n").gate("g"), POD.on("n")) == expected


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
            (NODE.capacity(cpu="1"), NODE.capacity(cpu="1"), []),
            (NODE.capacity(cpu="1", gpu="2"), NODE.capacity(cpu="1", gpu="1"), ["UpdateNodeAllocatable"]),
            (NODE.capacity(cpu="1"), NODE.capacity(cpu="1", memory="1Ki"), ["UpdateNodeAllocatable"]),
            (NODE.label(x="y"), NODE.label(x="y"), []),
            (NODE.label(x="y"), NODE.label(x="z"), ["UpdateNodeLabel"]),
            (NODE.taint("t", "a"), NODE.taint("t", "a"), []),
            (NODE.taint("t", "a"), NODE.taint("t", "b"), ["UpdateNodeTaint"]),
            (NODE.taint("t", "a"), NODE.label(x="y").taint("t", "b"), ["UpdateNodeLabel", "UpdateNodeTaint"]),
            (NODE.condition("DiskPressure", "True"), NODE, ["UpdateNodeCondition"]),
            (NODE.condition("Ready", "False"), NODE.condition("Ready", "True"), ["UpdateNodeCondition"]),
            (NODE.features("F", "G"), NODE.features("F", "G"), []),
            (NODE.features("F"), NODE.features("F", "G"), ["UpdateNodeDeclaredFeature"]),
            (NODE.features("F", "G"), NODE.features("F"), ["UpdateNodeDeclaredFeature"]),
            (NODE.features("F"), NODE.features("H"), ["UpdateNodeDeclaredFeature"]),
            (NODE.features("F"), NODE, ["UpdateNodeDeclaredFeature"]),
            (NODE.set("status.declaredFeatures", []), NODE.features("F"), ["UpdateNodeDeclaredFeature"]),
            (NODE, NODE.set("status.declaredFeatures", []), []),
        ],
    )
    def test_what_changed(self, old, new, expected):
        assert labels(node_events(old.build(), new.build())) == [f"Node{action}" for action in expected]

    def test_a_heartbeat_is_no_change_of_condition(self):
        old = NODE.set("status.conditions", [{"type": "Ready", "status": "True", "lastHeartbeatTime": "x"}])
        new = NODE.set("status.conditions", [{"type": "Ready", "status": "True", "reason": "other"}])
        assert node_events(old.build(), new.build()) == []
