"""The exposed series are kube-scheduler's: series.json is read off v1.37.2's sources."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from scheduler.metrics.exposition import render
from scheduler.metrics.scheduler_metrics import SchedulerMetrics

TABLE = json.loads((Path(__file__).parent / "series.json").read_text())
ON_BY_DEFAULT = {"SchedulerAsyncPreemption", "DRADeviceBindingConditions", "DRAExtendedResource"}
SHOWN = [row for row in TABLE if not row["hidden"] and (row["gate"] is None or row["gate"] in ON_BY_DEFAULT)]


def families(metrics: SchedulerMetrics) -> dict[str, object]:
    return {family.spec.name: family for family in vars(metrics).values() if hasattr(family, "spec")}


def text(metrics: SchedulerMetrics) -> str:
    return render(metrics.registry).decode()


@pytest.mark.parametrize("row", SHOWN, ids=lambda row: row["name"])
def test_family_equals_kube_schedulers(row):
    family = families(SchedulerMetrics())[row["name"]]
    assert family.kind == row["type"]
    assert list(family.spec.labels) == row["labels"]
    assert list(family.spec.buckets) == row["buckets"]
    assert f"[{family.spec.level}] {family.spec.help}" == row["help"]


def test_no_other_family_has_a_name_of_kube_scheduler():
    names = {name for name in families(SchedulerMetrics()) if not name.startswith("berth_")}
    assert names == {row["name"] for row in SHOWN}


def test_help_and_type_lines_are_kube_schedulers():
    metrics = SchedulerMetrics()
    for family in families(metrics).values():
        family.labels(*(f"a{i}" for i, _ in enumerate(family.spec.labels)))
    lines = set(text(metrics).splitlines())
    for row in SHOWN:
        assert f"# HELP {row['name']} {row['help']}" in lines
        assert f"# TYPE {row['name']} {row['type']}" in lines


def test_series_without_labels_are_shown_from_the_start_and_others_on_first_use():
    metrics = SchedulerMetrics()
    assert "scheduler_preemption_attempts_total 0\n" in text(metrics)
    assert 'scheduler_preemption_victims_bucket{le="64"} 0\n' in text(metrics)
    assert "scheduler_schedule_attempts_total" not in text(metrics)


def test_attempt_counts_and_times():
    metrics = SchedulerMetrics()
    attempt = metrics.attempt("scheduled", "berth")
    attempt.observe(0.003)
    attempt.observe(0.5)
    assert metrics.attempt("scheduled", "berth") is attempt
    shown = text(metrics)
    assert 'scheduler_schedule_attempts_total{profile="berth",result="scheduled"} 2\n' in shown
    prefix = 'scheduler_scheduling_attempt_duration_seconds_bucket{profile="berth",result="scheduled",'
    assert prefix + 'le="0.002"} 0\n' in shown
    assert prefix + 'le="0.004"} 1\n' in shown
    assert prefix + 'le="+Inf"} 2\n' in shown


@pytest.mark.parametrize(("attempts", "label"), [(1, "1"), (14, "14"), (15, "15+"), (200, "15+")])
def test_scheduled_pod_is_recorded_under_its_number_of_attempts(attempts, label):
    metrics = SchedulerMetrics()
    metrics.pod_scheduled(attempts, 0.02)
    assert f'scheduler_pod_scheduling_sli_duration_seconds_count{{attempts="{label}"}} 1\n' in text(metrics)
    assert f"scheduler_pod_scheduling_attempts_sum {attempts}\n" in text(metrics)


def test_state_is_read_when_scraped():
    metrics = SchedulerMetrics()
    waiting = {"active": 0, "gated": 0}
    metrics.pending_pods.read(lambda: {(queue,): count for queue, count in waiting.items()})
    waiting["active"] = 3
    shown = [line for line in text(metrics).splitlines() if line.startswith("scheduler_pending_pods{")]
    assert shown == ['scheduler_pending_pods{queue="active"} 3', 'scheduler_pending_pods{queue="gated"} 0']


def test_metric_of_a_gate_that_is_off_is_written_but_not_shown():
    metrics = SchedulerMetrics(gates=lambda gate: gate != "SchedulerAsyncPreemption")
    metrics.preemption_goroutines_execution.labels("success").inc()
    assert "preemption_goroutines" not in text(metrics)


def test_disabled_metric_is_written_but_not_shown():
    metrics = SchedulerMetrics(disabled=["scheduler_preemption_attempts_total"])
    metrics.preemption_attempts.labels().inc()
    assert "scheduler_preemption_attempts_total" not in text(metrics)
    assert "scheduler_preemption_victims" in text(metrics)


def test_a_second_scheduler_in_one_registry_is_refused():
    registry = CollectorRegistry()
    SchedulerMetrics(registry)
    with pytest.raises(ValueError, match="scheduler_schedule_attempts"):
        SchedulerMetrics(registry)


def test_own_metrics_carry_their_prefix():
    metrics = SchedulerMetrics()
    metrics.event_loop_lag.labels().observe(0.001)
    metrics.cycle_cpu.labels("berth").observe(0.0004)
    assert "berth_event_loop_lag_seconds_count 1\n" in text(metrics)
    assert 'berth_cycle_cpu_seconds_count{profile="berth"} 1\n' in text(metrics)
