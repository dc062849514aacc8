"""Bounded concurrency with ranks: whoever matters more goes first."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__ = ["Rank", "Slots"]


class Rank(IntEnum):
    """Order in which writes get their turn, the first one first."""

    BIND = 0
    DELETE = 1
    STATUS = 2
    EVENT = 3


class Slots:
    """At most ``limit`` holders at a time; a freed slot goes to the first of those waiting in the best rank.

    Ranks after the first may hold all slots but ``reserved``, so that a bind need not wait for slow events.
    """

    def __init__(self, limit: int, *, reserved: int = 0) -> None:
        if not 0 <= reserved < limit:
            raise ValueError(f"of {limit} slots, {reserved} can't be reserved")
        self._limit = limit
        self._reserved = reserved
        self._held = 0
        self._waiting: dict[Rank, deque[asyncio.Future[None]]] = {rank: deque() for rank in Rank}

    @property
    def held(self) -> int:
        """Slots in use."""
        return self._held

    @asynccontextmanager
    async def slot(self, rank: Rank) -> AsyncIterator[None]:
        """Hold a slot for the length of the block."""
        await self._acquire(rank)
        try:
            yield
        finally:
            self._held -= 1
            self._wake()

    def _room(self, rank: Rank) -> bool:
        return self._held < self._limit - (0 if rank is Rank.BIND else self._reserved)

    async def _acquire(self, rank: Rank) -> None:
        if self._room(rank) and not any(self._waiting[better] for better in Rank if better <= rank):
            self._held += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[rank].append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the slot was handed over in the same moment
                self._held -= 1
                self._wake()
            else:
                self._waiting[rank].remove(turn)
            raise

    def _wake(self) -> None:
        for rank, queue in self._waiting.items():
            while queue and self._room(rank):
                self._held += 1
                queue.popleft().set_result(None)
