"""What all tests share."""

from __future__ import annotations

import asyncio

import pytest


@pytest.fixture(scope="session", autouse=True)
def _no_loop_of_the_main_thread() -> None:
    """Python 3.11 makes a loop when first asked for the current one, and nobody closes that."""
    asyncio.set_event_loop(None)
