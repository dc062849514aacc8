"""Metrics of `berth shadow`: how far another scheduler's decisions agree with Berth's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.metrics.instruments import Counter, Histogram, Spec, exponential_buckets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client import CollectorRegistry

OBSERVED_DECISIONS = Spec(
    "berth_observed_decisions_total",
    "ALPHA",
    "Number of decisions of another scheduler that were taken once more, by how they compare: Agreed, OtherOrder, "
    "Sampled or Different.",
    labels=("scheduler", "outcome"),
)
OBSERVED_DIFFERENCES = Spec(
    "berth_observed_differences_total",
    "ALPHA",
    "Number of decisions of another scheduler that differ, by the plugins behind the difference.",
    labels=("scheduler", "plugin"),
)
DECISION_DURATION = Spec(
    "berth_observed_decision_duration_seconds",
    "ALPHA",
    "How long it took to take a decision of another scheduler once more, with every node scored.",
    labels=("scheduler",),
    buckets=exponential_buckets(0.00005, 2, 15),
)
OBSERVED_LATENCY = Spec(
    "berth_observed_placement_duration_seconds",
    "ALPHA",
    "How long pods of another scheduler were seen waiting before they were seen bound.",
    labels=("scheduler",),
    buckets=exponential_buckets(0.001, 2, 20),
)


class ObservingMetrics:
    """Counts what is observed, in `registry`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._decisions = Counter(OBSERVED_DECISIONS, registry)
        self._differences = Counter(OBSERVED_DIFFERENCES, registry)
        self._durations = Histogram(DECISION_DURATION, registry)
        self._latencies = Histogram(OBSERVED_LATENCY, registry)

    def observed(
        self, scheduler: str, outcome: str, *, seconds: float, waited: float | None, behind: Iterable[str]
    ) -> None:
        """A decision was compared. `waited` is None where no node was found; `behind` are the plugins that differ."""
        self._decisions.labels(scheduler, outcome).inc()
        self._durations.labels(scheduler).observe(seconds)
        if waited is not None:
            self._latencies.labels(scheduler).observe(waited)
        for plugin in behind:
            self._differences.labels(scheduler, plugin).inc()
