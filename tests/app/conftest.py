"""Fixtures of the tests of whole schedulers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.app.live import serve, write_kubeconfig
from tests.fakes.apiserver import FakeApiServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path


@pytest.fixture
async def server() -> AsyncIterator[FakeApiServer]:
    async with FakeApiServer() as fake:
        serve(fake)
        yield fake


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Callable[[FakeApiServer], str]:
    """Writes a kubeconfig for a fake server and gives its path."""
    return lambda server: write_kubeconfig(tmp_path / "kubeconfig", server)


@pytest.fixture
def eventually() -> Callable[[Callable[[], object]], object]:
    """Wait until a condition holds; a test that waits in vain fails."""

    async def wait(condition: Callable[[], object]) -> None:
        async with asyncio.timeout(20):
            while True:
                if condition():
                    return
                await asyncio.sleep(0.005)

    return wait
