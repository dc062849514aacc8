"""What all tests share."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import settings

# How long an example takes says something of the machine, not of the code.
settings.register_profile("berth", deadline=None)
settings.load_profile("berth")


@pytest.fixture(scope="session", autouse=True)
def _no_loop_of_the_main_thread() -> None:
    """Python 3.11 makes a loop when first asked for the current one, and nobody closes that."""
    asyncio.set_event_loop(None)
