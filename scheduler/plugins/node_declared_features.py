"""NodeDeclaredFeatures: a pod that needs a feature of the kubelet goes to nodes that declare it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scheduler.cache.changes import Change
from scheduler.framework import names
from scheduler.framework.by_value import ByValue
from scheduler.framework.events import ActionType, EventHint, EventResource, QueueingHint
from scheduler.framework.interface import EnqueueExtensions, FilterPlugin, PreFilterPlugin
from scheduler.framework.status import SKIP, Status, error, unresolvable

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from scheduler.api.objects import Node, PodSpec
    from scheduler.cache.nodes import NodeView
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.shapes import PodShape
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Codes

NAME: Final = names.NODE_DECLARED_FEATURES
REASON: Final = "node(s) didn't match Pod's required features"

_UNMATCHED: Final = 1
_NOT_PREPARED: Final = 2


def _restarts_all_containers(spec: PodSpec) -> bool:
    containers = (*spec.containers, *spec.init_containers)
    return any(rule.action == "RestartAllContainers" for c in containers for rule in c.restart_policy_rules)


def _has_user_namespace_on_host_network(spec: PodSpec) -> bool:
    return spec.host_network and spec.host_users is False


def _has_bind_mount_options(spec: PodSpec) -> bool:
    containers = (*spec.containers, *spec.init_containers)
    return any(mount.bind_mount_options for c in containers for mount in c.volume_mounts)


#: The features that a pod can need when it is scheduled (component-helpers, nodedeclaredfeatures/features).
_NEEDS: Final[dict[str, Callable[[PodSpec], bool]]] = {
    "RestartAllContainersOnContainerExits": _restarts_all_containers,
    "UserNamespacesHostNetworkSupport": _has_user_namespace_on_host_network,
    "VolumeBindMountOptions": _has_bind_mount_options,
}


class Needs:
    """The features that a shape needs; `unmet` is 1 for sets of features that lack any of them (uint8)."""

    __slots__ = ("features", "unmet")

    def __init__(self, spec: PodSpec) -> None:
        features = frozenset(feature for feature, needs in _NEEDS.items() if needs(spec))
        self.features = features
        self.unmet = ByValue(lambda declared: not features <= declared, np.uint8)


def needs_of(shape: PodShape) -> Needs:
    """The needs of a shape."""
    known: Needs | None = shape.common.get(NAME)
    if known is None:
        known = shape.common[NAME] = Needs(shape.pod.spec)
    return known


class NodeDeclaredFeatures(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """Source: pkg/scheduler/framework/plugins/nodedeclaredfeatures/nodedeclaredfeatures.go.

    Without the feature gate of the same name it does nothing.
    """

    name = NAME
    sees_labels = False
    hints_see_labels = False
    depends = Change.FEATURES
    may_fail = True

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Skips pods that need no feature; filtering fails without this."""
        if not self._enabled:
            return SKIP
        needs = needs_of(cycle.shape)
        if not needs.features:
            return SKIP
        cycle.data[NAME] = needs
        return None

    def pre_filter_settled(self, cycle: Cycle) -> bool:
        """It depends on nothing but the shape."""
        del cycle
        return True

    def filter(self, cycle: Cycle, nodes: NodeView) -> Codes | None:
        """1 where a feature is not declared."""
        if not self._enabled:
            return None
        needs: Needs | None = cycle.data.get(NAME)
        if needs is None:
            return np.full(len(nodes), _NOT_PREPARED, np.uint8)
        return needs.unmet.gather(nodes.table.features, nodes.rows)

    def filter_key(self, cycle: Cycle) -> Hashable:
        """The features that the pod needs, and whether PreFilter ran."""
        return needs_of(cycle.shape).features, NAME in cycle.data

    def status(self, cycle: Cycle, code: int) -> Status:
        """The one reason, unless PreFilter did not run."""
        del cycle
        if code == _UNMATCHED:
            return unresolvable(REASON)
        return error(f'error reading "PreFilter{NAME}" from cycle-state: not found')

    def events_to_register(self) -> Sequence[EventHint]:
        """New nodes, nodes that declare other features, and updates of the pod itself."""
        if not self._enabled:
            return []
        node_events = ActionType.ADD | ActionType.UPDATE_NODE_DECLARED_FEATURE
        return [
            EventHint(EventResource.NODE, node_events, self.after_node_change),
            EventHint(EventResource.TARGET_POD, ActionType.UPDATE, self.after_pod_update),
        ]

    def after_node_change(self, pod: PodInfo, old: Node | None, new: Node) -> QueueingHint:
        """The node is new, or declares other features than before."""
        del pod
        unchanged = old is not None and old.status.declared_features == new.status.declared_features
        return QueueingHint.SKIP if unchanged else QueueingHint.QUEUE

    def after_pod_update(self, pod: PodInfo, old: PodInfo, new: PodInfo) -> QueueingHint:
        """The pod needs other features than before."""
        del pod
        unchanged = needs_of(old.shape).features == needs_of(new.shape).features
        return QueueingHint.SKIP if unchanged else QueueingHint.QUEUE


def make(args: Any, handle: Handle) -> NodeDeclaredFeatures:
    """The plugin; it takes no arguments."""
    del args
    return NodeDeclaredFeatures(enabled=handle.feature_enabled(NAME))
