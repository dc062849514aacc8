"""The HTTPS server of a scheduler process."""

from __future__ import annotations

import socket
from contextlib import AsyncExitStack

import aiohttp
import pytest
from prometheus_client import CollectorRegistry

from scheduler.app.problems import SettingsError, StartError
from scheduler.app.serving import flag_values, server_options, start_server
from scheduler.config.features import FeatureGates
from scheduler.config.options import Options
from scheduler.server.health import Check
from tests.app.live import settings
from tests.fakes.apiserver import reply
from tests.fakes.decisions import FakeDecisions
from tests.fakes.ports import free_port


@pytest.fixture
def serve(kubeconfig, server, monkeypatch):
    """Starts the server within a stack; `changes` are options."""
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)

    async def start(stack, **changes):
        config = kubeconfig(server)
        port = free_port()
        running = await start_server(
            settings(config, **{"secure_port": port, "bind_address": "127.0.0.1", **changes}),
            stack,
            registry=CollectorRegistry(),
            resource_metrics=lambda: [b"pods\n"],
            leads=lambda: True,
            health=[Check("leaderElection", lambda: None)],
            readiness=[Check("sched-handler-sync", lambda: "not yet")],
            decisions=FakeDecisions(),
        )
        if running is not None:
            stack.push_async_callback(running.stop)
        return running

    return start


async def get(server, path, **headers):
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"https://127.0.0.1:{server.port}{path}", ssl=False, headers=headers) as answer,
    ):
        return answer.status, await answer.text()


async def test_probes_are_open_to_all_and_run_their_checks(serve):
    async with AsyncExitStack() as stack:
        running = await serve(stack)
        assert await get(running, "/livez") == (200, "ok")
        assert await get(running, "/healthz?verbose") == (200, "[+]leaderElection ok\nhealthz check passed\n")
        assert (await get(running, "/readyz"))[0] == 500


async def test_with_nobody_to_ask_everything_else_is_forbidden(serve, caplog):
    async with AsyncExitStack() as stack:
        running = await serve(stack)
        assert (await get(running, "/metrics"))[0] == 403
    assert "no --authentication-kubeconfig: only paths that are open to all can be read" in caplog.messages


async def test_the_api_server_is_asked_who_may_see_the_rest(serve, server, kubeconfig):
    server.on("GET", "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication", reply({}))
    user = {"username": "prometheus", "groups": ["system:authenticated"]}
    server.on(
        "POST",
        "/apis/authentication.k8s.io/v1/tokenreviews",
        reply({"status": {"authenticated": True, "user": user}}, 201),
    )
    server.on("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", reply({"status": {"allowed": True}}, 201))
    config = kubeconfig(server)
    async with AsyncExitStack() as stack:
        running = await serve(stack, authentication_kubeconfig=config, authorization_kubeconfig=config)
        assert await get(running, "/metrics/resources", Authorization="Bearer abc") == (200, "pods\n")
        status, text = await get(running, "/configz", Authorization="Bearer abc")
    assert status == 200
    assert '"schedulerName":"berth"' in text
    (review,) = server.seen("POST", "/apis/authentication.k8s.io/v1/tokenreviews")
    assert review.body["spec"] == {"token": "abc"}
    reviews = server.seen("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews")
    assert [one.body["spec"]["nonResourceAttributes"]["path"] for one in reviews] == ["/metrics/resources", "/configz"]


async def test_port_0_means_no_server(serve):
    async with AsyncExitStack() as stack:
        assert await serve(stack, secure_port=0) is None


async def test_a_port_in_use_is_named(serve):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        async with AsyncExitStack() as stack:
            with pytest.raises(StartError, match=f"--secure-port {port}: can't listen there"):
                await serve(stack, secure_port=port)


async def test_a_kubeconfig_for_reviews_that_is_not_there_is_named(serve, tmp_path):
    async with AsyncExitStack() as stack:
        with pytest.raises(SettingsError, match=str(tmp_path / "none")):
            await serve(stack, authorization_kubeconfig=str(tmp_path / "none"))


def test_flags_reach_the_server():
    given = settings("", bind_address="127.0.0.1", tls_min_version="VersionTLS13", authentication_skip_lookup=True)
    options = server_options(given)
    assert (options.bind_address, options.tls_min_version) == ("127.0.0.1", "VersionTLS13")
    assert options.authentication_skip_lookup
    assert options.profiling


def test_flags_are_shown_as_texts():
    gates = FeatureGates({"SchedulerAsyncAPICalls": True})
    values = flag_values(Options(v=3, disabled_metrics=("a", "b"), feature_gates=gates))
    assert values["v"] == "3"
    assert values["disabled-metrics"] == "a,b"
    assert values["permit-port-sharing"] == "false"
    assert values["feature-gates"] == "SchedulerAsyncAPICalls=true"
    assert "ignored" not in values
