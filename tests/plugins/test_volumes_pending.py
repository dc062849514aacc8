"""VolumeRestrictions, NodeVolumeLimits, VolumeBinding and VolumeZone."""

from __future__ import annotations

import pytest

from scheduler.framework.interface import PreBindPlugin, PreScorePlugin, ReservePlugin, ScorePlugin
from scheduler.framework.status import SKIP, Code, PluginError, unresolvable
from scheduler.plugins.volumes_pending import (
    NodeVolumeLimits,
    VolumeBinding,
    VolumeRestrictions,
    VolumeZone,
    make_node_volume_limits,
    make_volume_binding,
    make_volume_restrictions,
    make_volume_zone,
)
from tests.builders import node, pod, state
from tests.plugins.harness import cycle_of, filtered, handle, raw_scores

CLUSTER = state([node("n")])
PLUGINS = [VolumeRestrictions(), NodeVolumeLimits(), VolumeBinding(), VolumeZone()]

CLAIM = {"persistentVolumeClaim": {"claimName": "c"}}
EPHEMERAL = {"ephemeral": {"volumeClaimTemplate": {}}}


def refused_by(**source: object) -> set[str]:
    cycle = cycle_of(CLUSTER, pod("p").volume("data", **source))
    answers = {plugin.name: plugin.pre_filter(cycle) for plugin in PLUGINS}
    assert all(answer is SKIP or answer.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE for answer in answers.values())
    return {name for name, answer in answers.items() if answer is not SKIP}


@pytest.mark.parametrize(
    ("source", "plugins"),
    [
        (CLAIM, {"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"}),
        (EPHEMERAL, {"NodeVolumeLimits", "VolumeBinding"}),
        ({"gcePersistentDisk": {"pdName": "d"}}, {"VolumeRestrictions", "NodeVolumeLimits"}),
        ({"awsElasticBlockStore": {"volumeID": "d"}}, {"VolumeRestrictions", "NodeVolumeLimits"}),
        ({"iscsi": {"iqn": "d"}}, {"VolumeRestrictions"}),
        ({"rbd": {"image": "d"}}, {"VolumeRestrictions"}),
        ({"azureDisk": {"diskName": "d"}}, {"NodeVolumeLimits"}),
        ({"azureFile": {"shareName": "d"}}, {"NodeVolumeLimits"}),
        ({"cinder": {"volumeID": "d"}}, {"NodeVolumeLimits"}),
        ({"vsphereVolume": {"volumePath": "d"}}, {"NodeVolumeLimits"}),
        ({"portworxVolume": {"volumeID": "d"}}, {"NodeVolumeLimits"}),
        ({"emptyDir": {}}, set()),
        ({"configMap": {"name": "d"}}, set()),
        ({"csi": {"driver": "d"}}, set()),
        ({"image": {"reference": "d"}}, set()),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_each_plugin_refuses_the_volumes_that_it_has_to_look_at(source, plugins):
    assert refused_by(**source) == plugins


def test_the_reason_names_the_kind_and_the_volume():
    cycle = cycle_of(CLUSTER, pod("p").volume("scratch", emptyDir={}).volume("data", **CLAIM))
    assert VolumeBinding().pre_filter(cycle) == unresolvable(
        'Berth 0.1 does not place pods that use persistentvolumeclaims yet (volume "data")'
    )


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.name)
class TestWithoutPreFilter:
    def test_a_pod_with_volumes_is_refused_all_the_same(self, plugin):
        answer = filtered(plugin, cycle_of(CLUSTER, pod("p").volume("data", **CLAIM)))["n"]
        assert answer is not None
        assert answer.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE

    def test_a_pod_without_volumes_fails_where_kube_scheduler_needs_pre_filter(self, plugin):
        answer = filtered(plugin, cycle_of(CLUSTER, pod("p")))["n"]
        texts = {
            "VolumeRestrictions": 'cannot read "PreFilterVolumeRestrictions" from cycleState',
            "VolumeBinding": "not found",
        }
        expected = texts.get(plugin.name)
        assert (answer and (answer.code, answer.message)) == (expected and (Code.ERROR, expected))


class TestVolumeBinding:
    plugin = VolumeBinding()

    def test_has_the_extension_points_of_kube_scheduler(self):
        assert isinstance(self.plugin, PreScorePlugin)
        assert isinstance(self.plugin, ScorePlugin)
        assert isinstance(self.plugin, ReservePlugin)
        assert isinstance(self.plugin, PreBindPlugin)

    def test_scores_pods_without_volumes_0_and_does_not_skip_them(self):
        cycle = cycle_of(CLUSTER, pod("p"))
        assert self.plugin.pre_filter(cycle) is SKIP
        assert self.plugin.pre_score(cycle, cycle.nodes) is None
        assert raw_scores(self.plugin, cycle) == {"n": 0}

    def test_scoring_fails_where_pre_filter_is_disabled(self):
        cycle = cycle_of(CLUSTER, pod("p"))
        answer = self.plugin.pre_score(cycle, cycle.nodes)
        assert answer is not None
        assert (answer.code, answer.message) == (Code.ERROR, "not found")
        with pytest.raises(PluginError, match="not found"):
            self.plugin.score(cycle, cycle.nodes)

    async def test_has_nothing_to_bind(self):
        cycle = cycle_of(CLUSTER, pod("p"))
        assert self.plugin.reserve(cycle, "n") is None
        assert self.plugin.pre_bind_pre_flight(cycle, "n") is SKIP
        assert await self.plugin.pre_bind(cycle, "n") is None
        self.plugin.unreserve(cycle, "n")


def test_no_event_helps_a_refused_pod():
    assert [list(plugin.events_to_register()) for plugin in PLUGINS] == [[]] * 4


def test_factories():
    factories = [make_volume_restrictions, make_node_volume_limits, make_volume_binding, make_volume_zone]
    made = [factory(None, handle(CLUSTER)).name for factory in factories]
    assert made == ["VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"]
