"""What is counted of another scheduler's decisions."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry

from scheduler.metrics.exposition import render
from scheduler.metrics.observing import ObservingMetrics

NAME = "default-scheduler"


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def metrics(registry: CollectorRegistry) -> ObservingMetrics:
    return ObservingMetrics(registry)


def lines(registry: CollectorRegistry, *beginning: str) -> list[str]:
    return [line for line in render(registry).decode().splitlines() if line.startswith(beginning)]


def test_decisions_are_counted_by_how_they_compare(metrics: ObservingMetrics, registry: CollectorRegistry) -> None:
    for outcome in ("Agreed", "Agreed", "Different"):
        metrics.observed(NAME, outcome, seconds=0.001, waited=0.1, behind=())
    assert lines(registry, "berth_observed_decisions_total") == [
        f'berth_observed_decisions_total{{outcome="Agreed",scheduler="{NAME}"}} 2',
        f'berth_observed_decisions_total{{outcome="Different",scheduler="{NAME}"}} 1',
    ]


def test_each_plugin_behind_a_difference_counts(metrics: ObservingMetrics, registry: CollectorRegistry) -> None:
    metrics.observed(NAME, "Different", seconds=0.001, waited=0.1, behind=("ImageLocality", "NodeResourcesFit"))
    metrics.observed(NAME, "Different", seconds=0.001, waited=0.1, behind=("ImageLocality",))
    assert lines(registry, "berth_observed_differences_total") == [
        f'berth_observed_differences_total{{plugin="ImageLocality",scheduler="{NAME}"}} 2',
        f'berth_observed_differences_total{{plugin="NodeResourcesFit",scheduler="{NAME}"}} 1',
    ]


def test_a_pod_that_found_no_node_was_not_placed_after_any_time(
    metrics: ObservingMetrics, registry: CollectorRegistry
) -> None:
    metrics.observed(NAME, "Agreed", seconds=0.001, waited=None, behind=())
    assert lines(registry, "berth_observed_decision_duration_seconds_count") == [
        f'berth_observed_decision_duration_seconds_count{{scheduler="{NAME}"}} 1'
    ]
    assert lines(registry, "berth_observed_placement_duration_seconds_count") == []
    metrics.observed(NAME, "Agreed", seconds=0.001, waited=3.0, behind=())
    assert lines(registry, "berth_observed_placement_duration_seconds_sum") == [
        f'berth_observed_placement_duration_seconds_sum{{scheduler="{NAME}"}} 3'
    ]


def test_schedulers_are_told_apart(metrics: ObservingMetrics, registry: CollectorRegistry) -> None:
    for name in ("a", "b"):
        metrics.observed(name, "Agreed", seconds=0.001, waited=0.1, behind=())
    assert len(lines(registry, "berth_observed_decisions_total")) == 2
