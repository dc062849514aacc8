"""Large JSON answers: tags and compression."""

from __future__ import annotations

import pytest

from scheduler.server.endpoints import Endpoints
from scheduler.server.explain import ExplainApi
from scheduler.server.options import ServerOptions
from tests.fakes.decisions import FakeDecisions

OPEN = ServerOptions(authorization_always_allow_paths=("/*",))
PATH = "/explain/v1/nodes"


@pytest.fixture
def provider():
    return FakeDecisions()


@pytest.fixture
async def client(serve, provider):
    api = ExplainApi(provider, version="1")
    return (await serve(OPEN, Endpoints(metrics=lambda: b"", extra={"/explain/v1/*": api.handle})))[1]


async def test_what_has_not_changed_is_not_sent_again_though_time_goes_on(client, provider):
    _, _, headers = await client.get(PATH)
    provider.time = "2026-01-02T03:04:06Z"
    status, body, again = await client.get(PATH, **{"If-None-Match": f'"other", {headers["ETag"]}'})
    assert (status, body, again["ETag"]) == (304, "", headers["ETag"])
    provider.nodes_count += 1
    status, body, again = await client.get(PATH, **{"If-None-Match": headers["ETag"]})
    assert (status, again["ETag"] != headers["ETag"]) == (200, True)
    assert provider.time in body


@pytest.mark.parametrize(
    ("nodes", "accepted", "compressed"),
    [
        (3000, "gzip", True),
        (3000, "br, GZIP;q=0.5", True),
        (3000, "*", True),
        (3000, "gzip;q=0", False),
        (3000, "identity", False),
        (3, "gzip", False),
    ],
)
async def test_large_answers_are_compressed_for_those_who_take_it(client, provider, nodes, accepted, compressed):
    provider.nodes_count = nodes
    status, body, headers = await client.get(PATH, **{"Accept-Encoding": accepted})
    assert (status, headers.get("Content-Encoding") == "gzip", headers["Vary"]) == (200, compressed, "Accept-Encoding")
    assert body.count("node-") == nodes


async def test_so_is_what_was_encoded_before(client):
    path = "/explain/v1/openapi.json"
    assert (await client.get(path, **{"Accept-Encoding": "gzip"}))[2]["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in (await client.get(path, **{"Accept-Encoding": "identity"}))[2]
