"""The sessions to the API server."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest
from prometheus_client import CollectorRegistry

from scheduler.app.problems import SettingsError
from scheduler.app.transport import RequestMetrics, find_cluster, open_transport
from scheduler.metrics.component import ComponentMetrics
from scheduler.metrics.exposition import render
from tests.app.live import settings
from tests.fakes.apiserver import reply


@pytest.fixture
def registry():
    return CollectorRegistry()


async def test_objects_events_and_the_lease_have_a_session_each_and_are_counted(server, kubeconfig, registry):
    server.on("GET", "/version", reply({"major": "1"}))
    async with AsyncExitStack() as stack:
        transport = await open_transport(settings(kubeconfig(server)), ComponentMetrics(registry), stack)
        sessions = (transport.objects, transport.events, transport.lease)
        assert len({id(session) for session in sessions}) == 3
        for session in sessions:
            await session.request("GET", "/version")
    assert [seen.headers["Authorization"] for seen in server.seen("GET", "/version")] == ["Bearer t"] * 3
    host = server.url.removeprefix("http://")
    text = render(registry).decode()
    assert f'rest_client_requests_total{{code="200",host="{host}",method="GET"}} 3\n' in text
    assert f'rest_client_request_duration_seconds_count{{host="{host}",verb="GET"}} 3\n' in text


async def test_master_replaces_the_address(server, kubeconfig):
    connection = await find_cluster(kubeconfig(server), master="https://192.0.2.1:6443")
    assert connection.base_url == "https://192.0.2.1:6443"


async def test_a_kubeconfig_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SettingsError, match=str(tmp_path / "none")):
        await find_cluster(str(tmp_path / "none"))


def test_a_wait_for_the_rate_limit_is_no_request(registry):
    RequestMetrics(ComponentMetrics(registry)).request_throttled(method="GET", host="h", seconds=1.0)
    assert "rest_client_requests_total{" not in render(registry).decode()


def test_requests_that_are_sent_again_are_counted():
    registry = CollectorRegistry()
    RequestMetrics(ComponentMetrics(registry)).request_retried(method="POST", host="h", code="429")
    labels = {"code": "429", "verb": "POST", "host": "h"}
    assert registry.get_sample_value("rest_client_request_retries_total", labels) == 1
