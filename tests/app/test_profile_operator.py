"""SchedulerProfiles read and watched on an API server, and told what became of them."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from scheduler.app.profile_operator import ProfileOperator
from scheduler.app.profile_watch import PATH
from scheduler.client.http import Session
from tests.app.profiles_served import listing, served, watchable
from tests.app.running import Live
from tests.app.test_profile_resources import HEAVY, LIGHT, WRONG, body
from tests.fakes.apiserver import FakeApiServer, reply, status, stream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class World(Live):
    """A scheduler and its operator on a fake API server."""

    def __init__(self, server: FakeApiServer, session: Session) -> None:
        super().__init__()
        self.server = server
        self.leads = True
        self.operator = ProfileOperator(
            self.scheduler,
            self.running,
            session,
            server.connection,
            leads=lambda: self.leads,
            on_signals_taken=lambda: None,
        )

    def patches(self, name: str) -> list[Any]:
        """The statuses written to a resource."""
        return [seen.body[1]["value"] for seen in self.server.seen("PATCH", f"{PATH}/{name}/status")]

    def reasons(self) -> list[str]:
        """The reasons of events about SchedulerProfiles."""
        return [event.reason for event in self.cluster.events if event.regarding.kind == "SchedulerProfile"]


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    async with FakeApiServer() as server, Session(server.connection, qps=0) as session:
        yield World(server, session)


class TestReading:
    async def test_all_that_there_are_are_brought_into_force_before_pods_are_taken(self) -> None:
        async with world() as it:
            it.server.on("GET", PATH, listing(body("a", plugins=HEAVY)))
            assert await it.operator.load()
            assert it.weight("ImageLocality") == 8

    @pytest.mark.parametrize(
        ("answer", "text"),
        [
            (status(404, "NotFound"), "SchedulerProfiles are not installed here"),
            (status(403, "Forbidden"), "SchedulerProfiles may not be read"),
            (status(500, "InternalError"), "SchedulerProfiles can't be read for now"),
            (reply("nonsense"), "SchedulerProfiles can't be read for now"),
        ],
    )
    async def test_what_keeps_them_from_being_read_is_told_once(
        self, answer: Any, text: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        async with world() as it:
            it.server.on("GET", PATH, answer)
            assert not await it.operator.load()
            assert not await it.operator.load()
            (message,) = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
            assert message.startswith(text)

    async def test_profiles_stay_while_they_can_not_be_read_and_go_when_the_resource_is_gone(self) -> None:
        async with world() as it:
            answers = [listing(body("a", plugins=HEAVY)), status(403, "Forbidden"), status(404, "NotFound")]
            it.server.on("GET", PATH, *answers)
            weights = []
            for _ in answers:
                await it.operator.load()
                weights.append(it.weight("ImageLocality"))
            assert weights == [8, 8, 1]


class TestTelling:
    async def test_a_status_is_written_once_for_each_change(self) -> None:
        async with world() as it:
            it.server.on("PATCH", f"{PATH}/a/status", reply({}))
            it.operator.resources.set(body("a", plugins=HEAVY))
            await it.operator.write()
            await it.operator.write()
            (written,) = it.patches("a")
            assert written["accepted"]["profile"] == {"schedulerName": "berth", "plugins": HEAVY}
            (seen,) = it.server.seen("PATCH")
            assert seen.body[0] == {"op": "test", "path": "/metadata/uid", "value": "uid-a"}
            assert seen.headers["Content-Type"] == "application/json-patch+json"
            it.operator.resources.set(body("a", generation=2, plugins=WRONG))
            await it.operator.write()
            assert [one["observedGeneration"] for one in it.patches("a")] == [1, 2]
            assert it.reasons() == ["ProfileAccepted", "ProfileRejected"]

    async def test_one_that_says_it_already_is_left_alone(self) -> None:
        async with world() as it:
            it.server.on("PATCH", f"{PATH}/a/status", reply({}))
            it.operator.resources.set(body("a", plugins=HEAVY))
            await it.operator.write()
            (written,) = it.patches("a")
            other = World(it.server, it.operator._session)
            other.operator.resources.set(body("a", plugins=HEAVY, status=written))
            await other.operator.write()
            assert len(it.patches("a")) == 1

    @pytest.mark.parametrize(("code", "tries"), [(403, 1), (404, 1), (409, 2), (500, 2)])
    async def test_a_write_is_tried_again_where_that_may_help(self, code: int, tries: int) -> None:
        async with world() as it:
            it.server.on("PATCH", f"{PATH}/a/status", status(code, "No"))
            it.operator.resources.set(body("a", plugins=HEAVY))
            await it.operator.write()
            await it.operator.write()
            assert len(it.patches("a")) == tries

    async def test_whoever_leads_no_more_writes_nothing(self) -> None:
        async with world() as it:
            it.operator.resources.set(body("a", plugins=HEAVY))
            it.leads = False
            await it.operator.write()
            assert it.patches("a") == []

    async def test_conflicts_are_events_too(self) -> None:
        async with world() as it:
            it.operator.resources.replace([body("a", plugins=HEAVY), body("b", plugins=LIGHT)])
            assert it.reasons() == ["ProfileAccepted", "ProfileConflict"]


class TestFollowing:
    async def test_the_operator_follows_what_it_hears(self, eventually: Any) -> None:
        async with world() as it:
            watchable(it.server)
            change = {"type": "MODIFIED", "object": body("a", generation=2, plugins=LIGHT)}
            gone = {"type": "DELETED", "object": body("a", generation=2, plugins=LIGHT)}
            it.server.on("GET", PATH, served(listing(body("a", plugins=HEAVY)), stream(change, gone, end="silence")))
            seen: list[int] = []
            before = it.running.use

            def use(overrides: Any) -> Any:
                found = before(overrides)
                seen.append(it.weight("ImageLocality"))
                return found

            it.running.use = use  # type: ignore[method-assign]
            task = asyncio.create_task(it.operator.run())
            await eventually(lambda: seen[-1:] == [1])
            assert seen in ([8, 2, 1], [8, 1])  # kopf may leave out what is outdated already
            task.cancel()
            await asyncio.wait({task})
