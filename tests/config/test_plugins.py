from __future__ import annotations

import pytest

from scheduler.config.errors import ConfigError
from scheduler.config.features import FeatureGates
from scheduler.config.plugins import (
    EXTENSION_POINTS,
    check_common_queue_sort,
    default_plugins,
    enabled_names,
    expand,
    merge_plugin_set,
    merge_plugins,
)
from scheduler.config.types import Plugin, PluginConfig, Plugins, PluginSet, Profile


def plugin_set(enabled="", disabled=""):
    """Plugins from "A B=3": names, with weights."""

    def plugins(text):
        pairs = [item.partition("=") for item in text.split()]
        return tuple(Plugin(name=name, weight=int(weight or 0)) for name, _, weight in pairs)

    return PluginSet(enabled=plugins(enabled), disabled=plugins(disabled))


def text_of(plugins):
    return " ".join(f"{plugin.name}={plugin.weight}" if plugin.weight else plugin.name for plugin in plugins)


def everywhere(plugin, point):
    """Sorters sort, binders bind, all others do everything else."""
    kind = {"Sort": "queueSort", "Bind": "bind"}.get(plugin[:4])
    return point == kind if kind else point not in {"queueSort", "bind", "placementGenerate"}


class TestMerge:
    @pytest.mark.parametrize(
        ("default", "custom", "disabled", "merged"),
        [
            ("A B C", "", "", "A B C"),
            ("A B C", "D", "", "A B C D"),
            ("A B C", "", "B", "A C"),
            ("A B C", "B", "B", "A C B"),
            ("A=1 B=2 C", "B=9", "", "A=1 B=9 C"),
            ("A=1 B=2", "A", "", "A B=2"),
            ("A B", "C A", "*", "C A"),
            ("A B", "A=1 A=2", "", "A=2 B A=1"),
        ],
    )
    def test_custom_plugins_replace_defaults_in_place_or_follow_them(self, default, custom, disabled, merged):
        result = merge_plugin_set(plugin_set(default), plugin_set(custom, disabled))
        assert text_of(result.enabled) == merged

    def test_disabled_plugins_are_remembered_for_the_expansion(self):
        result = merge_plugin_set(plugin_set("A", "B"), plugin_set("", "C=3 *"))
        assert text_of(result.disabled) == "C * B"

    def test_each_point_is_merged_on_its_own(self):
        default = Plugins(multi_point=plugin_set("A B"))
        merged = merge_plugins(default, Plugins(score=plugin_set("C=2", "A")))
        assert merged == Plugins(multi_point=plugin_set("A B"), score=plugin_set("C=2", "A"))


class TestDefaults:
    def test_the_default_plugins_stand_in_kube_schedulers_order(self):
        plugins = default_plugins(FeatureGates())
        assert text_of(plugins.multi_point.enabled) == (
            "SchedulingGates PrioritySort NodeName NodeUnschedulable TaintToleration=3 NodeAffinity=2 NodePorts "
            "NodeResourcesFit=1 VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread=2 "
            "InterPodAffinity=2 DynamicResources=2 DefaultPreemption NodeResourcesBalancedAllocation=1 "
            "ImageLocality=1 DefaultBinder NodeDeclaredFeatures"
        )
        assert plugins == Plugins(multi_point=plugins.multi_point)

    def test_gates_add_plugins_in_their_places(self):
        gates = FeatureGates.parse(
            "InPlacePodVerticalScalingSchedulerPreemption=true,GenericWorkload=true,"
            "TopologyAwareWorkloadScheduling=true"
        )
        names = [plugin.name for plugin in default_plugins(gates).multi_point.enabled]
        assert names[names.index("NodeResourcesFit") - 1] == "DeferredPodScheduling"
        assert names[-3:] == ["GangScheduling", "TopologyPlacementGenerator", "PodGroupPodsCount"]


class TestExpand:
    def expanded(self, **sets):
        sets.setdefault("queue_sort", plugin_set("SortA"))
        sets.setdefault("bind", plugin_set("BindA"))
        return expand(Plugins(**sets), everywhere, scheduler_name="p", path="profiles[0]")

    def refusal(self, **sets):
        with pytest.raises(ConfigError) as caught:
            self.expanded(**sets)
        return [str(error) for error in caught.value.errors]

    def test_every_extension_point_is_there(self):
        assert list(self.expanded().points) == list(EXTENSION_POINTS)

    @pytest.mark.parametrize(
        ("multi_point", "enabled", "disabled", "running"),
        [
            ("A B C", "", "", "A B C"),
            ("A B C", "C A", "", "C A B"),
            ("A B C", "D", "", "A B C D"),
            ("A B C", "D C", "", "C A B D"),
            ("A B C", "", "B", "A C"),
            ("A B C", "B", "B", "A C B"),
            ("A B C", "", "*", ""),
            ("A B C", "C", "*", "C"),
        ],
    )
    def test_overridden_plugins_come_first_then_multi_point_then_the_rest(
        self, multi_point, enabled, disabled, running
    ):
        expanded = self.expanded(multi_point=plugin_set(multi_point), filter=plugin_set(enabled, disabled))
        assert " ".join(expanded.points["filter"]) == running

    def test_multi_point_reaches_the_points_that_a_plugin_implements(self):
        expanded = expand(Plugins(multi_point=plugin_set("SortA BindA A")), everywhere)
        assert {point for point, running in expanded.points.items() if "A" in running} == set(EXTENSION_POINTS) - {
            "queueSort",
            "bind",
            "placementGenerate",
        }
        assert expanded.points["queueSort"] == ("SortA",)
        assert expanded.points["bind"] == ("BindA",)

    @pytest.mark.parametrize("disabled", ["*", "A"])
    def test_what_multi_point_disables_itself_has_been_merged_before(self, disabled):
        expanded = self.expanded(multi_point=plugin_set("A B", disabled))
        assert expanded.points["filter"] == ("A", "B")

    def test_a_weight_of_its_own_loads_no_plugin_twice(self):
        expanded = self.expanded(multi_point=plugin_set("A B"), score=plugin_set("B=5 C=5 A=3"))
        assert expanded.points["score"] == ("B", "A", "C")
        assert expanded.score_weights == {"B": 5, "A": 3, "C": 5}

    def test_weights_come_from_score_first_and_zero_counts_as_one(self):
        expanded = self.expanded(
            multi_point=plugin_set("A=3 B=2 C"), score=plugin_set("A B=7", "C"), placement_score=plugin_set("B=5")
        )
        assert expanded.score_weights == {"A": 1, "B": 7}
        assert expanded.placement_score_weights == {"B": 5, "A": 3, "C": 1}

    @pytest.mark.parametrize(
        ("sets", "errors"),
        [
            (
                {"filter": plugin_set("A A")},
                ['profiles[0].plugins.filter.enabled[1]: plugin "A" already registered as "FilterPlugin"'],
            ),
            (
                {"filter": plugin_set("SortB")},
                ['profiles[0].plugins.filter.enabled[0]: plugin "SortB" does not extend FilterPlugin plugin'],
            ),
            (
                {"multi_point": plugin_set("BindB BindB")},
                ['profiles[0].plugins.bind: plugin "BindB" already registered as "BindPlugin"'],
            ),
            (
                {"queue_sort": plugin_set("SortA SortB")},
                ['only one queue sort plugin required for profile with scheduler name "p", but got 2'],
            ),
            (
                {"queue_sort": plugin_set(), "bind": plugin_set()},
                [
                    'only one queue sort plugin required for profile with scheduler name "p", but got 0',
                    'at least one bind plugin is needed for profile with scheduler name "p"',
                ],
            ),
            (
                {"score": plugin_set(f"A={2**62}")},
                ["score plugins: total score of Score plugins could overflow"],
            ),
            (
                {"placement_score": plugin_set(f"A={2**62}")},
                ["placement score plugins: total score of Score plugins could overflow"],
            ),
        ],
    )
    def test_what_kube_scheduler_refuses(self, sets, errors):
        assert self.refusal(**sets) == errors

    def test_at_most_one_placement_generator(self):
        plugins = Plugins(queue_sort=plugin_set("S"), bind=plugin_set("B"), placement_generate=plugin_set("G H"))
        with pytest.raises(ConfigError, match="at most one placement generate plugin is allowed"):
            expand(plugins, lambda _plugin, _point: True)


class TestCommonQueueSort:
    def profile(self, name, sorter, args=None):
        config = (PluginConfig(name=sorter, args=args),) if args else ()
        plugins = Plugins(queue_sort=plugin_set(sorter), bind=plugin_set("BindA"))
        profile = Profile(scheduler_name=name, plugins=plugins, plugin_config=config)
        return profile, expand(plugins, everywhere, scheduler_name=name)

    def test_profiles_that_sort_alike_pass(self):
        check_common_queue_sort([self.profile("a", "SortA", {"x": 1}), self.profile("b", "SortA", {"x": 1})])

    def test_another_plugin_is_refused_by_profile(self):
        with pytest.raises(ConfigError) as caught:
            check_common_queue_sort([self.profile("a", "SortA"), self.profile("b", "SortB")])
        assert str(caught.value) == (
            'profiles[1].plugins.queueSort: different queue sort plugins for profile "b": "SortB", first: "SortA"'
        )

    def test_other_arguments_are_refused_by_profile(self):
        with pytest.raises(ConfigError, match='different queue sort plugin args for profile "b"'):
            check_common_queue_sort([self.profile("a", "SortA", {"x": 1}), self.profile("b", "SortA")])


def test_enabled_names_are_those_of_all_points():
    plugins = Plugins(multi_point=plugin_set("A", "B"), pod_group_post_filter=plugin_set("C"))
    assert enabled_names(plugins) == {"A", "C"}
