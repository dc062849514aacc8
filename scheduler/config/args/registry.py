"""Which plugin takes which arguments."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from scheduler.config.args.default_preemption import DefaultPreemptionArgs
from scheduler.config.args.dynamic_resources import DynamicResourcesArgs
from scheduler.config.args.inter_pod_affinity import InterPodAffinityArgs
from scheduler.config.args.node_affinity import NodeAffinityArgs
from scheduler.config.args.node_resources_balanced_allocation import NodeResourcesBalancedAllocationArgs
from scheduler.config.args.node_resources_fit import NodeResourcesFitArgs
from scheduler.config.args.pod_topology_spread import PodTopologySpreadArgs
from scheduler.config.args.volume_binding import VolumeBindingArgs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.config.args.base import PluginArgs

IN_TREE_ARGS: Mapping[str, type[PluginArgs]] = MappingProxyType(
    {
        "DefaultPreemption": DefaultPreemptionArgs,
        "DynamicResources": DynamicResourcesArgs,
        "InterPodAffinity": InterPodAffinityArgs,
        "NodeAffinity": NodeAffinityArgs,
        "NodeResourcesBalancedAllocation": NodeResourcesBalancedAllocationArgs,
        "NodeResourcesFit": NodeResourcesFitArgs,
        "PodTopologySpread": PodTopologySpreadArgs,
        "VolumeBinding": VolumeBindingArgs,
    }
)


class ArgsRegistry:
    """Plugin names and the args structs that their pluginConfig is decoded into. Immutable."""

    def __init__(self, types: Mapping[str, type[PluginArgs]] = IN_TREE_ARGS) -> None:
        self._types = MappingProxyType(dict(types))

    def extended(self, types: Mapping[str, type[PluginArgs]]) -> ArgsRegistry:
        """This registry with the args of users' plugins.

        Raises ValueError if one of them is registered already: in-tree plugins keep their arguments.
        """
        if taken := sorted(set(types) & set(self._types)):
            raise ValueError(f"arguments are registered already for {', '.join(taken)}")
        return ArgsRegistry({**self._types, **types})

    def get(self, plugin: str) -> type[PluginArgs] | None:
        """The args struct of `plugin`, or None if it takes none that are typed."""
        return self._types.get(plugin)

    def __contains__(self, plugin: object) -> bool:
        return plugin in self._types
