"""DynamicResources."""

from __future__ import annotations

import pytest

from scheduler.api.objects import DeviceClass, DeviceClassSpec, ObjectMeta
from scheduler.framework.interface import PostFilterResult
from scheduler.framework.status import SKIP, Code, PluginError, unresolvable, unschedulable
from scheduler.plugins.devices_pending import DynamicResources
from tests.builders import info, node, pod, state
from tests.plugins.harness import cycle_of, events, filtered, raw_scores

PLUGIN = DynamicResources()
CLAIM = {"name": "gpu", "resourceClaimName": "gpu-1"}


def device_class(name: str, resource: str | None = None) -> DeviceClass:
    return DeviceClass(metadata=ObjectMeta(name=name), spec=DeviceClassSpec(extended_resource_name=resource))


def cluster_with(*classes: DeviceClass):
    cluster = state([node("n")])
    for each in classes:
        cluster.set_object("DeviceClass", each)
    return cluster


class TestPreFilter:
    def test_pods_without_devices_are_skipped(self):
        assert PLUGIN.pre_filter(cycle_of(cluster_with(), pod("p").cpu("1"))) is SKIP

    def test_pods_with_claims_are_refused(self):
        cycle = cycle_of(cluster_with(), pod("p").add("spec.resourceClaims", CLAIM))
        text = 'Berth 0.1 does not place pods that use resourceclaims yet (claim "gpu")'
        assert PLUGIN.pre_filter(cycle) == unresolvable(text)

    def test_extended_resources_pass_unless_a_device_class_stands_for_them(self):
        cluster = cluster_with(device_class("gpus", "example.com/gpu"), device_class("other"))
        backed = cycle_of(cluster, pod("p").requests({"example.com/gpu": "1"}))
        free = cycle_of(cluster, pod("q").requests({"example.com/nic": "1"}))
        none = cycle_of(cluster, pod("r").requests({"example.com/gpu": "0"}))
        assert PLUGIN.pre_filter(backed) == unresolvable(
            "Berth 0.1 does not place pods that use extended resources backed by a DeviceClass yet "
            '(resource "example.com/gpu")'
        )
        assert PLUGIN.pre_filter(free) is SKIP
        assert PLUGIN.pre_filter(none) is SKIP

    def test_every_device_class_stands_for_a_resource_of_its_own_name(self):
        resource = "deviceclass.resource.kubernetes.io/gpus"
        wanted = pod("p").requests({resource: "1"})
        assert PLUGIN.pre_filter(cycle_of(cluster_with(), wanted)) is SKIP
        answer = PLUGIN.pre_filter(cycle_of(cluster_with(device_class("gpus")), wanted))
        assert answer.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE

    def test_a_device_class_that_comes_later_is_seen(self):
        cluster = cluster_with()
        cycle = cycle_of(cluster, pod("p").requests({"example.com/gpu": "1"}))
        before = PLUGIN.epoch(cycle)
        assert PLUGIN.pre_filter(cycle) is SKIP
        cluster.set_object("DeviceClass", device_class("gpus", "example.com/gpu"))
        assert PLUGIN.pre_filter(cycle) is not SKIP
        assert PLUGIN.epoch(cycle) != before


class TestWithoutPreFilter:
    def test_filtering_refuses_or_fails(self):
        claimed = filtered(PLUGIN, cycle_of(cluster_with(), pod("p").add("spec.resourceClaims", CLAIM)))["n"]
        plain = filtered(PLUGIN, cycle_of(cluster_with(), pod("q")))["n"]
        assert claimed is not None
        assert claimed.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
        assert plain is not None
        assert (plain.code, plain.message) == (Code.ERROR, "not found")

    def test_scoring_fails(self):
        cycle = cycle_of(cluster_with(), pod("p"))
        with pytest.raises(PluginError, match="not found"):
            PLUGIN.score(cycle, cycle.nodes)


async def test_pods_without_devices_pass_all_other_points():
    cycle = cycle_of(cluster_with(), pod("p"))
    assert PLUGIN.pre_enqueue(info(pod("p").add("spec.resourceClaims", CLAIM))) is None
    assert PLUGIN.pre_filter(cycle) is SKIP
    assert raw_scores(PLUGIN, cycle) == {"n": 0}
    assert PLUGIN.post_filter(cycle) == PostFilterResult(unschedulable())
    assert PLUGIN.reserve(cycle, "n") is None
    assert PLUGIN.pre_bind_pre_flight(cycle, "n") is SKIP
    assert await PLUGIN.pre_bind(cycle, "n") is None
    PLUGIN.unreserve(cycle, "n")


def test_a_device_class_that_goes_or_changes_may_help():
    assert events(PLUGIN.events_to_register()) == {"resource.k8s.io/DeviceClass DELETE|UPDATE": None}
