"""NodePorts: keep a pod off nodes where a host port that it wants is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scheduler.cache.changes import Change
from scheduler.cache.ports import ANY_ADDRESS
from scheduler.framework import names
from scheduler.framework.events import ActionType, EventHint, EventResource, QueueingHint
from scheduler.framework.interface import EnqueueExtensions, FilterPlugin, PreFilterPlugin
from scheduler.framework.status import SKIP, Status, error, unschedulable

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from scheduler.cache.nodes import NodeView
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.ports import HostPort
    from scheduler.cache.state import ClusterState
    from scheduler.cache.what_if import WhatIf
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Codes

NAME: Final = names.NODE_PORTS
REASON: Final = "node(s) didn't have free ports for the requested pod ports"

_TAKEN: Final = 1
_NOT_PREPARED: Final = 2


def conflict(wanted: HostPort, used: HostPort) -> bool:
    """Whether two host ports can't be taken on one node; the address 0.0.0.0 stands for all addresses."""
    same_port = (wanted.protocol, wanted.port) == (used.protocol, used.port)
    return same_port and (wanted.address == used.address or ANY_ADDRESS in (wanted.address, used.address))


def ports_in_trial(state: ClusterState, trial: WhatIf, row: int) -> set[HostPort]:
    """The host ports in use on a node while evictions or nominations are tried.

    kube-scheduler keeps them as a set there: a pod that goes frees its ports, be there others with the same ones
    (HostPortInfo.Remove in k8s.io/kube-scheduler/framework/types.go).
    """
    node = state.nodes.name(row)
    steps = [(sign, pod) for sign, pod in trial.steps if pod.node_name == node]
    before = {pod.uid: pod for pod in state.pods.on_node(node)}
    for sign, pod in reversed(steps):
        if sign > 0:
            del before[pod.uid]
        else:
            before[pod.uid] = pod
    used = {port for pod in before.values() for port in pod.usage.ports}
    for sign, pod in steps:
        if sign > 0:
            used.update(pod.usage.ports)
        else:
            used.difference_update(pod.usage.ports)
    return used


class NodePorts(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """Source: pkg/scheduler/framework/plugins/nodeports/node_ports.go."""

    name = NAME
    sees_labels = False
    hints_see_labels = False
    depends = Change.PORTS
    may_fail = True

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Skips pods without host ports; filtering fails without this."""
        ports = cycle.shape.usage.ports
        if not ports:
            return SKIP
        cycle.data[NAME] = ports
        return None

    def pre_filter_settled(self, cycle: Cycle) -> bool:
        """It depends on nothing but the shape."""
        del cycle
        return True

    def filter(self, cycle: Cycle, nodes: NodeView) -> Codes | None:
        """1 where one of the ports is taken."""
        ports: tuple[HostPort, ...] | None = cycle.data.get(NAME)
        if ports is None:
            return np.full(len(nodes), _NOT_PREPARED, np.uint8)
        if cycle.trial is not None:
            used = [ports_in_trial(cycle.state, cycle.trial, row) for row in nodes.indices.tolist()]
            return np.array([any(conflict(a, b) for a in ports for b in taken) for taken in used], np.uint8)
        taken = nodes.table.ports.conflicts(ports, nodes.table.size)[nodes.rows]
        return taken.view(np.uint8) if taken.any() else None

    def filter_key(self, cycle: Cycle) -> Hashable:
        """The ports, and whether PreFilter ran."""
        return cycle.shape.usage.ports, NAME in cycle.data

    def status(self, cycle: Cycle, code: int) -> Status:
        """The one reason, unless PreFilter did not run."""
        del cycle
        if code == _TAKEN:
            return unschedulable(REASON)
        return error(f'reading "PreFilter{NAME}" from cycleState: not found')

    def events_to_register(self) -> Sequence[EventHint]:
        """Pods that go, and any new node."""
        return [
            EventHint(EventResource.ASSIGNED_POD, ActionType.DELETE, self.after_pod_deletion),
            EventHint(EventResource.NODE, ActionType.ADD),
        ]

    def after_pod_deletion(self, pod: PodInfo, old: PodInfo, new: PodInfo | None) -> QueueingHint:
        """The pod that went held a port that this one wants."""
        del new
        if not old.node_name and not old.nominated_node_name:
            return QueueingHint.SKIP
        wanted = pod.shape.usage.ports
        freed = any(conflict(port, used) for port in wanted for used in old.usage.ports)
        return QueueingHint.QUEUE if freed else QueueingHint.SKIP


def make(args: Any, handle: Handle) -> NodePorts:
    """The plugin; it takes no arguments."""
    del args, handle
    return NodePorts()
