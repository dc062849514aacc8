"""What SIGUSR2 does: compare the caches with what the API server told, and dump them to the log.

As pkg/scheduler/backend/cache/debugger.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scheduler.client import kinds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from scheduler.app.pod_resources import PodResources
    from scheduler.cache.pods import PodInfo
    from scheduler.client.informers import Informers
    from scheduler.cycle.scheduler import Scheduler

log = logging.getLogger(__name__)


def differences(actual: Collection[str], cached: Collection[str]) -> tuple[list[str], list[str]]:
    """What is missing in the cache, and what should not be there, both sorted."""
    return sorted(set(actual) - set(cached)), sorted(set(cached) - set(actual))


class CacheDebugger:
    """Compares and dumps; `nodes` gives the names of all nodes and `pods` the uids of all pods of the API server,
    `others` the uids of those that wait for other schedulers and so are in no cache."""

    def __init__(
        self, scheduler: Scheduler, *, nodes: Iterable[str], pods: Iterable[str], others: Collection[str] = ()
    ) -> None:
        self._scheduler = scheduler
        self._nodes = list(nodes)
        self._pods = [uid for uid in pods if uid not in others]

    def run(self) -> None:
        """Both, into the log."""
        self.compare()
        self.dump()

    def compare(self) -> bool:
        """Whether the caches hold what they should; what is amiss goes into the log."""
        scheduler = self._scheduler
        cached = {pod.uid for pod in scheduler.state.pods} | {pod.uid for pod in scheduler.unscheduled}
        missed_nodes, redundant_nodes = differences(self._nodes, scheduler.state.nodes.rows)
        missed_pods, redundant_pods = differences(self._pods, cached)
        if missed_nodes or redundant_nodes:
            log.info("Cache mismatch: missedNodes=%s redundantNodes=%s", missed_nodes, redundant_nodes)
        if missed_pods or redundant_pods:
            log.info("Cache mismatch: missedPods=%s redundantPods=%s", missed_pods, redundant_pods)
        return not (missed_nodes or redundant_nodes or missed_pods or redundant_pods)

    def dump(self) -> None:
        """Nodes with their pods, and the queue, into the log."""
        names = self._scheduler.state.nodes.rows
        log.info("Dump of cached NodeInfo:\n%s", "\n\n".join(self._node(name) for name in names))
        pending = self._scheduler.queue.pending()
        summary = "; ".join(f"{name}:{len(entries)}" for name, entries in pending.items())
        waiting = (entry.pod for entries in pending.values() for entry in entries)
        log.info("Dump of scheduling queue: %s\n%s", summary, "\n".join(map(_pod, waiting)))

    def _node(self, name: str) -> str:
        state = self._scheduler.state
        nodes, row = state.nodes, state.nodes.rows[name]
        pods = state.pods.on_node(name)
        lines = [
            f"Node name: {name}",
            f"Requested Resources: {_amounts(nodes.resources, nodes.requested[:, row])}",
            f"Allocatable Resources: {_amounts(nodes.resources, nodes.allocatable[:, row])}",
            f"Scheduled Pods(number: {len(pods)}):",
            *map(_pod, pods),
        ]
        nominated = state.nominations.on_node(name)
        if nominated:
            lines += [f"Nominated Pods(number: {len(nominated)}):", *map(_pod, nominated)]
        return "\n".join(lines)


def debugger_of(scheduler: Scheduler, informers: Informers, resources: PodResources) -> CacheDebugger:
    """One that compares with what informers have at this moment; `resources` knows the pods of others."""
    nodes, pods = informers.informer(kinds.NODES), informers.informer(kinds.PODS)
    uids = (pods.uid(*key) for key in pods.keys())  # noqa: SIM118 (a method, not a dict's)
    return CacheDebugger(
        scheduler,
        nodes=(name for _, name in nodes.keys()),  # noqa: SIM118
        pods=(uid for uid in uids if uid is not None),
        others=resources.others,
    )


def _amounts(resources: dict[str, int], column: Iterable[int]) -> str:
    amounts = list(column)
    return " ".join(f"{name}={amounts[index]}" for name, index in resources.items())


def _pod(pod: PodInfo) -> str:
    return (
        f"name: {pod.name}, namespace: {pod.namespace}, uid: {pod.uid}, phase: {pod.phase}, "
        f"nominated node: {pod.nominated_node_name}"
    )
