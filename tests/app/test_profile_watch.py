"""Hearing of SchedulerProfiles by kopf."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Any

import pytest

from scheduler.app.profile_watch import PATH, watch_profiles
from tests.app.profiles_served import GROUP_VERSION, listing, served, watchable
from tests.app.test_profile_resources import body
from tests.fakes.apiserver import FakeApiServer, status, stream

if TYPE_CHECKING:
    from collections.abc import Mapping


async def test_events_are_heard_and_nothing_is_written_by_kopf() -> None:
    heard: list[tuple[str | None, str]] = []
    done = asyncio.Event()

    def hear(kind: str | None, found: Mapping[str, Any]) -> None:
        heard.append((kind, found["metadata"]["name"]))
        if kind == "DELETED":
            done.set()

    async with FakeApiServer() as server:
        watchable(server)
        events = [{"type": kind, "object": body("b")} for kind in ("ADDED", "MODIFIED", "DELETED")]
        server.on("GET", PATH, served(listing(body("a")), stream(events[0]), stream(*events[1:], end="silence")))
        taken: list[bool] = []
        watch = watch_profiles(server.connection, hear, on_signals_taken=lambda: taken.append(True))
        task = asyncio.create_task(watch)
        await asyncio.wait_for(done.wait(), 30)
        beside = asyncio.create_task(asyncio.sleep(3600))
        task.cancel()
        await asyncio.wait({task})
        assert heard[0] == (None, "a")
        assert ("DELETED", "b") in heard
        assert taken == [True]
        assert not beside.done()
        beside.cancel()
        assert {seen.method for seen in server.requests} == {"GET"}
        paths = {seen.path for seen in server.requests}
        assert paths == {"/api", "/api/v1", "/apis", f"/apis/{GROUP_VERSION}", PATH}


async def test_it_ends_when_the_resource_is_gone() -> None:
    async with FakeApiServer() as server:
        watchable(server)
        server.on("GET", PATH, status(404, "NotFound"))
        watch = watch_profiles(server.connection, lambda *_: None, on_signals_taken=lambda: None)
        with pytest.raises(Exception, match="NotFound"):
            await asyncio.wait_for(watch, 30)


async def test_the_signals_can_be_taken_back(eventually: Any) -> None:
    loop = asyncio.get_running_loop()
    mine = asyncio.Event()
    async with FakeApiServer() as server:
        watchable(server)
        server.on("GET", PATH, served(listing(), stream(end="silence")))
        task = asyncio.create_task(
            watch_profiles(
                server.connection,
                lambda *_: None,
                on_signals_taken=lambda: loop.add_signal_handler(signal.SIGTERM, mine.set),
            )
        )
        await eventually(lambda: server.seen("GET", PATH))
        signal.raise_signal(signal.SIGTERM)
        await asyncio.wait_for(mine.wait(), 10)
        assert not task.done()
        task.cancel()
        await asyncio.wait({task})
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.remove_signal_handler(number)


async def test_an_event_that_can_not_be_dealt_with_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    heard = asyncio.Event()

    def hear(kind: str | None, found: Mapping[str, Any]) -> None:
        if kind is None:
            raise KeyError("boom")
        heard.set()

    async with FakeApiServer() as server:
        watchable(server)
        added = {"type": "ADDED", "object": body("b")}
        server.on("GET", PATH, served(listing(body("a")), stream(added, end="silence")))
        task = asyncio.create_task(watch_profiles(server.connection, hear, on_signals_taken=lambda: None))
        await asyncio.wait_for(heard.wait(), 30)
        task.cancel()
        await asyncio.wait({task})
    assert "An event about SchedulerProfile a could not be dealt with" in caplog.messages
