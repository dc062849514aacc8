"""Annotations of pods are patched by what is there, and after everything else."""

from __future__ import annotations

import asyncio

import pytest

from scheduler.client.annotationwriter import AnnotationWriter
from scheduler.client.errors import ApiError
from scheduler.client.slots import Rank, Slots
from tests.fakes.apiserver import reply, status

POD = "/api/v1/namespaces/ns/pods/a"
FOUND = reply({"metadata": {"uid": "uid-a", "annotations": {"old": "1"}}})


@pytest.fixture
def slots():
    return Slots(2, reserved=1)


@pytest.fixture
def annotate(session, slots):
    writer = AnnotationWriter(session, slots, within=5.0)
    return lambda change, uid="uid-a": writer.annotate_pod("ns", "a", uid, change)


async def test_what_is_there_decides_what_is_patched(server, annotate):
    server.on("GET", POD, FOUND)
    server.on("PATCH", POD, reply({}))
    assert await annotate(lambda present: {"new": present["old"], "old": None})
    (request,) = server.seen("PATCH")
    assert request.headers["Content-Type"] == "application/merge-patch+json"
    assert request.body == {"metadata": {"uid": "uid-a", "annotations": {"new": "1", "old": None}}}


async def test_nothing_is_patched_without_a_change(server, annotate):
    server.on("GET", POD, FOUND)
    assert not await annotate(lambda present: {})
    assert not server.seen("PATCH")


async def test_another_pod_of_the_name_is_left_alone(server, annotate):
    server.on("GET", POD, FOUND)
    assert not await annotate(lambda present: {"new": "1"}, uid="uid-b")
    assert not server.seen("PATCH")


async def test_a_pod_that_is_gone_is_no_error(server, annotate):
    server.on("GET", POD, status(404, "NotFound"))
    assert not await annotate(lambda present: {"new": "1"})


async def test_a_refusal_is_raised(server, annotate):
    server.on("GET", POD, FOUND)
    server.on("PATCH", POD, status(403, "Forbidden"))
    with pytest.raises(ApiError):
        await annotate(lambda present: {"new": "1"})


async def test_it_waits_while_others_write(server, annotate, slots):
    server.on("GET", POD, FOUND)
    server.on("PATCH", POD, reply({}))
    async with slots.slot(Rank.STATUS):
        task = asyncio.ensure_future(annotate(lambda present: {"new": "1"}))
        for _ in range(50):
            await asyncio.sleep(0)
        assert not server.requests
    assert await task
