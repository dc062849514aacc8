"""All in-tree plugins by name (pkg/scheduler/framework/plugins/registry.go)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scheduler.framework import names
from scheduler.plugins import (
    default_binder,
    devices_pending,
    image_locality,
    node_affinity,
    node_declared_features,
    node_name,
    node_ports,
    node_unschedulable,
    priority_sort,
    scheduling_gates,
    taint_toleration,
)
from scheduler.plugins.defaultpreemption import plugin as default_preemption
from scheduler.plugins.interpodaffinity import plugin as inter_pod_affinity
from scheduler.plugins.noderesources import balanced_allocation, fit
from scheduler.plugins.nodevolumelimits import plugin as node_volume_limits
from scheduler.plugins.podtopologyspread import plugin as pod_topology_spread
from scheduler.plugins.volumebinding import plugin as volume_binding
from scheduler.plugins.volumerestrictions import plugin as volume_restrictions
from scheduler.plugins.volumezone import plugin as volume_zone

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.framework.handle import Factory

IN_TREE: Final[Mapping[str, Factory]] = MappingProxyType(
    {
        names.SCHEDULING_GATES: scheduling_gates.make,
        names.PRIORITY_SORT: priority_sort.make,
        names.NODE_NAME: node_name.make,
        names.NODE_UNSCHEDULABLE: node_unschedulable.make,
        names.TAINT_TOLERATION: taint_toleration.make,
        names.NODE_AFFINITY: node_affinity.make,
        names.NODE_PORTS: node_ports.make,
        names.NODE_RESOURCES_FIT: fit.make,
        names.VOLUME_RESTRICTIONS: volume_restrictions.make,
        names.NODE_VOLUME_LIMITS: node_volume_limits.make,
        names.VOLUME_BINDING: volume_binding.make,
        names.VOLUME_ZONE: volume_zone.make,
        names.POD_TOPOLOGY_SPREAD: pod_topology_spread.make,
        names.INTER_POD_AFFINITY: inter_pod_affinity.make,
        names.DYNAMIC_RESOURCES: devices_pending.make,
        names.DEFAULT_PREEMPTION: default_preemption.make,
        names.NODE_RESOURCES_BALANCED_ALLOCATION: balanced_allocation.make,
        names.IMAGE_LOCALITY: image_locality.make,
        names.DEFAULT_BINDER: default_binder.make,
        names.NODE_DECLARED_FEATURES: node_declared_features.make,
    }
)
