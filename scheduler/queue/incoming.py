"""What comes into which queue, and by which event: the names of events of the queue's own, and the metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.framework.events import ActionType, ClusterEvent, EventResource
from scheduler.queue.hints import QUEUE_AFTER_BACKOFF, QUEUE_IMMEDIATELY, SKIP, Strategy

if TYPE_CHECKING:
    from scheduler.metrics.instruments import CounterSeries
    from scheduler.metrics.scheduler_metrics import SchedulerMetrics

SCHEDULE_ATTEMPT_FAILURE: Final = "ScheduleAttemptFailure"
BACKOFF_COMPLETE: Final = "BackoffComplete"
POP_FROM_BACKOFF: Final = "PopFromBackoffQ"
FORCE_ACTIVATE: Final = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "ForceActivate")
UNSCHEDULABLE_TIMEOUT: Final = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "UnschedulableTimeout")
PROFILE_UPDATE: Final = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "ProfileUpdate")
"""A profile was changed while the scheduler runs; kube-scheduler has no such thing."""
UNSCHEDULED_POD_ADD: Final = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.ADD)

_PLACES: Final = {QUEUE_IMMEDIATELY: "active", QUEUE_AFTER_BACKOFF: "backoff", SKIP: "unschedulable"}


class Incoming:
    """Counts pods that come into a queue (recordIncomingEntitiesMetrics in scheduling_queue.go)."""

    __slots__ = ("_metrics", "_pods")

    def __init__(self, metrics: SchedulerMetrics) -> None:
        self._metrics = metrics
        self._pods: dict[tuple[str, str], CounterSeries] = {}

    def count(self, place: str, event: str, strategy: Strategy | None, pods: int = 1) -> None:
        """Pods came to `place`. They count as entities, too, unless they went just where the strategy sent them."""
        series = self._pods.get((place, event))
        if series is None:
            series = self._pods[place, event] = self._metrics.queue_incoming_pods.labels(place, event)
        series.value += pods
        if strategy is None or place != _PLACES[strategy]:
            self._metrics.queue_incoming_entities.labels(place, event, "pod").inc(pods)
