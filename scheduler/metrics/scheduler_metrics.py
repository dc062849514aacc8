"""The metrics of one scheduler process, under kube-scheduler's names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry

from scheduler.metrics import config_specs, specs
from scheduler.metrics.instruments import (
    Counter,
    CounterSeries,
    Gauge,
    Histogram,
    HistogramSeries,
    Spec,
    exponential_buckets,
)
from scheduler.metrics.labels import attempts_label

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

EVENT_LOOP_LAG = Spec(
    "berth_event_loop_lag_seconds",
    "ALPHA",
    "How much later than asked for the event loop ran a timer, in seconds.",
    buckets=exponential_buckets(0.0001, 2, 15),
)
CYCLE_CPU = Spec(
    "berth_cycle_cpu_seconds",
    "ALPHA",
    "CPU time of one scheduling cycle, without binding, in seconds.",
    labels=("profile",),
    buckets=exponential_buckets(0.00002, 2, 15),
)
DROPPED_EVENTS = Spec(
    "berth_events_dropped_total",
    "ALPHA",
    "Number of Kubernetes events that were not sent because too many were waiting.",
)
DECISION_RECORDS = Spec(
    "berth_decision_records",
    "ALPHA",
    "Number of scheduling attempts whose records are kept.",
)
DECISION_ANNOTATIONS = Spec(
    "berth_decision_annotations_total",
    "ALPHA",
    "Number of scheduling attempts that were to be written to the annotations of their pods, by result: written, "
    "failed, or dropped (too many were waiting, the record or the pod was gone, or there was no room).",
    labels=("result",),
)
DECISION_RECORDS_BYTES = Spec(
    "berth_decision_records_bytes",
    "ALPHA",
    "Memory that the records of scheduling attempts take, in bytes.",
)


class Attempt:
    """Scheduling attempts of one profile that ended in one way: their number and their duration."""

    __slots__ = ("_attempts", "_duration")

    def __init__(self, attempts: CounterSeries, duration: HistogramSeries) -> None:
        self._attempts = attempts
        self._duration = duration

    def observe(self, seconds: float) -> None:
        """Record one attempt that took `seconds`."""
        self._duration.observe(seconds)
        self._attempts.value += 1.0

    @property
    def count(self) -> int:
        """How many there were."""
        return int(self._attempts.value)


class SchedulerMetrics:
    """kube-scheduler's metrics and a few of Berth's, as attributes named like the metric without its prefix.

    Hot code asks once for the series that it writes (`metrics.attempt("scheduled", profile)`,
    `metrics.plugin_evaluation.labels(plugin, point, profile)`) and keeps them. State is not counted along:
    `pending_pods`, `queued_entities`, `inflight_events`, `goroutines`, `cache_size` and `unschedulable_pods`
    are read at scrape from what `read(...)` was given.

    `gates` says whether a feature gate is on; `disabled` names metrics that are kept out of `registry`
    (--disabled-metrics). What is not exposed can be written to all the same.
    """

    def __init__(
        self,
        registry: CollectorRegistry | None = None,
        *,
        gates: Callable[[str], bool] = lambda _gate: True,
        disabled: Collection[str] = (),
    ) -> None:
        self.registry = CollectorRegistry() if registry is None else registry
        self._unexposed = CollectorRegistry()
        self._gates = gates
        self._disabled = frozenset(disabled)
        self._attempts: dict[tuple[str, str], Attempt] = {}
        self._attempts_metrics()
        self._queue_metrics()
        self._framework_metrics()
        self._batch_metrics()
        self._gated_metrics()
        self._own_metrics()

    def attempt(self, result: str, profile: str) -> Attempt:
        """The recorder of attempts with `result` (scheduled, unschedulable, error) in `profile`."""
        found = self._attempts.get((result, profile))
        if found is None:
            found = self._attempts[result, profile] = Attempt(
                self.schedule_attempts.labels(result, profile),
                self.scheduling_attempt_duration.labels(result, profile),
            )
        return found

    def attempt_counts(self) -> dict[tuple[str, str], int]:
        """How many attempts there were, by result and profile."""
        return {key: attempt.count for key, attempt in self._attempts.items()}

    def pod_scheduled(self, attempts: int, seconds: float) -> None:
        """Record a pod bound after `attempts` attempts and `seconds` since it entered the queue."""
        self.pod_scheduling_attempts.labels().observe(attempts)
        self.pod_scheduling_sli_duration.labels(attempts_label(attempts)).observe(seconds)

    def _attempts_metrics(self) -> None:
        self.schedule_attempts = self._counter(specs.SCHEDULE_ATTEMPTS)
        self.scheduling_attempt_duration = self._histogram(specs.SCHEDULING_ATTEMPT_DURATION)
        self.scheduling_algorithm_duration = self._histogram(specs.SCHEDULING_ALGORITHM_DURATION)
        self.pod_scheduling_sli_duration = self._histogram(specs.POD_SCHEDULING_SLI_DURATION)
        self.pod_scheduling_attempts = self._histogram(specs.POD_SCHEDULING_ATTEMPTS)
        self.pod_scheduled_after_flush = self._counter(specs.POD_SCHEDULED_AFTER_FLUSH)
        self.preemption_victims = self._histogram(specs.PREEMPTION_VICTIMS)
        self.preemption_attempts = self._counter(specs.PREEMPTION_ATTEMPTS)

    def _queue_metrics(self) -> None:
        self.pending_pods = self._gauge(specs.PENDING_PODS)
        self.queued_entities = self._gauge(specs.QUEUED_ENTITIES)
        self.inflight_events = self._gauge(specs.INFLIGHT_EVENTS)
        self.unschedulable_pods = self._gauge(specs.UNSCHEDULABLE_PODS)
        self.queue_incoming_pods = self._counter(specs.QUEUE_INCOMING_PODS)
        self.queue_incoming_entities = self._counter(specs.QUEUE_INCOMING_ENTITIES)
        self.queueing_hint_execution_duration = self._histogram(specs.QUEUEING_HINT_EXECUTION_DURATION)
        self.pre_queueing_hint_evaluations = self._counter(specs.PRE_QUEUEING_HINT_EVALUATIONS)
        self.event_handling_duration = self._histogram(specs.EVENT_HANDLING_DURATION)

    def _framework_metrics(self) -> None:
        self.framework_extension_point_duration = self._histogram(specs.FRAMEWORK_EXTENSION_POINT_DURATION)
        self.plugin_execution_duration = self._histogram(specs.PLUGIN_EXECUTION_DURATION)
        self.plugin_evaluation = self._counter(specs.PLUGIN_EVALUATION)
        self.permit_wait_duration = self._histogram(specs.PERMIT_WAIT_DURATION)
        self.goroutines = self._gauge(specs.GOROUTINES)
        self.cache_size = self._gauge(specs.CACHE_SIZE)
        self.volume_binder_cache_requests = self._counter(specs.VOLUME_BINDER_CACHE_REQUESTS)
        self.volume_scheduling_stage_error = self._counter(specs.VOLUME_SCHEDULING_STAGE_ERROR)

    def _batch_metrics(self) -> None:
        self.batch_attempts = self._counter(specs.BATCH_ATTEMPTS)
        self.batch_cache_flushed = self._counter(specs.BATCH_CACHE_FLUSHED)
        self.batch_rescore_attempts = self._counter(specs.BATCH_RESCORE_ATTEMPTS)
        self.batch_rescore_duration = self._histogram(specs.BATCH_RESCORE_DURATION)
        self.get_node_hint_duration = self._histogram(specs.GET_NODE_HINT_DURATION)
        self.store_schedule_results_duration = self._histogram(specs.STORE_SCHEDULE_RESULTS_DURATION)

    def _gated_metrics(self) -> None:
        self.preemption_goroutines_execution = self._counter(
            specs.PREEMPTION_GOROUTINES_EXECUTION, gate="SchedulerAsyncPreemption"
        )
        self.dra_bindingconditions_allocations = self._counter(
            specs.DRA_BINDINGCONDITIONS_ALLOCATIONS, gate="DRADeviceBindingConditions"
        )
        self.dra_bindingconditions_wait_duration = self._histogram(
            specs.DRA_BINDINGCONDITIONS_WAIT_DURATION, gate="DRADeviceBindingConditions"
        )
        self.resourceclaim_creates = self._counter(
            specs.DYNAMIC_RESOURCE_ALLOCATION_RESOURCECLAIM_CREATES, gate="DRAExtendedResource"
        )

    def _own_metrics(self) -> None:
        self.event_loop_lag = self._histogram(EVENT_LOOP_LAG)
        self.cycle_cpu = self._histogram(CYCLE_CPU)
        self.events_dropped = self._counter(DROPPED_EVENTS)
        self.decision_records = self._gauge(DECISION_RECORDS)
        self.decision_records_bytes = self._gauge(DECISION_RECORDS_BYTES)
        self.decision_annotations = self._counter(DECISION_ANNOTATIONS)
        self.config_reloads = self._counter(config_specs.CONFIG_RELOADS)
        self.config_last_success = self._gauge(config_specs.CONFIG_LAST_SUCCESS)
        self.config_info = self._gauge(config_specs.CONFIG_INFO)
        self.config_restart_required = self._gauge(config_specs.CONFIG_RESTART_REQUIRED)
        self.shadow_decisions = self._counter(config_specs.SHADOW_DECISIONS)

    def _counter(self, spec: Spec, *, gate: str = "") -> Counter:
        return Counter(spec, self._registry_of(spec, gate))

    def _gauge(self, spec: Spec) -> Gauge:
        return Gauge(spec, self._registry_of(spec, ""))

    def _histogram(self, spec: Spec, *, gate: str = "") -> Histogram:
        return Histogram(spec, self._registry_of(spec, gate))

    def _registry_of(self, spec: Spec, gate: str) -> CollectorRegistry:
        exposed = spec.name not in self._disabled and (not gate or self._gates(gate))
        return self.registry if exposed else self._unexposed
