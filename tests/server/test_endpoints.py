from __future__ import annotations

import aiohttp
import pytest
from aiohttp import web

from scheduler.server.endpoints import Endpoints, handlers
from scheduler.server.health import Check
from scheduler.server.options import ServerOptions

ALL = ServerOptions(authorization_always_allow_paths=("/*",))
PATHS = {
    "/healthz", "/healthz/ping", "/livez", "/livez/ping", "/readyz", "/readyz/a", "/metrics",
    "/metrics/resources", "/metrics/slis", "/configz", "/flagz", "/statusz",
}  # fmt: skip


def endpoints(**parts):
    return Endpoints(metrics=lambda: b"m 1\n", **parts)


@pytest.mark.parametrize(("profiling", "extra"), [(True, {"/debug/tasks"}), (False, set())])
def test_paths_are_kube_schedulers(profiling, extra):
    table = handlers(endpoints(readyz=[Check("a", lambda: None)]), "berth", profiling=profiling)
    assert set(table) == PATHS | extra


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("/readyz?verbose", "[+]a ok\n[+]b ok\nreadyz check passed\n"),
        ("/readyz?verbose&exclude=a&exclude=b", "[+]a excluded: ok\n[+]b excluded: ok\nreadyz check passed\n"),
        ("/readyz/a", "ok"),
        ("/configz", '{"componentconfig":{"kind":"KubeSchedulerConfiguration"}}'),
        ("/flagz", "berth flagz"),
        ("/flagz", "v=2"),
        ("/statusz", "Paths: /configz /debug /flagz /healthz /livez /metrics /more /readyz"),
        ("/debug/tasks", "server: certificate reload"),
        ("/more", "more"),
    ],
)
async def test_content(serve, path, part):
    async def more(request):
        return web.Response(text="more")

    content = endpoints(
        readyz=[Check("a", lambda: None), Check("b", lambda: None)],
        configuration=lambda: {"kind": "KubeSchedulerConfiguration"},
        flags=lambda: {"v": "2"},
        extra={"/more": more},
    )
    _, client = await serve(ALL, content)
    status, body, _ = await client.get(path)
    assert status == 200
    assert part in body


async def test_health_results_are_counted_under_slis(serve):
    _, client = await serve(ALL, endpoints(readyz=[Check("a", lambda: "no")]))
    await client.get("/readyz")
    await client.get("/livez")
    body = (await client.get("/metrics/slis"))[1]
    assert 'kubernetes_healthcheck{name="a",type="readyz"} 0\n' in body
    assert 'kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 1\n' in body


@pytest.mark.parametrize(("leading", "body"), [(True, "first\nsecond\n"), (False, "")])
async def test_resources_are_shown_by_the_leader_only(serve, leading, body):
    content = endpoints(leading=lambda: leading, resource_metrics=lambda: iter([b"first\n", b"second\n"]))
    _, client = await serve(ALL, content)
    assert (await client.get("/metrics/resources"))[:2] == (200, body)


async def test_resources_of_an_empty_cluster(serve):
    _, client = await serve(ALL, endpoints(leading=lambda: True))
    assert (await client.get("/metrics/resources"))[:2] == (200, "")


async def test_resources_that_fail_half_way_break_off(serve):
    def half():
        yield b"first\n"
        raise RuntimeError("no more")

    _, client = await serve(ALL, endpoints(leading=lambda: True, resource_metrics=half))
    with pytest.raises(aiohttp.ClientError):
        await client.get("/metrics/resources")
    assert (await client.get("/healthz"))[:2] == (200, "ok")
