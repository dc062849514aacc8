from __future__ import annotations

from scheduler.metrics.exposition import render
from scheduler.metrics.healthchecks import HealthcheckMetrics


def test_last_result_and_all_results_as_kube_scheduler_shows_them():
    results = HealthcheckMetrics()
    results.record("healthcheck-a", "healthz", passed=False)
    results.record("healthcheck-a", "healthz", passed=True)
    assert render(results.registry).decode() == (
        "# HELP kubernetes_healthcheck [STABLE] This metric records the result of a single healthcheck.\n"
        "# TYPE kubernetes_healthcheck gauge\n"
        'kubernetes_healthcheck{name="healthcheck-a",type="healthz"} 1\n'
        "# HELP kubernetes_healthchecks_total [STABLE] This metric records the results of all healthcheck.\n"
        "# TYPE kubernetes_healthchecks_total counter\n"
        'kubernetes_healthchecks_total{name="healthcheck-a",status="error",type="healthz"} 1\n'
        'kubernetes_healthchecks_total{name="healthcheck-a",status="success",type="healthz"} 1\n'
    )
