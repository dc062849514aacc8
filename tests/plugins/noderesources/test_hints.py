"""The events that NodeResourcesFit asks to hear of."""

from __future__ import annotations

import pytest

from scheduler.api.objects import DeviceClass, DeviceClassSpec, ObjectMeta
from scheduler.cache.objects import ObjectStore
from scheduler.framework.events import QueueingHint
from scheduler.plugins.noderesources.hints import FitHints
from tests.builders import info, node, pod
from tests.plugins.harness import events

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP
HINTS = FitHints(ObjectStore())
GPU = "example.com/gpu"


def device_class(name: str, resource: str | None = None) -> DeviceClass:
    return DeviceClass(metadata=ObjectMeta(name=name), spec=DeviceClassSpec(extended_resource_name=resource))


def test_events():
    assert events(HINTS.events()) == {
        "AssignedPod DELETE": "after_pod_deletion",
        "Node ADD|UPDATE_NODE_ALLOCATABLE": "after_node_change",
        "resource.k8s.io/DeviceClass ADD|UPDATE": "after_device_class_change",
        "AssignedPod UPDATE_POD_SCALE_DOWN": "after_pod_scale_down",
        "TargetPod UPDATE_POD_SCALE_DOWN": "after_own_scale_down",
    }


@pytest.mark.parametrize(
    ("gone", "hint"),
    [(pod("q"), SKIP), (pod("q").on("n"), QUEUE), (pod("q").nominated("n"), QUEUE)],
    ids=["waiting", "assigned", "nominated"],
)
def test_pod_deletion(gone, hint):
    assert HINTS.after_pod_deletion(info(pod("p")), info(gone), None) is hint


NIC, STORAGE, HUGE = "example.com/nic", "ephemeral-storage", "hugepages-2Mi"
MEMORY_AND_GPU = pod("p").memory("2Gi").requests({GPU: "1"})
CPU = pod("p").cpu("2")

ONE = node("n").capacity(cpu="1", memory="1Gi")
TWO = node("n").capacity(cpu="2", memory="1Gi")


class TestNodeChange:
    @pytest.mark.parametrize(
        ("old", "new", "waiting", "hint"),
        [
            (None, ONE, pod("p").cpu("1"), QUEUE),
            (None, ONE, pod("p").cpu("1001m"), SKIP),
            (None, ONE.capacity(cpu="1", pods="0"), pod("p"), SKIP),
            (ONE, TWO, pod("p").cpu("2"), QUEUE),
            (ONE, TWO, pod("p").cpu("1"), QUEUE),
            (ONE, TWO, pod("p").memory("1Gi"), SKIP),
            (ONE, TWO, pod("p"), SKIP),
            (TWO, ONE, pod("p").cpu("1"), SKIP),
            (ONE, ONE.capacity(cpu="1", pods="111"), pod("p"), QUEUE),
            (None, ONE, pod("p").requests({GPU: "1"}), SKIP),
            (ONE, ONE.capacity({GPU: "2"}), pod("p").requests({GPU: "1"}), QUEUE),
            (ONE.capacity({GPU: "2"}), ONE.capacity({GPU: "2"}, cpu="9"), pod("p").requests({GPU: "1"}), SKIP),
            (None, ONE.capacity({NIC: "1"}), pod("p").requests({GPU: "1"}), SKIP),
            (None, ONE.capacity({GPU: "2"}, memory="4Gi"), MEMORY_AND_GPU, QUEUE),
            (
                ONE.capacity({GPU: "2"}, memory="2Gi"),
                ONE.capacity({GPU: "1", NIC: "2"}, memory="2Gi"),
                MEMORY_AND_GPU,
                SKIP,
            ),
            (ONE.capacity({GPU: "1"}, memory="2Gi"), ONE.capacity({GPU: "2"}, memory="2Gi"), MEMORY_AND_GPU, QUEUE),
            (ONE.capacity({GPU: "2"}, memory="4Gi"), ONE.capacity({GPU: "2"}, memory="1Gi"), MEMORY_AND_GPU, SKIP),
            (ONE.capacity({GPU: "2"}, memory="1Gi"), ONE.capacity({GPU: "2"}, memory="4Gi"), MEMORY_AND_GPU, QUEUE),
            (TWO.capacity({STORAGE: "3"}, cpu="2"), TWO.capacity({STORAGE: "5", GPU: "6"}, cpu="2"), CPU, SKIP),
            (TWO.capacity({STORAGE: "3"}, cpu="2"), TWO.capacity({STORAGE: "1"}, cpu="2"), CPU, SKIP),
            (
                TWO.capacity({STORAGE: "1"}, cpu="2"),
                TWO.capacity({STORAGE: "3"}, cpu="2"),
                CPU.requests({STORAGE: "2"}),
                QUEUE,
            ),
            (None, ONE, pod("p").set("spec.resources", {"requests": {"cpu": "2"}}), SKIP),
            (None, TWO, pod("p").set("spec.resources", {"requests": {"cpu": "2"}}), QUEUE),
            (None, ONE.capacity({HUGE: "2Mi"}), pod("p").set("spec.resources", {"requests": {HUGE: "2Mi"}}), QUEUE),
            (None, ONE.capacity({HUGE: "2Mi"}), pod("p").set("spec.resources", {"requests": {HUGE: "4Mi"}}), SKIP),
        ],
        ids=[
            "new and large enough",
            "new and too small",
            "new without room for a pod",
            "grown",
            "grown though it fitted",
            "grown in what is not requested",
            "grown, nothing requested",
            "shrunk",
            "room for more pods",
            "without the extended resource",
            "with the extended resource now",
            "as much of it as before",
            "new with another extended resource only",
            "new with enough of two resources",
            "other resources come and go",
            "grown in one of two resources",
            "too small now in one of two",
            "large enough now in one of two",
            "grown in what is not requested, storage and extended",
            "shrunk in what is not requested",
            "grown in storage",
            "too small for the whole pod",
            "large enough for the whole pod",
            "enough huge pages for the whole pod",
            "too few huge pages for the whole pod",
        ],
    )
    def test_the_pod_must_fit_and_the_node_must_have_grown(self, old, new, waiting, hint):
        assert HINTS.after_node_change(info(waiting), old and old.build(), new.build()) is hint

    def test_a_device_class_stands_for_what_the_node_lacks(self):
        objects = ObjectStore()
        objects.set("DeviceClass", device_class("gpus", GPU))
        waiting = info(pod("p").requests({GPU: "5"}))
        hints = FitHints(objects)
        assert hints.after_node_change(waiting, None, ONE.build()) is QUEUE
        assert hints.after_node_change(waiting, ONE.build(), TWO.build()) is QUEUE
        assert hints.after_node_change(waiting, None, ONE.capacity({GPU: "2"}).build()) is SKIP
        none = ONE.capacity({GPU: "0"}).build()
        assert hints.after_node_change(waiting, none, none) is QUEUE
        assert (
            hints.after_node_change(waiting, ONE.capacity({GPU: "9"}).build(), ONE.capacity({GPU: "7"}).build()) is SKIP
        )


class TestScaleDown:
    BIG = pod("q").cpu("2").memory("2Gi").requests({GPU: "2"})

    @pytest.mark.parametrize(
        ("new", "waiting", "hint"),
        [
            (BIG.cpu("1"), pod("p").cpu("1"), QUEUE),
            (BIG.cpu("1"), pod("p").memory("1Gi"), SKIP),
            (BIG.cpu("1"), pod("p"), SKIP),
            (BIG.cpu("1"), pod("p").cpu("0"), SKIP),
            (BIG.memory("1Gi"), pod("p").memory("1Gi"), QUEUE),
            (BIG.requests({GPU: "1"}), pod("p").requests({GPU: "1"}), QUEUE),
            (BIG.cpu("3"), pod("p").cpu("1"), SKIP),
        ],
        ids=["cpu", "not what is requested", "nothing requested", "zero requested", "memory", "extended", "grown"],
    )
    def test_another_pod_frees_what_this_one_requests(self, new, waiting, hint):
        assert HINTS.after_pod_scale_down(info(waiting), info(self.BIG.on("n")), info(new.on("n"))) is hint

    @pytest.mark.parametrize(("freed", "hint"), [("cpu", QUEUE), ("memory", SKIP)])
    def test_requests_for_the_whole_pod_count_as_well(self, freed, hint):
        def whole(name, **requests):
            return pod(name).set("spec.resources", {"requests": requests})

        waiting = info(whole("p", cpu="1"))
        old, new = whole("q", **{freed: "2"}).on("n"), whole("q", **{freed: "1"}).on("n")
        assert HINTS.after_pod_scale_down(waiting, info(old), info(new)) is hint
        assert HINTS.after_own_scale_down(waiting, waiting, info(whole("p", cpu="500m"))) is QUEUE

    def test_what_the_status_of_the_waiting_pod_tells_of_a_resize_counts_as_asked_for(self):
        told = [{"name": "main", "allocatedResources": {"memory": "1Gi"}}]
        old, new = (info(pod("o").on("n").cpu("1").memory(memory)) for memory in ("2Gi", "1Gi"))
        waiting = pod("p").cpu("1")
        assert HINTS.after_pod_scale_down(info(waiting), old, new) is SKIP
        assert HINTS.after_pod_scale_down(info(waiting.set("status.containerStatuses", told)), old, new) is QUEUE

    def test_a_pod_without_a_node_frees_nothing(self):
        assert HINTS.after_pod_scale_down(info(pod("p").cpu("1")), info(self.BIG), info(self.BIG.cpu("1"))) is SKIP

    def test_the_pod_itself_always_gets_another_try(self):
        old, new = info(pod("p").cpu("2")), info(pod("p").cpu("1"))
        assert HINTS.after_own_scale_down(old, old, new) is QUEUE


class TestDeviceClassChange:
    WAITING = info(pod("p").requests({GPU: "1", "deviceclass.resource.kubernetes.io/gpus": "1"}))

    @pytest.mark.parametrize(
        ("old", "new", "hint"),
        [
            (None, device_class("other", GPU), QUEUE),
            (None, device_class("gpus"), QUEUE),
            (None, device_class("other"), SKIP),
            (None, device_class("other", "example.com/nic"), SKIP),
            (device_class("gpus"), device_class("gpus", GPU), QUEUE),
            (device_class("gpus", GPU), device_class("gpus", GPU), SKIP),
            (device_class("gpus", GPU), device_class("gpus"), SKIP),
            (device_class("gpus"), device_class("gpus", "example.com/nic"), SKIP),
            (None, device_class("gpus", "example.com/nic"), QUEUE),
            (device_class("other", "example.com/nic"), device_class("other", GPU), QUEUE),
            (device_class("other"), device_class("other"), SKIP),
        ],
        ids=[
            "new, by resource",
            "new, by name",
            "new, neither",
            "new, another resource",
            "stands for it now",
            "as before",
            "no longer",
            "another resource now",
            "new, by name and with another resource",
            "stands for it instead of another",
            "for nothing as before",
        ],
    )
    def test_a_class_that_comes_to_stand_for_a_requested_resource_helps(self, old, new, hint):
        assert HINTS.after_device_class_change(self.WAITING, old, new) is hint
