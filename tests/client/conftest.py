"""Fixtures of the client's tests."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from scheduler.client.http import Session
from tests.fakes.apiserver import FakeApiServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

# looptime asks for the current loop before each test, synchronous ones too. Python makes one for whoever asks
# first, and nobody would close it; once "no loop" has been set, it does not.
asyncio.set_event_loop(None)


@pytest.fixture
async def server() -> AsyncIterator[FakeApiServer]:
    async with FakeApiServer() as fake:
        yield fake


@pytest.fixture
async def session(server: FakeApiServer) -> AsyncIterator[Session]:
    async with Session(server.connection, qps=0) as opened:
        yield opened


@pytest.fixture
def eventually() -> Callable[[Callable[[], object]], object]:
    """Wait until a condition holds; a test that waits in vain fails."""

    async def wait(condition: Callable[[], object]) -> None:
        async with asyncio.timeout(10):
            while True:
                if condition():
                    return
                await asyncio.sleep(0.005)

    return wait
