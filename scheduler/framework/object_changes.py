"""Waiting for objects to change, for plugins, which know nothing of the event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from scheduler.cache.objects import Name, ObjectStore


class ObjectChanges:
    """Wakes those who wait for certain objects of some kinds when one of these has changed.

    The objects know of it only while somebody waits, so that a plugin that was replaced leaves nothing behind.
    """

    __slots__ = ("_kinds", "_objects", "_waiting")

    def __init__(self, objects: ObjectStore, kinds: Iterable[str]) -> None:
        self._objects = objects
        self._kinds = tuple(kinds)
        self._waiting: dict[asyncio.Event, Container[Name]] = {}

    async def wait(self, seconds: float, names: Container[Name]) -> None:
        """Until an object of one of the names (of whichever kind) changes, `seconds` at most."""
        event = asyncio.Event()
        if not self._waiting:
            for kind in self._kinds:
                self._objects.listen(kind, self._wake)
        self._waiting[event] = names
        try:
            await asyncio.wait_for(event.wait(), seconds)
        except TimeoutError:
            pass
        finally:
            del self._waiting[event]
            if not self._waiting:
                for kind in self._kinds:
                    self._objects.unlisten(kind, self._wake)

    def _wake(self, name: Name) -> None:
        for event, names in self._waiting.items():
            if name in names:
                event.set()
