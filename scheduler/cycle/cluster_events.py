"""From a changed object to the cluster events that it stands for (pkg/scheduler/framework/events.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.framework.events import ActionType, ClusterEvent, EventResource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.api.objects import Node
    from scheduler.cache.pods import PodInfo

ASSIGNED_POD_ADD: Final = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD)
ASSIGNED_POD_UPDATE: Final = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.UPDATE)
ASSIGNED_POD_DELETE: Final = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
UNSCHEDULED_POD_ADD: Final = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.ADD)
UNSCHEDULED_POD_UPDATE: Final = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.UPDATE)
UNSCHEDULED_POD_DELETE: Final = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.DELETE)
NODE_ADD: Final = ClusterEvent(EventResource.NODE, ActionType.ADD)
NODE_DELETE: Final = ClusterEvent(EventResource.NODE, ActionType.DELETE)

_SOMETHING: Final = {
    resource: ClusterEvent(resource, ActionType.UPDATE)
    for resource in (EventResource.ASSIGNED_POD, EventResource.TARGET_POD, EventResource.UNSCHEDULED_POD)
}
"""An update that changed nothing of what scheduling looks at."""


def pod_events(old: PodInfo, new: PodInfo, *, target: bool) -> list[ClusterEvent]:
    """What changed in a pod that matters; `target` if the pod waiting for it is that very pod."""
    if new.node_name:
        resource = EventResource.ASSIGNED_POD
    else:
        resource = EventResource.TARGET_POD if target else EventResource.UNSCHEDULED_POD
    if old.shape is new.shape and old.usage is new.usage and old.gates == new.gates:
        return [_SOMETHING[resource]]
    actions = []
    if old.shape.labels != new.shape.labels:
        actions.append(ActionType.UPDATE_POD_LABEL)
    if old.usage is not new.usage:
        before, after = old.usage.in_thousandths(), new.usage.in_thousandths()
        if _less(after, before):
            actions.append(ActionType.UPDATE_POD_SCALE_DOWN)
        if _less(before, after):
            actions.append(ActionType.UPDATE_POD_SCALE_UP)
    if old.gates and not new.gates:
        actions.append(ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
    if len(old.shape.pod.spec.tolerations) != len(new.shape.pod.spec.tolerations):
        actions.append(ActionType.UPDATE_POD_TOLERATION)
    return [ClusterEvent(resource, action) for action in actions or (ActionType.UPDATE,)]


def node_events(old: Node, new: Node) -> list[ClusterEvent]:
    """What changed in a node that matters; nothing, if nothing did."""
    actions = []
    if old.spec.unschedulable and not new.spec.unschedulable:
        actions.append(ActionType.UPDATE_NODE_TAINT)
    if old.status.allocatable != new.status.allocatable:
        actions.append(ActionType.UPDATE_NODE_ALLOCATABLE)
    if old.metadata.labels != new.metadata.labels:
        actions.append(ActionType.UPDATE_NODE_LABEL)
    if old.spec.taints != new.spec.taints:
        actions.append(ActionType.UPDATE_NODE_TAINT)
    if _conditions(old) != _conditions(new):
        actions.append(ActionType.UPDATE_NODE_CONDITION)
    if old.metadata.annotations != new.metadata.annotations:
        actions.append(ActionType.UPDATE_NODE_ANNOTATION)
    if old.status.declared_features != new.status.declared_features:
        actions.append(ActionType.UPDATE_NODE_DECLARED_FEATURE)
    return [ClusterEvent(EventResource.NODE, action) for action in actions]


def _less(smaller: Mapping[str, int], larger: Mapping[str, int]) -> bool:
    """Whether any resource of `larger` is requested less in `smaller`, or no longer."""
    return any(resource not in smaller or smaller[resource] < amount for resource, amount in larger.items())


def _conditions(node: Node) -> dict[str, str]:
    return {condition.type: condition.status for condition in node.status.conditions}
