"""NodeUnschedulable: keep pods off cordoned nodes unless they tolerate the taint that stands for the cordon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scheduler.api.objects import Taint
from scheduler.api.tolerations import NO_SCHEDULE, tolerated_by_any
from scheduler.cache.changes import Change
from scheduler.framework import names
from scheduler.framework.events import ActionType, EventHint, EventResource, QueueingHint
from scheduler.framework.interface import EnqueueExtensions, FilterPlugin, PreFilterPlugin
from scheduler.framework.status import Status, unresolvable

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from scheduler.api.objects import Node
    from scheduler.cache.nodes import NodeView
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.shapes import PodShape
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Codes

REASON: Final = "node(s) were unschedulable"
CORDON: Final = Taint(key="node.kubernetes.io/unschedulable", effect=NO_SCHEDULE)


def tolerates_cordon(shape: PodShape) -> bool:
    """Whether pods of the shape may go to cordoned nodes."""
    known: bool | None = shape.common.get(names.NODE_UNSCHEDULABLE)
    if known is None:
        known = shape.common[names.NODE_UNSCHEDULABLE] = tolerated_by_any(CORDON, shape.pod.spec.tolerations)
    return known


class NodeUnschedulable(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """Source: pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go."""

    name = names.NODE_UNSCHEDULABLE
    sees_labels = False
    hints_see_labels = False
    depends = Change.TAINTS

    def pre_filter(self, cycle: Cycle) -> None:
        """Nothing to prepare, and no pod is skipped."""
        del cycle

    def pre_filter_settled(self, cycle: Cycle) -> bool:
        """It depends on nothing but the shape."""
        del cycle
        return True

    def filter_key(self, cycle: Cycle) -> Hashable:
        """Whether the pod tolerates the cordon."""
        return tolerates_cordon(cycle.shape)

    def filter(self, cycle: Cycle, nodes: NodeView) -> Codes | None:
        """1 on cordoned nodes."""
        if tolerates_cordon(cycle.shape):
            return None
        cordoned = nodes.unschedulable
        return cordoned.astype(np.uint8) if cordoned.any() else None

    def code_at(self, cycle: Cycle, row: int) -> int:
        """The same of one node."""
        return int(cycle.state.nodes.unschedulable.item(row) and not tolerates_cordon(cycle.shape))

    def status(self, cycle: Cycle, code: int) -> Status:
        """The one reason."""
        del cycle, code
        return unresolvable(REASON)

    def events_to_register(self) -> Sequence[EventHint]:
        """New and uncordoned nodes, and tolerations that the pod itself gets."""
        return [
            EventHint(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT, self.after_node_change),
            EventHint(EventResource.TARGET_POD, ActionType.UPDATE_POD_TOLERATION, self.after_toleration_change),
        ]

    def after_node_change(self, pod: PodInfo, old: Node | None, new: Node) -> QueueingHint:
        """A node that came, or was cordoned, and is not."""
        del pod
        was_closed = old is None or old.spec.unschedulable
        return QueueingHint.QUEUE if was_closed and not new.spec.unschedulable else QueueingHint.SKIP

    def after_toleration_change(self, pod: PodInfo, old: PodInfo | None, new: PodInfo) -> QueueingHint:
        """The pod tolerates the cordon now. (It did not before, or it would not have been rejected.)"""
        del pod, old
        return QueueingHint.QUEUE if tolerates_cordon(new.shape) else QueueingHint.SKIP


def make(args: Any, handle: Handle) -> NodeUnschedulable:
    """The plugin; it takes no arguments."""
    del args, handle
    return NodeUnschedulable()
