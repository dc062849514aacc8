"""Writes of a process that leads no more."""

from __future__ import annotations

import asyncio

import pytest

from scheduler.api.objects import PodCondition
from scheduler.app.fence import FencedDispatcher, NotLeadingError
from scheduler.client.http import Session
from scheduler.client.kinds import PODS
from tests.fakes.apiserver import reply

CONDITION = PodCondition(type="PodScheduled", status="False")


@pytest.fixture
async def writes(server):
    """Tries each write once, as a leader or not, and gives the methods of the requests that came of it."""
    server.on("POST", PODS.path("ns", "a", "binding"), reply({}, 201))
    server.on("DELETE", PODS.path("ns", "b"), reply({}))
    server.on("PATCH", PODS.path("ns", "c", "status"), reply({}))

    async def attempt(*, leads):
        async with Session(server.connection, qps=0) as session:
            writer = FencedDispatcher(session, leads=lambda: leads)
            writer.patch_pod_status("ns", "c", "uid-c", conditions=[CONDITION])
            outcome = await asyncio.gather(
                writer.bind("ns", "a", "uid-a", "n"), writer.delete_pod("ns", "b", "uid-b"), return_exceptions=True
            )
            await writer.drain(5.0)
        return [type(one) for one in outcome if isinstance(one, Exception)], sorted(
            seen.method for seen in server.requests
        )

    return attempt


async def test_the_leader_writes(writes):
    assert await writes(leads=True) == ([], ["DELETE", "PATCH", "POST"])


async def test_whoever_does_not_lead_writes_nothing(writes):
    assert await writes(leads=False) == ([NotLeadingError, NotLeadingError], [])


@pytest.mark.parametrize("leads", [True, False])
async def test_only_the_leader_annotates_pods(server, leads):
    server.on("GET", PODS.path("ns", "c"), reply({"metadata": {"uid": "uid-c"}}))
    server.on("PATCH", PODS.path("ns", "c"), reply({}))
    async with Session(server.connection, qps=0) as session:
        writer = FencedDispatcher(session, leads=lambda: leads)
        assert await writer.annotate_pod("ns", "c", "uid-c", lambda present: {"a": "b"}) is leads
    assert [seen.method for seen in server.requests] == (["GET", "PATCH"] if leads else [])
