"""A queue of one profile with a filter A, a gate G and a clock that stands still."""

from __future__ import annotations

from typing import Any

from scheduler.cache.nominations import Nominations
from scheduler.framework.events import ActionType, ClusterEvent, EventHint, EventResource
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from scheduler.queue.queue import SchedulingQueue
from tests.builders import info, node, pod
from tests.cycle.rig import PROFILE, Clock, profile_of
from tests.framework.stubs import Filter, Gate
from tests.queue.entries import CLUSTER

NODE_ADD = ClusterEvent(EventResource.NODE, ActionType.ADD)
NODE_LABEL = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_LABEL)
POD_LABEL = ClusterEvent(EventResource.TARGET_POD, ActionType.UPDATE_POD_LABEL)
NODE = node("n").build()


class Room:
    """`hint` decides for the filter on new nodes, `gate` is the gate's plugin, `others` are more plugins."""

    def __init__(self, hint: Any = None, others: tuple[Any, ...] = (), **options: Any) -> None:
        self.clock = Clock()
        self.metrics = SchedulerMetrics()
        self.nominations = Nominations()
        self.filter = Filter("A")
        self.filter.hints = [
            EventHint(EventResource.NODE, ActionType.ADD, hint),
            EventHint(EventResource.TARGET_POD, ActionType.UPDATE_POD_LABEL),
        ]
        self.gate = Gate("G")
        self.gate.hints = [EventHint(EventResource.NODE, ActionType.UPDATE_NODE_LABEL)]
        profiles = {PROFILE: profile_of(self.filter, self.gate, *others)}
        self.queue = SchedulingQueue(profiles, self.nominations, self.metrics, clock=self.clock, **options)

    def info(self, name: str, builder: Any = None) -> Any:
        """A record of a pod."""
        return info((builder or pod(name)).scheduler(PROFILE), CLUSTER)

    def add(self, *names: str) -> None:
        """New pods."""
        for name in names:
            self.queue.add(self.info(name))

    def pop(self) -> Any:
        """The next pod."""
        return self.queue.pop()

    def reject(self, entry: Any, *plugins: str, pending: tuple[str, ...] = ()) -> None:
        """Put a popped pod back that plugins turned down; an error without any."""
        entry.unschedulable_plugins = frozenset(plugins)
        entry.pending_plugins = frozenset(pending)
        self.queue.add_unschedulable(entry)

    def park(self, name: str, *plugins: str) -> Any:
        """A pod that was tried and turned down, by A unless told otherwise."""
        self.add(name)
        entry = self.pop()
        self.reject(entry, *(plugins or ("A",)))
        return entry

    def node_added(self, **more: Any) -> None:
        self.queue.move_all(NODE_ADD, None, NODE, **more)

    def where(self) -> dict[str, str]:
        """The queue of each pod that waits."""
        pending = self.queue.pending()
        return {entry.pod.name: place for place, entries in pending.items() for entry in entries}

    def incoming(self) -> dict[tuple[str, str], tuple[float, float]]:
        """(queue, event) -> (pods, entities) that came in."""
        pods, entities = self.metrics.queue_incoming_pods, self.metrics.queue_incoming_entities
        return {
            key: (series.value, entities.labels(*key, "pod").value)
            for key, series in sorted(pods._series.items())
            if series.value
        }
