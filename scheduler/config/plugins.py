"""Plugin sets: the default ones, custom ones merged into them, MultiPoint spread over the extension points.

Source: apis/config/v1/default_plugins.go, profile/profile.go (cfgValidator), framework/runtime/framework.go
(NewFramework, expandMultiPointPlugins).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from scheduler.config.errors import ConfigError, FieldError, plain
from scheduler.config.types import Plugin, Plugins, PluginSet, Profile

if TYPE_CHECKING:
    from scheduler.config.features import FeatureGates

MULTI_POINT: Final = "multiPoint"
ALL: Final = "*"

#: Plugins that kube-scheduler v1.37.2 has, whatever the gates say (framework/plugins/names/names.go).
IN_TREE_PLUGINS: Final = frozenset(
    {
        "DefaultBinder",
        "DefaultPreemption",
        "DeferredPodScheduling",
        "DynamicResources",
        "GangScheduling",
        "ImageLocality",
        "InterPodAffinity",
        "NodeAffinity",
        "NodeDeclaredFeatures",
        "NodeName",
        "NodePorts",
        "NodeResourcesBalancedAllocation",
        "NodeResourcesFit",
        "NodeUnschedulable",
        "NodeVolumeLimits",
        "PodGroupPodsCount",
        "PodTopologySpread",
        "PrioritySort",
        "SchedulingGates",
        "TaintToleration",
        "TopologyPlacementGenerator",
        "VolumeBinding",
        "VolumeRestrictions",
        "VolumeZone",
    }
)

#: Extension points by JSON name in kube-scheduler's order: the attribute of `Plugins`, and the Go interface.
EXTENSION_POINTS: Final[Mapping[str, tuple[str, str]]] = {
    "preFilter": ("pre_filter", "PreFilterPlugin"),
    "filter": ("filter", "FilterPlugin"),
    "postFilter": ("post_filter", "PostFilterPlugin"),
    "reserve": ("reserve", "ReservePlugin"),
    "preScore": ("pre_score", "PreScorePlugin"),
    "score": ("score", "ScorePlugin"),
    "preBind": ("pre_bind", "PreBindPlugin"),
    "bind": ("bind", "BindPlugin"),
    "postBind": ("post_bind", "PostBindPlugin"),
    "permit": ("permit", "PermitPlugin"),
    "preEnqueue": ("pre_enqueue", "PreEnqueuePlugin"),
    "queueSort": ("queue_sort", "QueueSortPlugin"),
    "placementGenerate": ("placement_generate", "PlacementGeneratePlugin"),
    "placementScore": ("placement_score", "PlacementScorePlugin"),
    "podGroupPostFilter": ("pod_group_post_filter", "PodGroupPostFilterPlugin"),
}

_MAX_TOTAL_SCORE: Final = 2**63 - 1
_MAX_NODE_SCORE: Final = 100
_DEFAULT_MULTI_POINT: Final = (
    ("SchedulingGates", 0),
    ("PrioritySort", 0),
    ("NodeName", 0),
    ("NodeUnschedulable", 0),
    ("TaintToleration", 3),
    ("NodeAffinity", 2),
    ("NodePorts", 0),
    ("NodeResourcesFit", 1),
    ("VolumeRestrictions", 0),
    ("NodeVolumeLimits", 0),
    ("VolumeBinding", 0),
    ("VolumeZone", 0),
    ("PodTopologySpread", 2),
    ("InterPodAffinity", 2),
    ("DefaultPreemption", 0),
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
    ("DefaultBinder", 0),
)

#: Whether a plugin (by name) takes part in an extension point (by JSON name).
Implements: TypeAlias = Callable[[str, str], bool]


class ExpandedProfile(msgspec.Struct, frozen=True, kw_only=True):
    """The plugins that run, in order, by the JSON name of the extension point; weights of those that score."""

    points: Mapping[str, tuple[str, ...]]
    score_weights: Mapping[str, int]
    placement_score_weights: Mapping[str, int]


def default_plugins(gates: FeatureGates) -> Plugins:
    """The plugins of a profile that says nothing, all under multiPoint."""
    enabled = [Plugin(name=name, weight=weight) for name, weight in _DEFAULT_MULTI_POINT]

    def insert_before(successor: str, plugin: Plugin) -> None:
        place = next(i for i, other in enumerate(enabled) if other.name == successor)
        enabled.insert(place, plugin)

    if gates.enabled("NodeDeclaredFeatures"):
        enabled.append(Plugin(name="NodeDeclaredFeatures"))
    if gates.enabled("InPlacePodVerticalScalingSchedulerPreemption"):
        insert_before("NodeResourcesFit", Plugin(name="DeferredPodScheduling"))
    if gates.enabled("DynamicResourceAllocation"):
        # Its PostFilter frees an idle claim, which is to be tried before pods are evicted.
        insert_before("DefaultPreemption", Plugin(name="DynamicResources", weight=2))
    if gates.enabled("GenericWorkload"):
        enabled.append(Plugin(name="GangScheduling"))
    if gates.enabled("TopologyAwareWorkloadScheduling"):
        enabled += [Plugin(name="TopologyPlacementGenerator"), Plugin(name="PodGroupPodsCount", weight=1)]
    return Plugins(multi_point=PluginSet(enabled=tuple(enabled)))


def merge_plugins(default: Plugins, custom: Plugins) -> Plugins:
    """`default` with the sets of `custom` merged in, point by point."""
    return Plugins(
        **{
            field: merge_plugin_set(getattr(default, field), getattr(custom, field))
            for field in Plugins.__struct_fields__
        }
    )


def merge_plugin_set(default: PluginSet, custom: PluginSet) -> PluginSet:
    """Default plugins that aren't disabled, reconfigured in their place, then the other custom ones.

    A custom plugin that is given twice replaces the default with its last entry; the rest stay in the list,
    where `expand` finds them.
    """
    disabled = tuple(Plugin(name=plugin.name) for plugin in (*custom.disabled, *default.disabled))
    off = {plugin.name for plugin in disabled}
    index_of = {plugin.name: i for i, plugin in enumerate(custom.enabled)}
    replaced: set[int] = set()
    enabled: list[Plugin] = []
    for plugin in default.enabled if ALL not in off else ():
        if plugin.name in off:
            continue
        index = index_of.get(plugin.name)
        if index is None:
            enabled.append(plugin)
        else:
            enabled.append(custom.enabled[index])
            replaced.add(index)
    enabled += [plugin for i, plugin in enumerate(custom.enabled) if i not in replaced]
    return PluginSet(enabled=tuple(enabled), disabled=disabled)


def plugin_sets(plugins: Plugins) -> Iterable[tuple[str, PluginSet]]:
    """All sets with their JSON names, multiPoint first."""
    yield MULTI_POINT, plugins.multi_point
    for point, (field, _) in EXTENSION_POINTS.items():
        yield point, getattr(plugins, field)


def enabled_names(plugins: Plugins) -> set[str]:
    """Names of all plugins that are enabled at some point."""
    return {plugin.name for _, plugin_set in plugin_sets(plugins) for plugin in plugin_set.enabled}


def expand(plugins: Plugins, implements: Implements, *, scheduler_name: str = "", path: str = "") -> ExpandedProfile:
    """What runs at each extension point, of merged `plugins`.

    At a point come first the plugins that are enabled there and in multiPoint too (in the order given there),
    then the rest of multiPoint, then the others enabled there. Plugins disabled at the point don't come through
    multiPoint, and none does if "*" is disabled.

    Raises ConfigError with all that kube-scheduler would refuse: a plugin enabled twice or at a point that it
    doesn't implement, not exactly one queue sort plugin, no bind plugin, several placement generators, weights
    that overflow.
    """
    errors: list[FieldError] = []
    points: dict[str, tuple[str, ...]] = {}
    for point, (field, interface) in EXTENSION_POINTS.items():
        at = f"{path}.plugins.{point}" if path else f"plugins.{point}"
        listed = _listed(getattr(plugins, field), point, interface, implements, at, errors)
        points[point] = _with_multi_point(plugins, field, point, interface, implements, listed, at, errors)
    errors += _count_errors(points, scheduler_name)
    score_weights = _weights(plugins, "score", points["score"], implements, errors)
    placement_weights = _weights(plugins, "placementScore", points["placementScore"], implements, errors)
    if errors:
        raise ConfigError("", errors)
    return ExpandedProfile(points=points, score_weights=score_weights, placement_score_weights=placement_weights)


def check_common_queue_sort(profiles: Sequence[tuple[Profile, ExpandedProfile]]) -> None:
    """Profiles share one queue, so all must sort it with the same plugin and arguments.

    Raises ConfigError that names the profile that differs from the first.
    """
    errors = []
    first_profile, first = profiles[0]
    sorter = first.points["queueSort"][0]
    for i, (profile, expanded) in enumerate(profiles[1:], 1):
        other, name = expanded.points["queueSort"][0], profile.scheduler_name
        at = f"profiles[{i}].plugins.queueSort"
        if other != sorter:
            detail = f'different queue sort plugins for profile "{name}": "{other}", first: "{sorter}"'
            errors.append(plain(detail, at))
        elif profile.args(sorter) != first_profile.args(sorter):
            errors.append(plain(f'different queue sort plugin args for profile "{name}"', at))
    if errors:
        raise ConfigError("", errors)


def _listed(
    plugin_set: PluginSet,
    point: str,
    interface: str,
    implements: Implements,
    path: str,
    errors: list[FieldError],
) -> list[str]:
    """The plugins that are enabled at the point itself, in order (updatePluginList)."""
    names: list[str] = []
    for i, plugin in enumerate(plugin_set.enabled):
        at = f"{path}.enabled[{i}]"
        if not implements(plugin.name, point):
            errors.append(plain(f'plugin "{plugin.name}" does not extend {interface} plugin', at))
        elif plugin.name in names:
            errors.append(plain(f'plugin "{plugin.name}" already registered as "{interface}"', at))
        else:
            names.append(plugin.name)
    return names


def _with_multi_point(
    plugins: Plugins,
    field: str,
    point: str,
    interface: str,
    implements: Implements,
    listed: Sequence[str],
    path: str,
    errors: list[FieldError],
) -> tuple[str, ...]:
    disabled = {plugin.name for plugin in getattr(plugins, field).disabled}
    if ALL in disabled:
        return tuple(listed)
    from_multi_point: list[str] = []
    overridden: set[str] = set()
    for plugin in plugins.multi_point.enabled:
        if not implements(plugin.name, point) or plugin.name in disabled:
            continue
        if plugin.name in listed:
            overridden.add(plugin.name)
        elif plugin.name in from_multi_point:
            errors.append(plain(f'plugin "{plugin.name}" already registered as "{interface}"', path))
        else:
            from_multi_point.append(plugin.name)
    first = [name for name in listed if name in overridden]
    last = [name for name in listed if name not in overridden]
    return (*first, *from_multi_point, *last)


def _count_errors(points: Mapping[str, Sequence[str]], scheduler_name: str) -> list[FieldError]:
    profile = f'profile with scheduler name "{scheduler_name}"'
    errors = []
    if (sorters := len(points["queueSort"])) != 1:
        errors.append(plain(f"only one queue sort plugin required for {profile}, but got {sorters}"))
    if not points["bind"]:
        errors.append(plain(f"at least one bind plugin is needed for {profile}"))
    if len(points["placementGenerate"]) > 1:
        errors.append(plain(f"at most one placement generate plugin is allowed for {profile}"))
    return errors


def _weights(
    plugins: Plugins, point: str, running: Sequence[str], implements: Implements, errors: list[FieldError]
) -> dict[str, int]:
    """Weights by plugin: the point's entry wins over multiPoint's, 0 counts as 1 (getValidScoreWeights)."""
    own: PluginSet = getattr(plugins, EXTENSION_POINTS[point][0])
    weights: dict[str, int] = {}
    total = 0
    for plugin in (*own.enabled, *plugins.multi_point.enabled):
        if plugin.name in weights or not implements(plugin.name, point):
            continue
        weights[plugin.name] = plugin.weight or 1
        total += weights[plugin.name] * _MAX_NODE_SCORE
        if total > _MAX_TOTAL_SCORE:
            kind = "score plugins" if point == "score" else "placement score plugins"
            errors.append(plain(f"{kind}: total score of Score plugins could overflow"))
            break
    return {name: weights[name] for name in running if name in weights}
