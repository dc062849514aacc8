"""Keeps an informer equal to one resource of the API server: list, watch, resume, and list anew when it must.

The initial list is streamed as watch events where the server offers that, else read by pages. A list never
resets the informer: what it holds is merged and what it lacks is removed, so that handlers see a difference.
"""

from __future__ import annotations

import asyncio
import logging
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NoReturn
from urllib.parse import urlencode

from scheduler.client.backoff import Backoff
from scheduler.client.errors import ApiError, StreamError, TransportError
from scheduler.client.kinds import Selection, T
from scheduler.client.wire import GarbageError, ObjectReader, Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    import msgspec

    from scheduler.client.http import Session
    from scheduler.client.informer import Informer
    from scheduler.client.kinds import Resource
    from scheduler.client.lines import LineStream
    from scheduler.client.wire import Change

__all__ = ["OnMalformed", "Reflector", "WatchSettings"]

log = logging.getLogger(__name__)

#: Called with the resource's plural and the object's name for everything that could not be read.
OnMalformed: TypeAlias = "Callable[[str, str], None]"

#: A stream that ends within this many seconds, having said nothing, did not work (client-go's "very short
#: watch").
_SHORT = 1.0
#: So many such streams in a row, and the resource version is held to be stale.
_EMPTY_BEFORE_RELIST = 3
#: Refusals of a streamed list that mean that the server does not offer it (to us).
_NO_STREAMED_LIST = frozenset({400, 403, 404, 405, 422})


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """How lists and watches are read. All times in seconds.

    A watch is asked to end after ``shortest`` to ``longest``, is given up ``margin`` after that, and counts
    as dead after ``idle`` without a byte (the server sends a bookmark about every minute). After ``slice`` of
    reading without a pause other tasks get their turn.
    """

    shortest: float = 300.0
    longest: float = 600.0
    margin: float = 30.0
    idle: float = 180.0
    page_size: int = 500
    page_timeout: float = 60.0
    slice: float = 0.005
    backoff_base: float = 0.8
    backoff_cap: float = 30.0


class Reflector(Generic[T]):
    """Feeds ``informer`` from the API server for as long as ``run`` is awaited.

    ``run`` never returns: trouble with the server is logged and retried. It raises only what the informer's
    handlers raise, and what is wrong in this module.
    """

    def __init__(
        self,
        session: Session,
        resource: Resource[T],
        informer: Informer[T],
        *,
        selection: Selection[T] | None = None,
        optional: bool = False,
        settings: WatchSettings | None = None,
        on_malformed: OnMalformed | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self._session = session
        self._resource = resource
        self._informer = informer
        self._selection = selection or Selection()
        self._optional = optional
        self._settings = settings or WatchSettings()
        self._on_malformed = on_malformed
        self._rng = rng or random.Random()
        self._reader = ObjectReader(resource)
        self._backoff = Backoff(self._settings.backoff_base, self._settings.backoff_cap, rng=self._rng)
        self._version = ""
        self._streamed_list = True
        self._empty = 0
        self._expiries = 0
        self._garbage_at: str | None = None
        self._slice_end = 0.0
        self._problem = "no answer yet"

    @property
    def problem(self) -> str:
        """Why the last attempt failed; empty while all is well."""
        return self._problem

    @property
    def resource_version(self) -> str:
        """The version up to which the informer is complete; empty while that is not known."""
        return self._version

    async def run(self) -> NoReturn:
        """List and watch for ever."""
        while True:
            delay = await self._attempt()
            if delay > 0:
                await asyncio.sleep(delay)

    async def _attempt(self) -> float:
        """One list, where needed, and one watch to its end. Answers how long to wait before the next."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            if not self._version and not self._streamed_list:
                await self._list_pages()
            heard = await self._watch()
        except ApiError as error:
            return self._refused(error)
        except (TransportError, StreamError, GarbageError) as error:
            return self._failed(error)
        lasted = loop.time() - started
        if heard:
            self._empty = 0
            return 0.0 if lasted >= _SHORT else self._backoff.next()
        if lasted >= _SHORT:
            return 0.0
        self._empty += 1
        if self._empty >= _EMPTY_BEFORE_RELIST:
            self._empty, self._version = 0, ""
        return self._failed(StreamError("the server ended the watch at once, without a word"))

    def _well(self) -> None:
        """A watch delivers: earlier failures no longer count."""
        self._problem = ""
        self._expiries = 0
        self._backoff.reset()

    def _failed(self, error: Exception) -> float:
        delay = self._backoff.next()
        self._problem = str(error) or type(error).__name__
        log.info("watch of %s broke, next attempt in %.1f s: %s", self._resource.plural, delay, self._problem)
        return delay

    def _refused(self, error: ApiError) -> float:
        self._problem = str(error)
        if error.is_expired:
            log.info("watch of %s: version %s is too old, listing anew", self._resource.plural, self._version)
            self._version = ""
            self._expiries += 1
            return 0.0 if self._expiries == 1 else self._backoff.next()
        if error.is_not_found and self._optional:
            self._informer.begin_replace()
            self._informer.end_replace()
            self._problem = ""
            return self._settings.backoff_cap * (1.0 + self._rng.random())
        delay = max(self._backoff.next(), error.retry_after or 0.0)
        log.warning("%s can't be watched, next attempt in %.1f s: %s", self._resource.plural, delay, error)
        return delay

    async def _list_pages(self) -> None:
        """Read the whole list by pages; afterwards ``self._version`` is the version of the list."""
        informer = self._informer
        informer.begin_replace()
        token, limit = "", self._settings.page_size
        clock = asyncio.get_running_loop().time
        while True:
            query = {"limit": str(limit)} if limit else {}
            if token:
                query["continue"] = token
            try:
                body = await self._session.request("GET", self._path(query), within=self._settings.page_timeout)
            except ApiError as error:
                if not (error.is_expired and token):
                    raise
                # The list has aged away under us: take it in one piece, which can't.
                token, limit = "", 0
                informer.begin_replace()
                continue
            page = self._reader.page(body)
            for raw in page.items:
                self._take("ADDED", self._reader.item(raw), raw)
                if clock() >= self._slice_end:
                    await self._breathe()
            token = page.next_token
            if not token:
                break
        if not page.resource_version:
            raise StreamError(f"the list of {self._resource.plural} has no resource version")
        informer.end_replace()
        self._version = page.resource_version
        self._streamed_list = True  # the next list may be streamed, unless that is refused again
        self._problem = ""

    async def _watch(self) -> bool:
        """Watch from the last version, or stream the list first. True if anything was heard."""
        settings = self._settings
        timeout = settings.shortest + (settings.longest - settings.shortest) * self._rng.random()
        listing = not self._version
        query = {"watch": "1", "allowWatchBookmarks": "true", "timeoutSeconds": str(max(1, int(timeout)))}
        if listing:
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        else:
            query["resourceVersion"] = self._version
        opened = self._session.stream(self._path(query), total=timeout + settings.margin, idle=settings.idle)
        try:
            async with opened as lines:
                return await self._read(lines, listing=listing)
        except ApiError as error:
            if listing and error.status in _NO_STREAMED_LIST and not error.is_expired:
                self._streamed_list = False
                await self._list_pages()
                return await self._watch()
            raise

    async def _read(self, lines: LineStream, *, listing: bool) -> bool:
        heard = False
        clock = asyncio.get_running_loop().time
        if listing:
            self._informer.begin_replace()
        while (batch := await lines.read()) is not None:
            for line in batch:
                change = self._change(line)
                if change is None:
                    continue
                if change.error is not None:
                    raise change.error
                heard = True
                self._take(change.kind, change.object, change.raw)
                if listing and change.initial_end:
                    listing = False
                    self._informer.end_replace()
                    self._problem = ""
                elif not listing:
                    self._well()
                if not listing and change.resource_version:
                    self._version = change.resource_version
                if clock() >= self._slice_end:
                    await self._breathe()
        if listing and heard:
            raise StreamError("the list's stream ended before the list did")
        return heard

    def _change(self, line: bytes) -> Change[T] | None:
        """Read a line. One that is garbage is asked for again once, and skipped if it comes back as bad."""
        try:
            return self._reader.change(line)
        except GarbageError as error:
            self._malformed("(unreadable line)", f"{error}; it begins with {line[:80]!r}")
            if self._garbage_at == self._version:
                return None
            self._garbage_at = self._version
            raise

    def _take(self, kind: str, obj: T | Unreadable | None, raw: msgspec.Raw | None) -> None:
        if obj is None:
            return
        if not isinstance(obj, Unreadable):
            if kind == "DELETED":
                self._informer.remove(self._resource.key(obj), obj)
            else:
                self._informer.upsert(obj, raw)
            return
        self._malformed(str(obj), obj.problem)
        if kind == "DELETED":
            self._informer.remove(obj.key)
        else:
            self._informer.mark_seen(obj.key)

    def _malformed(self, name: str, problem: str) -> None:
        log.error("%s %s can't be read and is left out: %s", self._resource.plural, name, problem)
        if self._on_malformed is not None:
            self._on_malformed(self._resource.plural, name)

    async def _breathe(self) -> None:
        """Let other tasks run, now that our time slice is used up."""
        await asyncio.sleep(0)
        self._slice_end = asyncio.get_running_loop().time() + self._settings.slice

    def _path(self, query: dict[str, str]) -> str:
        if self._selection.field:
            query["fieldSelector"] = self._selection.field
        if self._selection.label:
            query["labelSelector"] = self._selection.label
        return f"{self._resource.path()}?{urlencode(query)}"
