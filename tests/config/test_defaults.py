from __future__ import annotations

from scheduler.config.args.base import PluginArgs
from scheduler.config.args.registry import ArgsRegistry
from scheduler.config.defaults import ignored_by_scheduler, set_defaults
from scheduler.config.types import (
    Extender,
    ExtenderManagedResource,
    KubeSchedulerConfiguration,
    Plugin,
    Plugins,
    PluginSet,
    Profile,
)


class MineArgs(PluginArgs, frozen=True, kw_only=True):
    size: int = 3


def defaulted(config, gates, given=None, args=None):
    return set_defaults(config, given or {}, args=args or ArgsRegistry(), gates=gates)


def test_no_profile_means_the_default_one(gates):
    (profile,) = defaulted(KubeSchedulerConfiguration(), gates).profiles
    assert profile.scheduler_name == "default-scheduler"


def test_an_empty_name_that_was_given_is_left_for_validation_to_refuse(gates):
    config = KubeSchedulerConfiguration(profiles=(Profile(),))
    (profile,) = defaulted(config, gates, {"profiles": [{"schedulerName": ""}]}).profiles
    assert profile.scheduler_name == ""


def test_of_several_profiles_none_is_named(gates):
    config = KubeSchedulerConfiguration(profiles=(Profile(scheduler_name="a"), Profile()))
    assert [profile.scheduler_name for profile in defaulted(config, gates).profiles] == ["a", ""]


def test_contention_profiling_follows_profiling_unless_it_is_given(gates):
    off = KubeSchedulerConfiguration(enable_profiling=False)
    assert not defaulted(off, gates).enable_contention_profiling
    assert defaulted(off, gates, {"enableContentionProfiling": True}).enable_contention_profiling


def test_each_enabled_plugin_with_arguments_gets_them(gates):
    (profile,) = defaulted(KubeSchedulerConfiguration(), gates).profiles
    assert [entry.name for entry in profile.plugin_config] == [
        "DefaultPreemption",
        "DynamicResources",
        "InterPodAffinity",
        "NodeAffinity",
        "NodeResourcesBalancedAllocation",
        "NodeResourcesFit",
        "PodTopologySpread",
        "VolumeBinding",
    ]


def test_a_users_plugin_gets_its_default_arguments_too(gates):
    plugins = Plugins(score=PluginSet(enabled=(Plugin(name="Mine"),)))
    config = KubeSchedulerConfiguration(profiles=(Profile(plugins=plugins),))
    registry = ArgsRegistry().extended({"Mine": MineArgs, "Unused": MineArgs})
    (profile,) = defaulted(config, gates, args=registry).profiles
    assert profile.args("Mine") == MineArgs()
    assert profile.args("Unused") is None


def test_resources_left_to_extenders_are_ignored_by_the_fit(gates):
    resources = (
        ExtenderManagedResource(name="example.com/a", ignored_by_scheduler=True),
        ExtenderManagedResource(name="example.com/b"),
    )
    config = KubeSchedulerConfiguration(extenders=(Extender(managed_resources=resources),))
    assert ignored_by_scheduler(config) == ("example.com/a",)
    result = defaulted(config, gates)
    assert result.profiles[0].args("NodeResourcesFit").ignored_resources == ("example.com/a",)
    assert str(result.extenders[0].http_timeout) == "5s"
