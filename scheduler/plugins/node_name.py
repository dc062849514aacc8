"""NodeName: a pod whose spec.nodeName is set goes to that node only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scheduler.framework import names
from scheduler.framework.events import ActionType, EventHint, EventResource
from scheduler.framework.interface import EnqueueExtensions, FilterPlugin, NodeNames, PreFilterPlugin
from scheduler.framework.status import Status, unresolvable

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from scheduler.cache.nodes import NodeView
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Codes

REASON: Final = "node(s) didn't match the requested node name"


class NodeName(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """Source: pkg/scheduler/framework/plugins/nodename/node_name.go."""

    name = names.NODE_NAME
    sees_labels = False
    hints_see_labels = False

    def pre_filter(self, cycle: Cycle) -> Status | NodeNames | None:
        """Restricts the nodes to the named one."""
        wanted = cycle.pod.node_name
        return NodeNames(frozenset((wanted,))) if wanted else None

    def filter(self, cycle: Cycle, nodes: NodeView) -> Codes | None:
        """1 on all nodes but the named one."""
        wanted = cycle.pod.node_name
        if not wanted:
            return None
        codes: Codes = (nodes.indices != nodes.table.rows.get(wanted, -1)).view(np.uint8)
        return codes

    def code_at(self, cycle: Cycle, row: int) -> int:
        """The same of one node."""
        wanted = cycle.pod.node_name
        return int(bool(wanted) and cycle.state.nodes.rows.get(wanted) != row)

    def filter_key(self, cycle: Cycle) -> Hashable:
        """Nothing but what the epoch is."""
        del cycle
        return ()

    def epoch(self, cycle: Cycle) -> Hashable:
        """The name, which is not in the shape."""
        return cycle.pod.node_name

    def status(self, cycle: Cycle, code: int) -> Status:
        """The one reason."""
        del cycle, code
        return unresolvable(REASON)

    def events_to_register(self) -> Sequence[EventHint]:
        """Any new node."""
        return [EventHint(EventResource.NODE, ActionType.ADD)]


def make(args: Any, handle: Handle) -> NodeName:
    """The plugin; it takes no arguments."""
    del args, handle
    return NodeName()
