"""Results of health checks, served at /metrics/slis (k8s.io/component-base/metrics/prometheus/slis)."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from scheduler.metrics.instruments import Counter, Gauge, Spec

RESULT = Spec(
    "kubernetes_healthcheck",
    "STABLE",
    "This metric records the result of a single healthcheck.",
    labels=("name", "type"),
)
RESULTS = Spec(
    "kubernetes_healthchecks_total",
    "STABLE",
    "This metric records the results of all healthcheck.",
    labels=("name", "type", "status"),
)


class HealthcheckMetrics:
    """The last result of every check and how often it passed and failed, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._last = Gauge(RESULT, self.registry)
        self._all = Counter(RESULTS, self.registry)

    def record(self, check: str, endpoint: str, *, passed: bool) -> None:
        """Record one run of `check` for `endpoint` (healthz, livez, readyz)."""
        self._last.labels(check, endpoint).set(1.0 if passed else 0.0)
        self._all.labels(check, endpoint, "success" if passed else "error").inc()
