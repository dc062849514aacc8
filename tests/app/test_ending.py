"""How a process ends: in which order things stop, and what is kept from whom."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import pytest

from scheduler.app.ending import Ending, wind_down

if TYPE_CHECKING:
    from collections.abc import Callable


class Parts:
    """Everything that is stopped, noting in which order; `unfinished` binds do not end in time."""

    def __init__(self, unfinished: int = 0) -> None:
        self.order: list[str] = []
        self.times: dict[str, float] = {}
        self.unfinished = unfinished
        self.extenders = [self]
        self.waiting = [self]
        self.server_closed = asyncio.Event()

    def stop(self) -> None:
        self.order.append("no more pods")

    def reject(self, plugin: str, reason: str) -> None:
        self.order.append(f"turned down: {reason}")

    async def settle(self, within: float) -> int:
        self.order.append("binds")
        self.times["grace"] = within
        return self.unfinished

    def close(self) -> None:
        self.order.append("extenders")

    async def drain(self, within: float) -> bool:
        self.order.append("writes")
        self.times["drain"] = within
        return True

    async def release(self, *, within: float) -> None:
        self.order.append("lease")
        self.times["release"] = within


class Tasks:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def stop(self, within: float) -> None:
        self._parts.order.append("tasks")
        self._parts.times["cancel"] = within


class Server:
    """One whose last request ends when it is told to."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def stop(self) -> None:
        await self._parts.server_closed.wait()
        self._parts.order.append("server")


@pytest.fixture
def end() -> Callable[..., Any]:
    async def end(parts: Any, *, elects: bool = True, serves: bool = False, grace: float = 20.0) -> list[str]:
        tasks: Any = Tasks(parts)
        server: Any = Server(parts) if serves else None
        leadership = parts if elects else None
        await wind_down(parts, parts, tasks, leadership=leadership, server=server, grace=grace)
        return parts.order

    return end


async def test_binds_come_to_their_end_before_anything_that_they_need_is_stopped(end) -> None:
    assert await end(Parts()) == [
        "no more pods",
        "turned down: the scheduler is stopping",
        "binds",
        "extenders",
        "writes",
        "tasks",
        "lease",
    ]


async def test_the_lease_is_kept_while_a_bind_may_still_take_effect(end, caplog: pytest.LogCaptureFixture) -> None:
    """Another scheduler that got it at once might decide on the same pod."""
    with caplog.at_level(logging.ERROR):
        assert "lease" not in await end(Parts(unfinished=2), grace=7.0)
    assert caplog.messages == ["2 binding cycles did not end within 7 s"]


async def test_without_an_election_there_is_nothing_to_release(end) -> None:
    assert "lease" not in await end(Parts(), elects=False)


async def test_probes_are_answered_until_the_last_request_has_ended(end) -> None:
    parts = Parts()
    ending = asyncio.create_task(end(parts, serves=True))
    for _ in range(10):
        await asyncio.sleep(0)
    assert parts.order[-1] == "lease"
    assert not ending.done()
    parts.server_closed.set()
    assert (await ending)[-1] == "server"


async def test_all_of_it_takes_less_than_a_kubelet_waits_by_default(end) -> None:
    parts = Parts()
    await end(parts)
    assert parts.times["grace"] == 20.0
    assert sum(parts.times.values()) < 30


@pytest.mark.parametrize(("why", "code"), [(Ending.STOPPED, 0), (Ending.LEASE_LOST, 1), (Ending.FAILED, 1)])
def test_only_an_end_that_was_asked_for_is_a_success(why: Ending, code: int) -> None:
    assert why.code == code
