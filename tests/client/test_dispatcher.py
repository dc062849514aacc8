"""Writes of one pod stay in order, and none is lost or done twice."""

from __future__ import annotations

import asyncio

import pytest

from scheduler.api.objects import PodCondition
from scheduler.client.binding import BindSettings
from scheduler.client.dispatcher import Dispatcher, WriteSettings
from scheduler.client.errors import ApiError, BindConflictError, TransportError
from tests.fakes.apiserver import gated, no_answer, reply, status

POD = "/api/v1/namespaces/ns/pods/a"
OK = reply({})
QUICK = WriteSettings(backoff_base=0.001, backoff_cap=0.01, bind=BindSettings(backoff_base=0.001, backoff_cap=0.01))


@pytest.fixture
async def dispatcher(session):
    dispatcher = Dispatcher(session, settings=QUICK)
    yield dispatcher
    await dispatcher.drain(5)


def pending(message):
    return PodCondition(type="PodScheduled", status="False", reason="Unschedulable", message=message)


def patch(dispatcher, message, **more):
    dispatcher.patch_pod_status("ns", "a", "uid-a", conditions=[pending(message)], **more)


def messages(server):
    return [r.body["status"]["conditions"][0]["message"] for r in server.seen("PATCH")]


def bind(dispatcher):
    return asyncio.create_task(dispatcher.bind("ns", "a", "uid-a", "n1"))


class TestStatusPatches:
    async def test_are_strategic_merge_patches_of_the_status(self, server, dispatcher):
        server.on("PATCH", POD + "/status", OK)
        patch(dispatcher, "no room", nominated_node_name="n1")
        assert await dispatcher.drain(5)
        (request,) = server.requests
        assert request.headers["Content-Type"] == "application/strategic-merge-patch+json"
        assert request.body["metadata"] == {"uid": "uid-a"}
        assert request.body["status"]["nominatedNodeName"] == "n1"

    async def test_that_wait_are_merged_into_one(self, server, dispatcher):
        server.on("PATCH", POD + "/status", OK)
        patch(dispatcher, "first", nominated_node_name="n1")
        patch(dispatcher, "second")
        patch(dispatcher, "third")
        assert await dispatcher.drain(5)
        assert messages(server) == ["third"]
        assert server.requests[0].body["status"]["nominatedNodeName"] == "n1"

    async def test_of_one_pod_are_sent_one_after_the_other(self, server, dispatcher, eventually):
        gate = asyncio.Event()
        server.on("PATCH", POD + "/status", gated(gate, OK), OK)
        patch(dispatcher, "first")
        await eventually(lambda: messages(server) == ["first"])
        patch(dispatcher, "second")
        await asyncio.sleep(0.05)
        assert messages(server) == ["first"]
        gate.set()
        await eventually(lambda: messages(server) == ["first", "second"])

    async def test_can_be_waited_for(self, server, dispatcher, eventually):
        gate = asyncio.Event()
        server.on("PATCH", POD + "/status", gated(gate, OK), OK)
        patch(dispatcher, "first")
        written = asyncio.ensure_future(dispatcher.status_written("uid-a"))
        await eventually(lambda: messages(server) == ["first"])
        patch(dispatcher, "second")
        assert not written.done()
        gate.set()
        await written
        assert messages(server) == ["first", "second"]

    async def test_can_be_asked_for_until_they_are_answered(self, server, dispatcher, eventually):
        gate = asyncio.Event()
        server.on("PATCH", POD + "/status", gated(gate, OK), OK)
        assert dispatcher.pending_status("uid-a") is None
        patch(dispatcher, "first", nominated_node_name="n1")
        assert dispatcher.pending_status("uid-a").nominated_node_name == "n1"
        await eventually(lambda: messages(server) == ["first"])
        assert dispatcher.pending_status("uid-a").conditions["PodScheduled"].message == "first"
        patch(dispatcher, "second")
        together = dispatcher.pending_status("uid-a")
        assert (together.conditions["PodScheduled"].message, together.nominated_node_name) == ("second", "n1")
        gate.set()
        await dispatcher.status_written("uid-a")
        assert dispatcher.pending_status("uid-a") is None
        assert [r.body["status"].get("nominatedNodeName") for r in server.seen("PATCH")] == ["n1", None]

    async def test_that_are_given_up_are_not_waited_for_any_more(self, server, dispatcher):
        server.on("PATCH", POD + "/status", status(403, "Forbidden", "no right to pods/status"))
        await dispatcher.status_written("uid-a")
        patch(dispatcher, "m")
        await dispatcher.status_written("uid-a")
        assert messages(server) == ["m"]

    @pytest.mark.parametrize(
        "trouble",
        [status(500), status(503), status(409, "Conflict"), no_answer()],
        ids=("500", "503", "409", "no answer"),
    )
    async def test_are_repeated_after_passing_trouble(self, server, dispatcher, trouble, eventually):
        server.on("PATCH", POD + "/status", trouble, OK)
        patch(dispatcher, "m")
        await eventually(lambda: messages(server) == ["m", "m"])

    async def test_that_are_refused_are_logged_and_given_up(self, server, dispatcher, caplog):
        server.on("PATCH", POD + "/status", status(403, "Forbidden", "no right to pods/status"))
        patch(dispatcher, "m")
        assert await dispatcher.drain(5)
        assert messages(server) == ["m"]
        assert "error updating pod ns/a: no right to pods/status" in caplog.text

    async def test_of_a_pod_that_is_gone_are_no_error(self, server, dispatcher, caplog):
        server.on("PATCH", POD + "/status", status(404, "NotFound"))
        patch(dispatcher, "m")
        assert await dispatcher.drain(5)
        assert caplog.text == ""


class TestBindAndPatchOfOnePod:
    async def test_a_patch_that_waits_is_dropped_when_the_bind_begins(self, server, dispatcher):
        server.on("POST", POD + "/binding", OK)
        patch(dispatcher, "too late")
        await dispatcher.bind("ns", "a", "uid-a", "n1")
        assert await dispatcher.drain(5)
        assert [r.method for r in server.requests] == ["POST"]

    async def test_a_patch_after_the_bind_is_dropped(self, server, dispatcher):
        server.on("POST", POD + "/binding", OK)
        await bind(dispatcher)
        patch(dispatcher, "too late")
        assert await dispatcher.drain(5)
        assert [r.method for r in server.requests] == ["POST"]

    async def test_a_bind_waits_for_a_patch_under_way(self, server, dispatcher, eventually):
        gate = asyncio.Event()
        server.on("PATCH", POD + "/status", gated(gate, OK))
        server.on("POST", POD + "/binding", OK)
        patch(dispatcher, "on its way")
        await eventually(lambda: server.requests)
        call = bind(dispatcher)
        await asyncio.sleep(0.05)
        assert [r.method for r in server.requests] == ["PATCH"]
        gate.set()
        await call
        assert [r.method for r in server.requests] == ["PATCH", "POST"]

    async def test_a_patch_is_not_repeated_once_the_bind_has_begun(self, server, dispatcher, eventually):
        gate = asyncio.Event()
        server.on("PATCH", POD + "/status", gated(gate, status(500)))
        server.on("POST", POD + "/binding", OK)
        patch(dispatcher, "on its way")
        await eventually(lambda: server.requests)
        call = bind(dispatcher)
        await asyncio.sleep(0)
        gate.set()
        await call
        assert [r.method for r in server.requests] == ["PATCH", "POST"]

    async def test_a_failed_bind_may_be_told_in_a_patch(self, server, dispatcher):
        server.on("POST", POD + "/binding", status(409, "Conflict", "being deleted"))
        server.on("PATCH", POD + "/status", OK)
        with pytest.raises(BindConflictError):
            await bind(dispatcher)
        patch(dispatcher, "binding rejected")
        assert await dispatcher.drain(5)
        assert messages(server) == ["binding rejected"]


class TestDeletion:
    async def test_names_the_pod_by_uid(self, server, dispatcher):
        server.on("DELETE", POD, OK)
        assert await dispatcher.delete_pod("ns", "a", "uid-a")
        assert server.requests[0].body["preconditions"] == {"uid": "uid-a"}

    @pytest.mark.parametrize(
        "answer",
        [status(404, "NotFound"), status(409, "Conflict", "Precondition failed: UID in precondition: uid-a")],
        ids=["gone", "replaced"],
    )
    async def test_of_a_pod_that_is_gone_is_done(self, server, dispatcher, answer):
        server.on("DELETE", POD, answer)
        assert not await dispatcher.delete_pod("ns", "a", "uid-a")
        assert len(server.requests) == 1

    async def test_is_not_repeated_after_a_lost_answer(self, server, dispatcher):
        server.on("DELETE", POD, no_answer())
        with pytest.raises(TransportError):
            await dispatcher.delete_pod("ns", "a", "uid-a")
        assert len(server.requests) == 1

    @pytest.mark.parametrize(
        "answer",
        [
            status(403, "Forbidden", "no right"),
            status(409, "Conflict", "no right"),
            status(500, "InternalError", "no right"),
        ],
    )
    async def test_that_is_refused_says_why_at_once(self, server, dispatcher, answer):
        server.on("DELETE", POD, answer)
        with pytest.raises(ApiError, match="no right"):
            await dispatcher.delete_pod("ns", "a", "uid-a")
        assert len(server.requests) == 1


class TestCondition:
    CONDITION = PodCondition(type="DisruptionTarget", status="True", reason="PreemptionByScheduler")

    def set(self, dispatcher):
        return dispatcher.set_pod_condition("ns", "a", "uid-a", self.CONDITION)

    async def test_is_set_of_a_bound_pod_too(self, server, dispatcher):
        server.on("POST", POD + "/binding", OK)
        server.on("PATCH", POD + "/status", OK)
        await bind(dispatcher)
        assert await self.set(dispatcher)
        body = server.seen("PATCH")[0].body
        assert body["metadata"] == {"uid": "uid-a"}
        assert body["status"]["conditions"][0]["type"] == "DisruptionTarget"
        assert "nominatedNodeName" not in body["status"]

    async def test_of_a_pod_that_is_gone_is_told(self, server, dispatcher):
        server.on("PATCH", POD + "/status", status(404, "NotFound"))
        assert not await self.set(dispatcher)

    @pytest.mark.parametrize("answer", [status(403, "Forbidden", "no"), status(409, "Conflict", "no")])
    async def test_that_is_refused_says_why(self, server, dispatcher, answer):
        server.on("PATCH", POD + "/status", answer)
        with pytest.raises(ApiError, match="no"):
            await self.set(dispatcher)


class TestDrain:
    async def test_lets_binds_under_way_end(self, server, dispatcher, eventually):
        gate = asyncio.Event()
        server.on("POST", POD + "/binding", gated(gate, OK))
        call = bind(dispatcher)
        await eventually(lambda: server.requests)
        drain = asyncio.create_task(dispatcher.drain(5))
        await asyncio.sleep(0.02)
        assert not drain.done()
        gate.set()
        assert await drain
        await call

    async def test_gives_up_what_takes_too_long_and_says_so(self, server, dispatcher, eventually):
        gate = asyncio.Event()
        server.on("PATCH", POD + "/status", gated(gate, OK))
        patch(dispatcher, "stuck")
        await eventually(lambda: server.requests)
        assert not await dispatcher.drain(0.05)
        gate.set()

    async def test_takes_no_more_patches(self, server, dispatcher):
        await dispatcher.drain(1)
        patch(dispatcher, "too late")
        await asyncio.sleep(0.02)
        assert server.requests == []


async def test_a_bind_cancelled_before_it_was_sent_leaves_the_pod_to_patches(server, session, eventually):
    gate = asyncio.Event()
    server.on("POST", "/api/v1/namespaces/ns/pods/b/binding", gated(gate, OK))
    server.on("PATCH", POD + "/status", OK)
    dispatcher = Dispatcher(session, settings=WriteSettings(concurrency=1, reserved_for_binds=0))
    other = asyncio.create_task(dispatcher.bind("ns", "b", "uid-b", "n1"))
    await eventually(lambda: server.requests)
    call = bind(dispatcher)
    await asyncio.sleep(0.01)
    call.cancel()
    await asyncio.wait({call})
    patch(dispatcher, "still pending")
    gate.set()
    await other
    assert await dispatcher.drain(5)
    assert messages(server) == ["still pending"]
