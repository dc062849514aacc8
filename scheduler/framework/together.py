"""Doing several things at once, for plugins, which know nothing of the event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable


async def together(works: Iterable[Coroutine[Any, Any, None]]) -> list[Exception]:
    """Do all of it; what went wrong. Being cancelled cancels them all."""
    outcomes = await asyncio.gather(*works, return_exceptions=True)
    return [outcome for outcome in outcomes if isinstance(outcome, Exception)]
