from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry

from scheduler.metrics.component import ComponentMetrics
from scheduler.metrics.exposition import render

HOST = "10.0.0.1:6443"


@pytest.fixture
def registry():
    return CollectorRegistry()


@pytest.fixture
def component(registry):
    return ComponentMetrics(registry)


def test_requests_to_the_api_server(component, registry):
    for code, method, seconds in (("201", "POST", 0.02), ("<error>", "GET", 1.0)):
        results, durations = component.request_series(code, method, HOST)
        results.inc()
        durations.observe(seconds)
    component.request_retry("429", "POST", HOST)
    shown = render(registry).decode()
    assert f'rest_client_requests_total{{code="201",host="{HOST}",method="POST"}} 1\n' in shown
    assert f'rest_client_requests_total{{code="<error>",host="{HOST}",method="GET"}} 1\n' in shown
    bucket = "rest_client_request_duration_seconds_bucket"
    assert f'{bucket}{{host="{HOST}",verb="POST",le="0.005"}} 0\n' in shown
    assert f'{bucket}{{host="{HOST}",verb="POST",le="0.025"}} 1\n' in shown
    assert f'{bucket}{{host="{HOST}",verb="POST",le="60"}} 1\n' in shown
    assert f'rest_client_request_retries_total{{code="429",host="{HOST}",verb="POST"}} 1\n' in shown


def test_leadership_comes_and_goes(component, registry):
    component.leading("berth", leads=True)
    assert 'leader_election_master_status{name="berth"} 1\n' in render(registry).decode()
    component.leading("berth", leads=False)
    assert 'leader_election_master_status{name="berth"} 0\n' in render(registry).decode()


def test_feature_gates_with_their_stage(component, registry):
    component.feature_gates([("A", "BETA", True), ("B", "", False)])
    shown = render(registry).decode()
    assert 'kubernetes_feature_enabled{name="A",stage="BETA"} 1\n' in shown
    assert 'kubernetes_feature_enabled{name="B",stage=""} 0\n' in shown


def test_build_names_both_versions(component, registry):
    component.build("0.1.0", "v1.37.2")
    (line,) = (line for line in render(registry).decode().splitlines() if line.startswith("berth_build_info{"))
    assert 'version="0.1.0"' in line
    assert 'kubernetes_version="v1.37.2"' in line
    assert line.endswith(" 1")


def test_process_is_described(component, registry):
    names = {line.split()[2] for line in render(registry).decode().splitlines() if line.startswith("# TYPE")}
    assert {
        "process_cpu_seconds_total",
        "process_resident_memory_bytes",
        "process_start_time_seconds",
        "process_open_fds",
    } <= names
