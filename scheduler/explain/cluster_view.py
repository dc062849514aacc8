"""Nodes, the pods on them, and the scheduler at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from scheduler.api.times import format_time
from scheduler.cache.order import zone_key
from scheduler.explain.decision_view import ERROR, SCHEDULED, UNSCHEDULABLE
from scheduler.explain.places import queue_counts
from scheduler.explain.views import NodePods, NodesView, Overview
from scheduler.version import KUBERNETES_VERSION, __version__

if TYPE_CHECKING:
    from collections.abc import Hashable

    from scheduler.cache.state import ClusterState
    from scheduler.cycle.scheduler import Scheduler
    from scheduler.explain.records import Records

_RESULTS: Final = {"scheduled": SCHEDULED, "unschedulable": UNSCHEDULABLE, "error": ERROR}


def nodes_view(state: ClusterState, now: float) -> NodesView:
    """All nodes by name, straight from the columns. `taints` has the taints of each node in one text."""
    table = state.nodes
    names = sorted(table.rows)
    rows = np.array([table.rows[name] for name in names], np.intp)
    taints = {ident: _taints(table.taints.values[ident]) for ident in np.unique(table.taints.ids[rows]).tolist()}
    return NodesView(
        time=format_time(now),
        names=tuple(names),
        zones=tuple(zone_key(table.node(row))[1] for row in rows.tolist()),
        unschedulable=tuple(table.unschedulable[rows].tolist()),
        pods=tuple(table.pod_count[rows].tolist()),
        allowed_pods=tuple(table.allowed_pods[rows].tolist()),
        resources=tuple(table.resources),
        allocatable={name: tuple(table.allocatable[index][rows].tolist()) for name, index in table.resources.items()},
        requested={name: tuple(table.requested[index][rows].tolist()) for name, index in table.resources.items()},
        taints=tuple(taints[ident] for ident in table.taints.ids[rows].tolist()),
    )


def node_pods(state: ClusterState, name: str) -> NodePods | None:
    """The pods of a node by name, those on their way to it included; None if there is no such node."""
    if name not in state.nodes:
        return None
    return NodePods(name=name, pods=tuple(sorted(pod.key for pod in state.pods.on_node(name))))


def overview(scheduler: Scheduler, records: Records | None, *, leader: bool, started: float, now: float) -> Overview:
    """The scheduler at a glance; `records` is None where none are kept. Times are seconds since the epoch."""
    counts = dict.fromkeys(_RESULTS.values(), 0)
    for (result, _), value in scheduler.metrics.attempt_counts().items():
        counts[_RESULTS[result]] += value
    return Overview(
        time=format_time(now),
        version=__version__,
        kubernetes_version=KUBERNETES_VERSION,
        leader=leader,
        started=format_time(started),
        profiles=tuple(scheduler.profiles),
        nodes=len(scheduler.state.nodes),
        pods=len(scheduler.state.pods),
        queues=queue_counts(scheduler),
        counts=counts,
        records=0 if records is None else len(records),
        bytes=0 if records is None else records.bytes,
        recording=records is not None,
    )


def _taints(taints: Hashable) -> str:
    assert isinstance(taints, tuple)
    return ", ".join(f"{t.key}={t.value}:{t.effect}" if t.value else f"{t.key}:{t.effect}" for t in taints)
