"""Bounded concurrency with ranks: whoever matters more goes first."""

from __future__ import annotations

import asyncio
from collections import deque
from enum import IntEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

__all__ = ["Rank", "Slots"]


class Rank(IntEnum):
    """Order in which writes get their turn, the first one first."""

    BIND = 0
    DELETE = 1
    STATUS = 2
    EVENT = 3


_RANKS: Final = tuple(Rank)


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
        self._waiting: list[deque[asyncio.Future[None]]] = [deque() for _ in Rank]

    @property
    def held(self) -> int:
        """Slots in use."""
        return self._held

    def slot(self, rank: Rank) -> AbstractAsyncContextManager[None]:
        """Hold a slot for the length of the block."""
        return _Slot(self, rank)

    def _room(self, rank: Rank) -> bool:
        return self._held < self._limit - (0 if rank is Rank.BIND else self._reserved)

    def take(self, rank: Rank) -> bool:
        """Take a slot if there is one for this rank at once; then `release` must follow."""
        free = self._room(rank) and not any(self._waiting[: rank + 1])
        if free:
            self._held += 1
        return free

    async def acquire(self, rank: Rank) -> None:
        """Take a slot, as soon as there is one for this rank; `release` must follow."""
        if self.take(rank):
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[rank].append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the slot was handed over in the same moment
                self.release()
            else:
                self._waiting[rank].remove(turn)
            raise

    def release(self) -> None:
        """Give a slot back, and on to whoever waits for it."""
        self._held -= 1
        if not any(self._waiting):
            return
        for rank, queue in zip(_RANKS, self._waiting, strict=True):
            while queue and self._room(rank):
                self._held += 1
                queue.popleft().set_result(None)


class _Slot:
    """What `Slots.slot` gives; a generator would take several times as long."""

    __slots__ = ("_rank", "_slots")

    def __init__(self, slots: Slots, rank: Rank) -> None:
        self._slots = slots
        self._rank = rank

    async def __aenter__(self) -> None:
        if not self._slots.take(self._rank):
            await self._slots.acquire(self._rank)

    async def __aexit__(self, *error: object) -> None:
        self._slots.release()
