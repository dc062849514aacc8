"""The decisions API: paths, refusals and who may read what."""

from __future__ import annotations

import asyncio
import json

import pytest

from scheduler.server.endpoints import Endpoints
from scheduler.server.explain import Choice, ExplainApi
from scheduler.server.identity import User
from scheduler.server.options import ServerOptions
from scheduler.server.secure import Access
from tests.fakes.decisions import FakeDecisions
from tests.server.conftest import Reviewers
from tests.server.schemas import problems

OPEN = ServerOptions(authorization_always_allow_paths=("/*",))
SHOWN = {
    "/explain/v1/overview": ("/explain/v1/overview", "version"),
    "/explain/v1/decisions": ("/explain/v1/decisions?limit=2", "items"),
    "/explain/v1/decisions/{id}": ("/explain/v1/decisions/7", "feasible"),
    "/explain/v1/decisions/{id}/comparison": ("/explain/v1/decisions/7/comparison?other=b", "parts"),
    "/explain/v1/pods/{namespace}/{name}": ("/explain/v1/pods/shop/web-1", "history"),
    "/explain/v1/pods/{namespace}/{name}/evaluation": ("/explain/v1/pods/shop/big/evaluation", "whyNot"),
    "/explain/v1/pending": ("/explain/v1/pending", "groups"),
    "/explain/v1/nodes": ("/explain/v1/nodes", "allocatable"),
    "/explain/v1/nodes/{node}": ("/explain/v1/nodes/a", "pods"),
    "/explain/v1/search": ("/explain/v1/search?text=web", "pods"),
}


@pytest.fixture
def provider():
    return FakeDecisions()


@pytest.fixture
def explain(serve, provider):
    async def start(options=OPEN, access=None, **settings):
        api = ExplainApi(provider, version="1", **settings)
        endpoints = Endpoints(metrics=lambda: b"", extra={"/explain/v1/*": api.handle})
        _, client = await serve(options, endpoints, access)
        return client

    return start


async def test_each_path_that_is_described_answers_as_described(explain):
    client = await explain()
    _, text, _ = await client.get("/explain/v1/openapi.json")
    description = json.loads(text)
    schemas = description["components"]["schemas"]
    assert set(description["paths"]) == set(SHOWN)
    for described, (path, field) in SHOWN.items():
        status, body, headers = await client.get(path)
        assert (status, headers["Content-Type"]) == (200, "application/json"), body
        value = json.loads(body)
        assert field in value
        answer = description["paths"][described]["get"]["responses"]["200"]
        assert problems(value, answer["content"]["application/json"]["schema"], schemas) == []


@pytest.mark.parametrize(
    ("path", "status", "code", "advice"),
    [
        ("/explain/v1/", 404, "noSuchPath", "openapi.json lists all paths"),
        ("/explain/v1/pods/shop", 404, "noSuchPath", "openapi.json"),
        ("/explain/v1/pods/shop%2F..%2Fweb-1/evaluation", 404, "noSuchPath", "openapi.json"),
        ("/explain/v1/pods/shop/gone", 404, "unknownPod", "kubectl get pod -n shop gone"),
        ("/explain/v1/pods/shop/gone/evaluation", 404, "unknownPod", "kubectl get pod"),
        ("/explain/v1/pods/Shop/x%20y", 400, "badName", "can't be the name of an object"),
        ("/explain/v1/nodes/gone", 404, "unknownNode", "/explain/v1/nodes lists all"),
        ("/explain/v1/decisions/99", 404, "unknownDecision", "lists those that are"),
        ("/explain/v1/decisions/x", 400, "badParameter", "'x' is not a number"),
        ("/explain/v1/decisions/7/comparison?other=zzz", 404, "nothingToCompare", "knows no other one called 'zzz'"),
        ("/explain/v1/decisions?limit=0", 400, "badParameter", "between 1 and 1000"),
        ("/explain/v1/decisions?limit=-1", 400, "badParameter", "not a number"),
        ("/explain/v1/decisions?pod=web", 400, "badParameter", "namespace/name"),
        ("/explain/v1/decisions?result=Lost", 400, "badParameter", "Scheduled, Unschedulable, Error, Gated"),
        ("/explain/v1/decisions?nodes=a", 400, "badParameter", "limit, before, pod, node, namespace, result"),
        ("/explain/v1/nodes?limit=1", 400, "badParameter", "this path takes none"),
        ("/explain/v1/search", 400, "badParameter", "text: a part of a name is needed, of 1 to 317 characters"),
        ("/explain/v1/search?text=", 400, "badParameter", "a part of a name is needed"),
        (f"/explain/v1/search?text={'x' * 318}", 400, "badParameter", "a part of a name is needed"),
        ("/explain/v1/search?text=web&limit=101", 400, "badParameter", "between 1 and 100"),
        ("/explain/v1/search?name=web", 400, "badParameter", "those of this path are text, limit"),
    ],
)
async def test_a_refusal_says_what_to_do(explain, path, status, code, advice):
    client = await explain()
    answered, body, headers = await client.get(path)
    value = json.loads(body)
    assert (answered, value["code"], headers["Content-Type"]) == (status, code, "application/json")
    assert advice in value["error"]


async def test_the_query_chooses_among_attempts(explain, provider):
    client = await explain()
    await client.get("/explain/v1/decisions")
    await client.get("/explain/v1/decisions?limit=5&before=9&pod=shop/web-1&node=a&namespace=shop&result=Scheduled")
    assert provider.asked == [
        Choice(),
        Choice(limit=5, before=9, pod="shop/web-1", node="a", namespace="shop", result="Scheduled"),
    ]


async def test_a_search_is_for_any_text_with_a_limit(explain, provider):
    client = await explain()
    await client.get("/explain/v1/search?text=Web")
    await client.get("/explain/v1/search?text=shop/%3Cb%3E&limit=3")
    assert provider.asked == [("Web", 20), ("shop/<b>", 3)]


async def test_only_reading_is_possible(explain):
    client = await explain()
    assert (await client.get("/explain/v1/overview", method="POST"))[0] == 405
    assert (await client.get("/explain/v1/overview", method="HEAD"))[:2] == (200, "")


async def test_a_standby_answers_and_says_that_it_does_not_lead(explain, provider):
    provider.leads = False
    client = await explain()
    status, body, headers = await client.get("/explain/v1/overview")
    assert (status, json.loads(body)["leader"], headers["Berth-Leader"]) == (200, False, "false")


async def test_before_the_cluster_is_read_nothing_is_answered(explain, provider):
    provider.synced = False
    client = await explain()
    status, body, headers = await client.get("/explain/v1/pods/shop/web-1")
    assert (status, json.loads(body)["code"], headers["Retry-After"]) == (503, "notReady", "1")
    assert (await client.get("/explain/v1/openapi.json"))[0] == 200


async def test_the_api_server_decides_by_path_who_may_read(explain):
    reviewers = Reviewers(
        users={"jane": User("jane"), "joe": User("joe")}, allowed=[("jane", "get", "/explain/v1/pods/shop/web-1")]
    )
    client = await explain(ServerOptions(), Access(tokens=reviewers, authorizer=reviewers))
    assert (await client.get("/explain/v1/pods/shop/web-1", token="jane"))[0] == 200
    assert (await client.get("/explain/v1/pods/shop/big", token="jane"))[0] == 403
    assert (await client.get("/explain/v1/search?text=web", token="jane"))[0] == 403
    assert (await client.get("/explain/v1/pods/shop/web-1", token="joe"))[0] == 403
    assert (await client.get("/explain/v1/pods/shop/web-1"))[0] == 403
    assert (await client.get("/explain/v1/pods/shop/web-1", token="made up"))[0] == 401


class TestEvaluations:
    PATH = "/explain/v1/pods/shop/big/evaluation"

    async def test_a_client_has_one_at_a_time(self, explain, provider):
        provider.evaluating.clear()
        client = await explain()
        first = asyncio.create_task(client.get(self.PATH))
        second = asyncio.create_task(client.get(self.PATH))
        done, _ = await asyncio.wait({first, second}, return_when=asyncio.FIRST_COMPLETED)
        (refused,) = done
        status, body, headers = refused.result()
        assert (status, json.loads(body)["code"], headers["Retry-After"]) == (429, "busy", "1")
        provider.evaluating.set()
        (other,) = {first, second} - done
        assert (await other)[0] == 200
        assert (await client.get(self.PATH))[0] == 200

    async def test_together_they_are_limited(self, explain, provider):
        provider.evaluating.clear()
        reviewers = Reviewers(
            users={"root": User("root", ("system:masters",)), "ann": User("ann", ("system:masters",))}
        )
        client = await explain(ServerOptions(), Access(tokens=reviewers), evaluations=1)
        tasks = {asyncio.create_task(client.get(self.PATH, token=name)) for name in ("root", "ann")}
        (refused,), _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        assert "1 evaluations are running, which is the most" in refused.result()[1]
        provider.evaluating.set()
        await asyncio.wait(tasks)

    async def test_one_that_takes_too_long_is_given_up(self, explain, provider):
        provider.evaluating.clear()
        client = await explain(patience=0.01)
        status, body, _ = await client.get(self.PATH)
        assert (status, json.loads(body)["code"]) == (504, "tooSlow")
        provider.evaluating.set()
        assert (await client.get(self.PATH))[0] == 200
