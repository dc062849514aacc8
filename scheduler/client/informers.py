"""All informers of one API server, each fed by a reflector of its own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scheduler.client.informer import Informer, KeepPolicy
from scheduler.client.interface import Source
from scheduler.client.reflector import Reflector

if TYPE_CHECKING:
    from scheduler.client.http import Session
    from scheduler.client.kinds import Resource, Selection, T
    from scheduler.client.reflector import OnMalformed, WatchSettings
    from scheduler.client.supervise import Supervisor

__all__ = ["Informers", "SyncTimeoutError"]

_POLL = 0.05


class SyncTimeoutError(Exception):
    """Some resources could not be listed in time. The message names them and the last trouble with each."""


class Informers(Source):
    """The read side of a real cluster (``interface.Source``).

    Informers asked for before ``start`` begin to read then, which leaves time to add handlers to all of them.
    """

    def __init__(
        self,
        session: Session,
        *,
        settings: WatchSettings | None = None,
        on_malformed: OnMalformed | None = None,
    ) -> None:
        self._session = session
        self._settings = settings
        self._on_malformed = on_malformed
        self._informers: dict[str, Informer[Any]] = {}
        self._reflectors: dict[str, Reflector[Any]] = {}
        self._supervisor: Supervisor | None = None

    def informer(
        self,
        resource: Resource[T],
        *,
        selection: Selection[T] | None = None,
        keep: KeepPolicy | None = None,
        optional: bool = False,
    ) -> Informer[T]:
        """The informer of a resource; see ``interface.Source``."""
        path = resource.path()
        known = self._informers.get(path)
        if known is not None:
            return known
        informer = Informer(resource, keep or KeepPolicy.WHOLE)
        self._informers[path] = informer
        self._reflectors[path] = Reflector(
            self._session,
            resource,
            informer,
            selection=selection,
            optional=optional,
            settings=self._settings,
            on_malformed=self._on_malformed,
        )
        if self._supervisor is not None:
            self._run(path, self._supervisor)
        return informer

    def start(self, supervisor: Supervisor) -> None:
        """Begin to read: the reflectors become tasks of ``supervisor``."""
        self._supervisor = supervisor
        for path in self._reflectors:
            self._run(path, supervisor)

    async def wait_for_sync(self, within: float) -> None:
        """Return when all informers have their first list; see ``interface.Source``."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within
        while missing := [path for path, informer in self._informers.items() if not informer.has_synced]:
            if loop.time() >= deadline:
                said = "; ".join(f"{path}: {self._reflectors[path].problem}" for path in missing)
                raise SyncTimeoutError(f"not listed within {within:g} s: {said}")
            await asyncio.sleep(min(_POLL, within))

    def _run(self, path: str, supervisor: Supervisor) -> None:
        supervisor.start(self._reflectors[path].run(), f"reflector {path}")
