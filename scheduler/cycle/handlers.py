"""From the informers into cluster state and queue (pkg/scheduler/eventhandlers.go)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from scheduler.cycle.cluster_events import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    ASSIGNED_POD_UPDATE,
    NODE_ADD,
    NODE_DELETE,
    UNSCHEDULED_POD_ADD,
    UNSCHEDULED_POD_DELETE,
    UNSCHEDULED_POD_UPDATE,
    node_events,
    pod_events,
)
from scheduler.framework.events import ActionType, ClusterEvent, EventResource

if TYPE_CHECKING:
    from collections.abc import Collection

    from scheduler.api.objects import Namespace, Node, Pod
    from scheduler.cache.pods import PodInfo
    from scheduler.cycle.scheduler import Scheduler
    from scheduler.metrics.instruments import HistogramSeries

_RESOURCES = {resource.value.rsplit("/", 1)[-1]: resource for resource in EventResource}


class EventHandlers:
    """Handlers for informers; each takes (old, new), None where there is no such version.

    `responsible` are the scheduler names of the profiles.
    """

    def __init__(self, scheduler: Scheduler, responsible: Collection[str]) -> None:
        self._scheduler = scheduler
        self._state = scheduler.state
        self._queue = scheduler.queue
        self._responsible = frozenset(responsible)
        self._handling: dict[str, HistogramSeries] = {}

    # nodes

    def node(self, _old: Node | None, new: Node | None) -> None:
        """A node came, changed or went. What it was before is taken from the state."""
        start = time.perf_counter()
        name = (new or _old).metadata.name  # type: ignore[union-attr]
        row = self._state.nodes.rows.get(name)
        old = None if row is None else self._state.nodes.node(row)
        if new is None:
            if old is not None:
                self._queue.move_all(NODE_DELETE, old, None)
                self._state.remove_node(name)
                self._handled(NODE_DELETE, start)
            return
        self._state.set_node(new)
        if old is None:
            self._queue.move_all(NODE_ADD, None, new)
            self._handled(NODE_ADD, start)
            return
        for event in node_events(old, new):
            self._queue.move_all(event, old, new)
            self._handled(event, start)

    # pods

    def pod(self, old: Pod | None, new: Pod | None) -> None:
        """A pod came, changed or went. `old` need have no more than its metadata."""
        if new is None:
            assert old is not None
            self._pod_gone(old.metadata.uid)
            return
        pod = self._state.info(new)
        if pod.node_name:
            self._assigned(pod)
        elif pod.scheduler_name in self._responsible:
            self._unassigned(pod)

    def _assigned(self, pod: PodInfo) -> None:
        start = time.perf_counter()
        was_assumed = self._state.is_assumed(pod.uid)
        old = self._state.set_pod(pod)
        if old is None or was_assumed:
            self._queue.move_all(ASSIGNED_POD_ADD, None, pod)
            self._handled(ASSIGNED_POD_ADD, start)
        else:
            for event in pod_events(old, pod, target=False):
                self._queue.move_all(event, old, pod)
                self._handled(event, start)
            self._handled(ASSIGNED_POD_UPDATE, start)
        start = time.perf_counter()
        waited = self._scheduler.unscheduled.remove(pod.uid)
        if waited is not None:
            self._queue.delete(waited)
            self._handled(UNSCHEDULED_POD_DELETE, start)

    def _unassigned(self, pod: PodInfo) -> None:
        start = time.perf_counter()
        old = self._scheduler.unscheduled.get(pod.uid)
        self._scheduler.unscheduled.set(pod)
        if old is None:
            self._queue.add(pod)
            self._handled(UNSCHEDULED_POD_ADD, start)
            return
        if old.resource_version == pod.resource_version and pod.resource_version:
            return
        if self._state.is_assumed(pod.uid):
            if pod.terminating and not old.terminating:
                self._assumed_gone(pod.uid)
        else:
            self._queue.update(old, pod, pod_events(old, pod, target=True))
            if old.nominated_node_name and old.nominated_node_name != pod.nominated_node_name:
                self._nomination_gone(old)
        for event in {UNSCHEDULED_POD_UPDATE, *pod_events(old, pod, target=False)}:
            self._handled(event, start)

    def _pod_gone(self, uid: str) -> None:
        start = time.perf_counter()
        waited = self._scheduler.unscheduled.remove(uid)
        if waited is not None:
            self._queue.delete(waited)
            if self._state.is_assumed(uid):
                self._assumed_gone(uid)
            elif waited.nominated_node_name:
                self._nomination_gone(waited)
            self._handled(UNSCHEDULED_POD_DELETE, start)
            return
        old = self._state.remove_pod(uid)
        if old is not None:
            self._queue.move_all(ASSIGNED_POD_DELETE, old, None)
            self._handled(ASSIGNED_POD_DELETE, start)

    def _nomination_gone(self, pod: PodInfo) -> None:
        """A pod held room on the node it was nominated to, against pods that matter no more than it does."""
        self._queue.move_all(ASSIGNED_POD_DELETE, pod, None, only=lambda other: other.priority <= pod.priority)

    def _assumed_gone(self, uid: str) -> None:
        """A pod on its way to a node is being deleted: free what it holds (handleAssumedPodDeletion)."""
        placed = self._state.pods.get(uid)
        if placed is None:
            return
        if not self._scheduler.waiting.reject(uid):
            self._state.forget(uid)
        self._queue.move_all(ASSIGNED_POD_DELETE, placed, None)

    # everything else

    def namespace(self, old: Namespace | None, new: Namespace | None) -> None:
        """A namespace came, changed or went."""
        if new is not None:
            self._state.set_namespace(new)
        elif old is not None:
            self._state.remove_namespace(old.metadata.name)

    def other(self, kind: str, old: Any, new: Any) -> None:
        """An object of a kind that plugins look up."""
        start = time.perf_counter()
        if new is not None:
            self._state.set_object(kind, new)
        else:
            self._state.remove_object(kind, old.metadata.namespace, old.metadata.name)
        resource = _RESOURCES.get(kind)
        if resource is not None:
            action = ActionType.DELETE if new is None else ActionType.ADD if old is None else ActionType.UPDATE
            event = ClusterEvent(resource, action)
            if self._queue.hints.hints(event):
                self._queue.move_all(event, old, new)
                self._handled(event, start)

    def _handled(self, event: ClusterEvent, start: float) -> None:
        series = self._handling.get(event.label)
        if series is None:
            series = self._handling[event.label] = self._scheduler.metrics.event_handling_duration.labels(event.label)
        series.observe(time.perf_counter() - start)
