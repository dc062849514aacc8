"""Events are written with patience, or dropped and counted."""

from __future__ import annotations

import asyncio
import random

import pytest

from scheduler.api.objects import ObjectReference
from scheduler.client.eventwriter import EventSettings, EventWriter
from scheduler.client.interface import Event, EventSeries
from scheduler.client.slots import Slots
from tests.fakes.apiserver import gated, no_answer, reply, status

EVENTS = "/apis/events.k8s.io/v1/namespaces/ns/events"
OK = reply({}, 201)


def event(name="a.1", count=None):
    series = EventSeries(count=count, last_observed_time="2027-01-15T08:00:00.000000Z") if count else None
    return Event(
        name=name,
        namespace="ns",
        event_time="2027-01-15T08:00:00.000000Z",
        reporting_controller="berth",
        reporting_instance="berth-host",
        action="Binding",
        reason="Scheduled",
        type="Normal",
        regarding=ObjectReference(kind="Pod", namespace="ns", name="a"),
        note="Successfully assigned ns/a to n1",
        series=series,
    )


@pytest.fixture
def writer(session):
    def make(**settings):
        return EventWriter(
            session,
            Slots(2),
            settings=EventSettings(**{"pause": 0.001} | settings),
            on_dropped=None,
            rng=random.Random(1),
        )

    return make


async def test_an_event_is_created_as_the_api_takes_it(server, writer):
    server.on("POST", EVENTS, OK)
    events = writer()
    events.create_event(event())
    assert await events.drain(5)
    body = server.requests[0].body
    assert body["apiVersion"] == "events.k8s.io/v1"
    assert body["metadata"] == {"name": "a.1", "namespace": "ns"}
    assert body["reportingInstance"] == "berth-host"
    assert body["regarding"]["kind"] == "Pod"
    assert "series" not in body
    assert events.dropped == 0


async def test_a_series_is_a_patch(server, writer):
    server.on("PATCH", EVENTS + "/a.1", OK)
    events = writer()
    events.patch_event(event(count=2))
    assert await events.drain(5)
    assert server.requests[0].body == {"series": {"count": 2, "lastObservedTime": "2027-01-15T08:00:00.000000Z"}}


async def test_a_series_whose_event_is_gone_is_created(server, writer):
    server.on("POST", EVENTS, OK)
    events = writer()
    events.patch_event(event(count=7))
    assert await events.drain(5)
    assert [r.method for r in server.requests] == ["PATCH", "POST"]
    assert server.requests[1].body["series"]["count"] == 7


async def test_a_series_that_meets_its_event_just_created_is_patched_again(server, writer, eventually):
    server.on("PATCH", EVENTS + "/a.1", status(404), OK)
    server.on("POST", EVENTS, status(409, "AlreadyExists"))
    writer().patch_event(event(count=2))
    await eventually(lambda: [r.method for r in server.requests] == ["PATCH", "POST", "PATCH"])


async def test_trouble_with_the_connection_is_retried_up_to_twelve_times(server, writer, eventually):
    server.on("POST", EVENTS, no_answer())
    events = writer()
    events.create_event(event())
    await eventually(lambda: events.dropped == 1)
    assert len(server.requests) == 12


@pytest.mark.parametrize("refusal", [status(403, "Forbidden"), status(409, "AlreadyExists"), status(500)])
async def test_a_refusal_is_not_retried(server, writer, eventually, refusal):
    server.on("POST", EVENTS, refusal)
    events = writer()
    events.create_event(event())
    await eventually(lambda: events.dropped == 1)
    assert len(server.requests) == 1


async def test_more_than_may_wait_are_dropped_and_counted(server, session):
    gate, dropped = asyncio.Event(), []
    server.on("POST", EVENTS, gated(gate, OK))
    events = EventWriter(
        session,
        Slots(2),
        settings=EventSettings(waiting=3),
        on_dropped=lambda: dropped.append(1),
        rng=random.Random(1),
    )
    for number in range(5):
        events.create_event(event(f"a.{number}"))
    assert len(dropped) == events.dropped == 2
    gate.set()
    assert await events.drain(5)
    assert len(server.requests) == 3


async def test_draining_gives_up_what_does_not_get_through(server, writer):
    gate = asyncio.Event()
    server.on("POST", EVENTS, gated(gate, OK))
    events = writer()
    events.create_event(event())
    assert not await events.drain(0.05)
    assert events.dropped == 1
    gate.set()


async def test_one_worker_writes_events_that_come_one_after_the_other(server, writer, eventually):
    server.on("POST", EVENTS, OK)
    events = writer()
    before = asyncio.all_tasks()
    for number in range(3):
        events.create_event(event(f"a.{number}"))
        await eventually(lambda number=number: len(server.requests) == number + 1)
        await asyncio.sleep(0.01)
    assert len([task for task in asyncio.all_tasks() - before if "_work" in repr(task)]) == 1
    assert await events.drain(5)
    assert not [task for task in asyncio.all_tasks() - before if "_work" in repr(task)]


async def test_an_event_that_waits_for_another_try_holds_up_no_other(server, writer, eventually):
    server.on("POST", EVENTS, no_answer(), OK)
    events = writer(pause=60.0)
    events.create_event(event("a.1"))
    await eventually(lambda: len(server.requests) == 1)
    events.create_event(event("a.2"))
    await eventually(lambda: len(server.requests) == 2)
    assert not await events.drain(0.01)
    assert events.dropped == 1
