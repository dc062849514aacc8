"""What kube-scheduler counts of opportunistic batching for pods that can't be batched; Berth batches none.

Where it is on, kube-scheduler asks for a hint from the pod before in every attempt, and stores the result of every
decision for the pod after. Pods with spreading constraints, the default ones included, can't make use of either
(pkg/scheduler/framework/runtime/batch.go; SignPod of the plugins).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scheduler.metrics.instruments import CounterSeries, HistogramSeries
    from scheduler.metrics.scheduler_metrics import SchedulerMetrics

NO_HINT: Final = "no_hint"
EMPTY_LIST: Final = "empty_list"
NOT_BATCHABLE: Final = "pod_not_batchable"


class UnbatchedPods:
    """The series of one profile, each looked up when it is first needed."""

    __slots__ = ("_flushed", "_metrics", "_no_hint", "_profile")

    def __init__(self, metrics: SchedulerMetrics, profile_name: str) -> None:
        self._metrics = metrics
        self._profile = profile_name
        self._no_hint: tuple[CounterSeries, HistogramSeries] | None = None
        self._flushed: dict[str, tuple[CounterSeries, HistogramSeries]] = {}

    def filtering(self) -> None:
        """The PreFilter plugins let the pod in: no hint says on which node to try it first."""
        if self._no_hint is None:
            metrics, profile = self._metrics, self._profile
            duration = metrics.get_node_hint_duration.labels(NO_HINT, profile)
            self._no_hint = metrics.batch_attempts.labels(profile, NO_HINT), duration
        attempts, duration = self._no_hint
        attempts.inc()
        duration.observe(0.0)

    def decided(self, feasible: int) -> None:
        """A node was found among so many feasible ones, and nothing is kept of the others."""
        reason = NOT_BATCHABLE if feasible > 1 else EMPTY_LIST
        series = self._flushed.get(reason)
        if series is None:
            metrics, profile = self._metrics, self._profile
            duration = metrics.store_schedule_results_duration.labels(profile)
            series = self._flushed[reason] = metrics.batch_cache_flushed.labels(profile, reason), duration
        flushed, duration = series
        flushed.inc()
        duration.observe(0.0)
