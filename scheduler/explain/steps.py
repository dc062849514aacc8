"""Work in short steps, between which others may go on: a generator that yields nothing and returns what came of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator

T = TypeVar("T")
Steps: TypeAlias = "Generator[None, None, T]"


def in_one_go(steps: Steps[T]) -> T:
    """All steps, one right after the other; what came of them."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result


async def in_turns(steps: Steps[T]) -> T:
    """All steps, with the event loop going on between them; what came of them."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        await asyncio.sleep(0)
