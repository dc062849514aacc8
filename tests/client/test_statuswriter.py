"""Statuses of pods are written in order, merged while they wait, and never once a bind has begun.

How binds and statuses of one pod go together is held by the tests of the dispatcher.
"""

from __future__ import annotations

import asyncio
import random

import pytest

from scheduler.api.objects import PodCondition
from scheduler.client import statuswriter
from scheduler.client.errors import ApiError
from scheduler.client.slots import Rank, Slots
from scheduler.client.status import StatusPatch
from scheduler.client.statuswriter import StatusWriter
from tests.fakes.apiserver import gated, reply, status

OK = reply({})


def path(name="a"):
    return f"/api/v1/namespaces/ns/pods/{name}/status"


def patch(message, name="a"):
    condition = PodCondition(type="PodScheduled", status="False", message=message)
    return StatusPatch.of("ns", name, f"uid-{name}", [condition], None)


def messages(server):
    return [request.body["status"]["conditions"][0]["message"] for request in server.seen("PATCH")]


@pytest.fixture
def slots():
    return Slots(2)


@pytest.fixture
async def writer(session, slots):
    writer = StatusWriter(session, slots, within=5.0, attempts=3, backoff=(0.001, 0.01), rng=random.Random(1))
    yield writer
    await writer.drain(5)


async def test_statuses_of_several_pods_go_side_by_side(server, writer, eventually):
    gate = asyncio.Event()
    for name in "ab":
        server.on("PATCH", path(name), gated(gate, OK))
        writer.patch(patch(f"of {name}", name))
    await eventually(lambda: sorted(messages(server)) == ["of a", "of b"])
    gate.set()
    assert await writer.drain(5)


async def test_what_waits_for_its_turn_is_sent_as_it_is_by_then(server, writer, slots):
    server.on("PATCH", path(), OK)
    await slots.acquire(Rank.BIND)
    await slots.acquire(Rank.BIND)
    writer.patch(patch("first"))
    await asyncio.sleep(0)
    writer.patch(patch("second"))
    assert writer.pending("uid-a").conditions["PodScheduled"].message == "second"
    slots.release()
    await writer.written("uid-a")
    assert messages(server) == ["second"]


async def test_a_bind_that_begins_while_it_waits_for_its_turn_takes_it_back(server, writer, slots):
    await slots.acquire(Rank.BIND)
    await slots.acquire(Rank.BIND)
    writer.patch(patch("too late"))
    await asyncio.sleep(0)
    writer.bind_begins("uid-a")
    slots.release()
    assert await writer.drain(5)
    assert server.requests == []


async def test_patches_are_taken_again_once_the_bind_has_failed(server, writer):
    server.on("PATCH", path(), OK)
    writer.bind_begins("uid-a")
    writer.patch(patch("dropped"))
    writer.bind_failed("uid-a")
    writer.patch(patch("told"))
    assert await writer.drain(5)
    assert messages(server) == ["told"]


async def test_only_so_many_bound_pods_are_remembered_the_latest(server, writer, monkeypatch):
    monkeypatch.setattr(statuswriter, "_REMEMBERED", 10)
    server.on("PATCH", path("0"), OK)
    for number in range(11):
        writer.bind_begins(f"uid-{number}")
    for number in range(11):
        writer.patch(patch("m", str(number)))
    assert await writer.drain(5)
    assert [request.path for request in server.requests] == [path("0")]


async def test_a_bind_that_is_tried_again_makes_its_pod_the_latest(server, writer, monkeypatch):
    monkeypatch.setattr(statuswriter, "_REMEMBERED", 2)
    for uid in ("uid-a", "uid-b", "uid-a", "uid-c"):
        writer.bind_begins(uid)
    writer.patch(patch("too late"))
    assert await writer.drain(5)
    assert server.requests == []


async def test_trouble_ends_after_so_many_attempts(server, writer):
    server.on("PATCH", path(), status(503))
    with pytest.raises(ApiError):
        await writer.repeat(path(), patch("m").body())
    assert len(server.requests) == 3


@pytest.mark.parametrize("code", [400, 403, 404, 422])
async def test_what_will_not_change_is_not_repeated(server, writer, code):
    server.on("PATCH", path(), status(code))
    with pytest.raises(ApiError):
        await writer.repeat(path(), patch("m").body())
    assert len(server.requests) == 1


async def test_nothing_pends_and_nothing_is_waited_for_where_there_is_no_patch(writer):
    assert writer.pending("uid-a") is None
    await writer.written("uid-a")
    await writer.answered("uid-a")
    assert await writer.drain(0)


async def test_a_closed_writer_sends_what_it_has_and_takes_no_more(server, writer):
    server.on("PATCH", path(), OK)
    writer.patch(patch("before"))
    writer.close()
    writer.patch(patch("after"))
    assert await writer.drain(5)
    assert messages(server) == ["before"]


async def test_what_takes_too_long_is_given_up(server, writer, eventually):
    gate = asyncio.Event()
    server.on("PATCH", path(), gated(gate, OK))
    writer.patch(patch("stuck"))
    await eventually(lambda: server.requests)
    assert not await writer.drain(0.01)
    assert writer.pending("uid-a") is None
    gate.set()
