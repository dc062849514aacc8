"""Metrics that every Kubernetes component has (k8s.io/component-base/metrics/prometheus)."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from prometheus_client import ProcessCollector

from scheduler.metrics.instruments import Counter, Gauge, Histogram, Spec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client import CollectorRegistry

    from scheduler.metrics.instruments import CounterSeries, HistogramSeries

REQUEST_DURATION = Spec(
    "rest_client_request_duration_seconds",
    "ALPHA",
    "Request latency in seconds. Broken down by verb, and host.",
    labels=("verb", "host"),
    buckets=(0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0),
)
REQUESTS = Spec(
    "rest_client_requests_total",
    "ALPHA",
    "Number of HTTP requests, partitioned by status code, method, and host.",
    labels=("code", "method", "host"),
)
REQUEST_RETRIES = Spec(
    "rest_client_request_retries_total",
    "ALPHA",
    "Number of request retries, partitioned by status code, verb, and host.",
    labels=("code", "verb", "host"),
)
LEADER = Spec(
    "leader_election_master_status",
    "ALPHA",
    "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates "
    "master. 'name' is the string used to identify the lease. Please make sure to group by name.",
    labels=("name",),
)
FEATURES = Spec(
    "kubernetes_feature_enabled",
    "BETA",
    "This metric records the data about the stage and enablement of a k8s feature.",
    labels=("name", "stage"),
)
BUILD_INFO = Spec(
    "berth_build_info",
    "ALPHA",
    "A metric with a constant '1' value labeled by Berth's version, the Kubernetes version whose decisions "
    "it takes, and the Python version, implementation and platform it runs on.",
    labels=("version", "kubernetes_version", "python_version", "implementation", "platform"),
)


class ComponentMetrics:
    """Requests to the API server, leadership, feature gates, build and process, registered in `registry`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(REQUESTS, registry)
        self._durations = Histogram(REQUEST_DURATION, registry)
        self._retries = Counter(REQUEST_RETRIES, registry)
        self._leader = Gauge(LEADER, registry)
        self._features = Gauge(FEATURES, registry)
        self._build = Gauge(BUILD_INFO, registry)
        ProcessCollector(registry=registry)

    def request_series(self, code: str, method: str, host: str) -> tuple[CounterSeries, HistogramSeries]:
        """Where to count requests, and to record how long each (not a watch) took to its answer's end.

        `code` is the HTTP status, or "<error>" without an answer; `host` has the port.
        """
        return self._requests.labels(code, method, host), self._durations.labels(method, host)

    def request_retry(self, code: str, verb: str, host: str) -> None:
        """Count a request that is sent again because of `code`."""
        self._retries.labels(code, verb, host).inc()

    def leading(self, name: str, *, leads: bool) -> None:
        """Say whether this process holds the lease `name`."""
        self._leader.labels(name).set(1.0 if leads else 0.0)

    def feature_gates(self, gates: Iterable[tuple[str, str, bool]]) -> None:
        """Record feature gates: name, stage (ALPHA, BETA, DEPRECATED or, for GA, empty), enabled."""
        for name, stage, enabled in gates:
            self._features.labels(name, stage).set(1.0 if enabled else 0.0)

    def build(self, version: str, kubernetes_version: str) -> None:
        """Record what is running."""
        runs_on = f"{platform.system().lower()}/{platform.machine()}"
        implementation = platform.python_implementation()
        self._build.labels(version, kubernetes_version, platform.python_version(), implementation, runs_on).set(1.0)
