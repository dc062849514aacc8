"""From a configuration to profiles with live plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scheduler.app.profiles import build_profiles
from scheduler.cache.state import ClusterState
from scheduler.client.memory import MemoryCluster, MemoryWriter
from scheduler.config.errors import ConfigError
from scheduler.config.features import FeatureGates
from scheduler.config.load import load_config
from scheduler.framework.handle import Handle
from scheduler.plugins.registry import IN_TREE
from tests.builders import info, pod

if TYPE_CHECKING:
    from scheduler.framework.profile import Profile

GATES = FeatureGates()
HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def build(*profiles: dict[str, Any], registry: Any = IN_TREE, **fields: Any) -> dict[str, Profile]:
    given = {**HEADER, **fields, **({"profiles": list(profiles)} if profiles else {})}
    config = load_config(given, source="c.yaml", known_plugins=registry, feature_gates=GATES)
    handle = Handle(ClusterState(), MemoryWriter(MemoryCluster()), GATES.enabled)
    return build_profiles(config, registry, handle, source="c.yaml")


def names(plugins: Any) -> list[str]:
    return [plugin.name for plugin in plugins]


class TestDefaults:
    def test_the_order_of_filters(self) -> None:
        (profile,) = build().values()
        assert names(profile.filter) == [
            "NodeName",
            "NodeUnschedulable",
            "TaintToleration",
            "NodeAffinity",
            "NodePorts",
            "NodeResourcesFit",
            "VolumeRestrictions",
            "NodeVolumeLimits",
            "VolumeBinding",
            "VolumeZone",
            "PodTopologySpread",
            "InterPodAffinity",
            "DynamicResources",
            "NodeDeclaredFeatures",
        ]

    def test_scores_and_their_weights(self) -> None:
        (profile,) = build().values()
        assert {plugin.name: weight for plugin, weight in profile.score} == {
            "TaintToleration": 3,
            "NodeAffinity": 2,
            "NodeResourcesFit": 1,
            "VolumeBinding": 1,
            "PodTopologySpread": 2,
            "InterPodAffinity": 2,
            "DynamicResources": 2,
            "NodeResourcesBalancedAllocation": 1,
            "ImageLocality": 1,
        }


class TestSeveral:
    def test_profiles_by_scheduler_name(self) -> None:
        assert list(build({"schedulerName": "b"}, {"schedulerName": "a"})) == ["b", "a"]

    def test_each_has_plugins_of_its_own(self) -> None:
        one, two = build({"schedulerName": "one"}, {"schedulerName": "two"}).values()
        assert one.filter[0] is not two.filter[0]

    def test_a_plugin_is_one_instance_at_all_its_points(self) -> None:
        (profile,) = build().values()
        taints = next(plugin for plugin in profile.filter if plugin.name == "TaintToleration")
        assert any(plugin is taints for plugin, _ in profile.score)

    def test_a_disabled_plugin_is_not_made(self) -> None:
        made: list[str] = []

        def factory(name: str) -> Any:
            def make(args: Any, handle: Handle) -> Any:
                made.append(name)
                return IN_TREE[name](args, handle)

            return make

        disabled = {"multiPoint": {"disabled": [{"name": "ImageLocality"}]}}
        build({"schedulerName": "x", "plugins": disabled}, registry={name: factory(name) for name in IN_TREE})
        assert "ImageLocality" not in made
        assert "NodeName" in made

    def test_percentage_of_a_profile(self) -> None:
        one, two = build({"schedulerName": "a", "percentageOfNodesToScore": 7}, {"schedulerName": "b"}).values()
        assert (one.percentage_of_nodes_to_score, two.percentage_of_nodes_to_score) == (7, None)


class TestErrors:
    def test_what_a_plugin_does_not_accept_names_profile_and_plugin(self) -> None:
        def refuse(args: Any, handle: Handle) -> Any:
            raise ValueError("no such thing")

        with pytest.raises(ConfigError) as caught:
            build({"schedulerName": "x"}, registry={**IN_TREE, "NodeName": refuse})
        text = 'c.yaml: profiles[0].pluginConfig: initializing plugin "NodeName": no such thing'
        assert str(caught.value) == text

    def test_all_plugins_that_fail_are_told(self) -> None:
        def refuse(args: Any, handle: Handle) -> Any:
            raise ValueError("no")

        with pytest.raises(ConfigError) as caught:
            build({"schedulerName": "x"}, registry={**IN_TREE, "NodeName": refuse, "NodePorts": refuse})
        assert len(caught.value.errors) == 2

    def test_extenders_whose_certificates_are_not_there(self) -> None:
        with pytest.raises(ConfigError, match=r"c\.yaml: extenders\[0\]\.tlsConfig: couldn't build extenders: open"):
            build(extenders=[{"urlPrefix": "https://127.0.0.1:1", "tlsConfig": {"caFile": "/no"}}])

    def test_a_plugin_enabled_where_it_has_nothing_to_say(self) -> None:
        with pytest.raises(ConfigError, match="NodeName"):
            build({"schedulerName": "x", "plugins": {"score": {"enabled": [{"name": "NodeName"}]}}})

    def test_profiles_that_order_the_queue_differently(self) -> None:
        other = {"queueSort": {"disabled": [{"name": "*"}], "enabled": [{"name": "Mine"}]}}

        class Mine(IN_TREE["PrioritySort"](None, None).__class__):  # type: ignore[misc, arg-type]
            name = "Mine"

        with pytest.raises(ConfigError, match="queueSort"):
            build(
                {"schedulerName": "x"},
                {"schedulerName": "y", "plugins": other},
                registry={**IN_TREE, "Mine": lambda _args, _handle: Mine()},
            )


class TestAgain:
    """Profiles that are built in the place of others."""

    @staticmethod
    def rebuilt(*profiles: dict[str, Any]) -> tuple[Profile, Profile]:
        handle = Handle(ClusterState(), MemoryWriter(MemoryCluster()), GATES.enabled)
        former: dict[str, Profile] = {}
        for given in profiles:
            config = load_config({**HEADER, "profiles": [given]}, source="c.yaml", feature_gates=GATES)
            before, former = former, build_profiles(config, IN_TREE, handle, former=former)
        return before["default-scheduler"], former["default-scheduler"]

    def test_plugins_with_the_same_arguments_are_used_again(self) -> None:
        weights = {"score": {"enabled": [{"name": "ImageLocality", "weight": 7}]}}
        before, after = self.rebuilt({}, {"plugins": weights})
        assert dict(after.score)[after.plugins["ImageLocality"]] == 7  # type: ignore[index]
        assert after.plugins == before.plugins

    def test_those_with_other_arguments_are_made_anew(self) -> None:
        args = {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 9}}
        before, after = self.rebuilt({}, {"pluginConfig": [args]})
        made = {name for name, plugin in after.plugins.items() if plugin is not before.plugins[name]}
        assert made == {"InterPodAffinity"}

    def test_evictions_under_way_hold_their_pods_back_also_after_preemption_was_made_anew(self) -> None:
        args = {"name": "DefaultPreemption", "args": {"minCandidateNodesPercentage": 50}}
        before, after = self.rebuilt({}, {"pluginConfig": [args]})
        old, new = before.plugins["DefaultPreemption"], after.plugins["DefaultPreemption"]
        preemptor = info(pod("p"))
        old._executor._preempting.add(preemptor.uid)  # type: ignore[attr-defined]
        assert new.pre_enqueue(preemptor) is None  # type: ignore[attr-defined]
        new.take_over(old)
        assert new.pre_enqueue(preemptor) is not None  # type: ignore[attr-defined]
