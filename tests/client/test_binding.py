"""A bind comes to a certain end, whatever happens to its answers."""

from __future__ import annotations

import asyncio
import json

import pytest

from scheduler.client.auth import Connection
from scheduler.client.binding import Binder, BindSettings, binding_body
from scheduler.client.errors import ApiError, BindConflictError, BindTimeoutError, PodGoneError
from scheduler.client.http import Session
from tests.fakes.apiserver import no_answer, pod, reply, slow, status

POD = "/api/v1/namespaces/ns/pods/a"
BINDING = POD + "/binding"
DONE = reply({"kind": "Status", "status": "Success"}, 201)
UNBOUND = reply(pod("a", 5))
OURS = reply(pod("a", 6, node="n1"))
CONFLICT = status(
    409, "Conflict", 'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"'
)
QUICK = BindSettings(request_timeout=0.3, backoff_base=0.001, backoff_cap=0.01)

LOST = {
    "connection cut": no_answer(),
    "timeout": slow(0.6, DONE),
    "504": status(504, "Timeout"),
    "500": status(500, "InternalError"),
}


@pytest.fixture
def bind(session):
    binder = Binder(session, QUICK)
    return lambda: binder.bind("ns", "a", "uid-a", "n1")


def sent(server):
    return [r.method for r in server.requests]


def test_the_binding_names_the_pod_by_uid():
    assert json.loads(binding_body("ns", "a", "uid-a", "n1")) == {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "a", "namespace": "ns", "uid": "uid-a"},
        "target": {"kind": "Node", "name": "n1"},
    }


async def test_an_ordinary_bind_is_one_request(server, bind):
    server.on("POST", BINDING, DONE)
    await bind()
    assert sent(server) == ["POST"]


@pytest.mark.parametrize("lost", LOST.values(), ids=LOST.keys())
class TestLostAnswer:
    async def test_of_a_bind_that_was_done_is_a_success_without_a_second_bind(self, server, bind, lost):
        server.on("POST", BINDING, lost)
        server.on("GET", POD, OURS)
        await bind()
        assert sent(server) == ["POST", "GET"]

    async def test_of_a_bind_that_was_not_done_is_repeated(self, server, bind, lost):
        server.on("POST", BINDING, lost, DONE)
        server.on("GET", POD, UNBOUND)
        await bind()
        assert sent(server) == ["POST", "GET", "POST"]

    async def test_of_a_pod_bound_elsewhere_is_a_conflict(self, server, bind, lost):
        server.on("POST", BINDING, lost)
        server.on("GET", POD, reply(pod("a", 6, node="other")))
        with pytest.raises(BindConflictError, match='pod a is already assigned to node "other"'):
            await bind()

    @pytest.mark.parametrize("read", [status(404, "NotFound"), reply(pod("a", 9, uid="new", node="n1"))])
    async def test_of_a_pod_that_is_gone_or_replaced_says_so(self, server, bind, lost, read):
        server.on("POST", BINDING, lost)
        server.on("GET", POD, read)
        with pytest.raises(PodGoneError):
            await bind()

    async def test_is_resolved_even_if_reading_fails_at_first(self, server, bind, lost):
        server.on("POST", BINDING, lost)
        server.on("GET", POD, no_answer(), status(503), status(403), reply("<html>"), OURS)
        await bind()
        assert sent(server) == ["POST", "GET", "GET", "GET", "GET", "GET"]


async def test_our_own_earlier_bind_met_by_the_second_attempt_is_a_success(server, bind):
    server.on("POST", BINDING, no_answer(), CONFLICT)
    server.on("GET", POD, UNBOUND, OURS)
    await bind()
    assert sent(server) == ["POST", "GET", "POST", "GET"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (CONFLICT, BindConflictError),
        (status(409, "Conflict", "Precondition failed: UID in precondition: x, UID in object meta: y"), PodGoneError),
        (status(404, "NotFound", 'pods "a" not found'), PodGoneError),
        (status(403, "Forbidden"), ApiError),
        (status(429, "TooManyRequests"), ApiError),
        (status(422, "Invalid"), ApiError),
    ],
    ids=["bound by another", "replaced", "deleted", "forbidden", "throttled", "invalid"],
)
async def test_a_definite_refusal_is_taken_at_its_word(server, bind, answer, expected):
    server.on("POST", BINDING, answer)
    with pytest.raises(expected):
        await bind()
    assert sent(server) == ["POST"]


async def test_a_pod_seen_unbound_to_the_end_is_given_up(server, bind):
    server.on("POST", BINDING, no_answer())
    server.on("GET", POD, UNBOUND)
    with pytest.raises(BindTimeoutError, match="pod ns/a is not bound after 4 attempts"):
        await bind()
    assert sent(server) == ["POST", "GET"] * 4


async def test_a_server_that_fails_to_the_end_is_named_as_the_reason(server, bind):
    server.on("POST", BINDING, status(500, "InternalError", "webhook is down"))
    server.on("GET", POD, UNBOUND)
    with pytest.raises(ApiError, match="webhook is down"):
        await bind()


async def test_a_bind_that_never_left_is_repeated_without_reading_and_then_given_up():
    async with Session(Connection("http://127.0.0.1:1"), qps=0) as nowhere:
        with pytest.raises(BindTimeoutError, match=r"no connection to 127\.0\.0\.1:1"):
            await Binder(nowhere, QUICK).bind("ns", "a", "uid-a", "n1")


async def test_an_unknown_outcome_is_not_given_up_at_the_deadline(server, session):
    server.on("POST", BINDING, no_answer())
    server.on("GET", POD, status(503))
    impatient = BindSettings(deadline=0.01, backoff_base=0.001, backoff_cap=0.01)
    call = asyncio.create_task(Binder(session, impatient).bind("ns", "a", "uid-a", "n1"))
    await asyncio.sleep(0.1)
    assert not call.done()
    server.on("GET", POD, OURS)
    await call
