"""Writes event objects in the background, with patience, and never too many of them."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from scheduler.client.errors import ApiError, TransportError
from scheduler.client.http import JSON, STRATEGIC_MERGE_PATCH
from scheduler.client.slots import Rank

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from scheduler.api.objects import ObjectReference
    from scheduler.client.http import Session
    from scheduler.client.interface import Event, EventSeries
    from scheduler.client.slots import Slots

__all__ = ["EventSettings", "EventWriter", "event_body", "series_patch"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EventSettings:
    """As in client-go (tools/events/event_broadcaster.go): most events waiting, tries, seconds between."""

    waiting: int = 1000
    attempts: int = 12
    pause: float = 10.0
    request_timeout: float = 30.0


class _Metadata(msgspec.Struct, omit_defaults=True, gc=False):
    name: str
    namespace: str
    annotations: dict[str, str] = msgspec.field(default_factory=dict)


class _Body(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    """An event as it is sent: encoding it by way of dicts takes four times as long."""

    api_version: str
    kind: str
    metadata: _Metadata
    event_time: str
    reporting_controller: str
    reporting_instance: str
    action: str
    reason: str
    regarding: ObjectReference
    type: str
    note: str = ""
    related: ObjectReference | None = None
    series: EventSeries | None = None


def event_body(event: Event) -> bytes:
    """The event as the API server takes it."""
    return msgspec.json.encode(
        _Body(
            "events.k8s.io/v1",
            "Event",
            _Metadata(event.name, event.namespace, event.annotations),
            event.event_time,
            event.reporting_controller,
            event.reporting_instance,
            event.action,
            event.reason,
            event.regarding,
            event.type,
            event.note,
            event.related,
            event.series,
        )
    )


def series_patch(event: Event) -> bytes:
    """What makes the event that exists one of a series."""
    return msgspec.json.encode({"series": event.series})


_MOST_RESTING: Final = 32
"""Workers that are kept for the next events."""


class EventWriter:
    """Where the dispatcher's events go (``interface.EventSink``)."""

    def __init__(
        self,
        session: Session,
        slots: Slots,
        *,
        settings: EventSettings,
        on_dropped: Callable[[], None] | None,
        rng: random.Random,
    ) -> None:
        self._session = session
        self._slots = slots
        self._settings = settings
        self._on_dropped = on_dropped
        self._rng = rng
        self._waiting: deque[tuple[Event, bool]] = deque()
        self._under_way = 0
        self._workers: set[asyncio.Task[None]] = set()
        self._resting: list[asyncio.Future[None]] = []
        self._closing = False
        self.dropped = 0

    def create_event(self, event: Event) -> None:
        """Write a new event."""
        self._submit(event, patch=False)

    def patch_event(self, event: Event) -> None:
        """Write the series of an event that exists, or the whole event if it is gone."""
        self._submit(event, patch=True)

    async def drain(self, grace: float) -> bool:
        """Write what waits, without retries; give up after ``grace`` seconds and answer False."""
        self._closing = True
        while self._wake():
            pass
        if not self._workers:
            return True
        _, late = await asyncio.wait(self._workers, timeout=grace)
        for _ in range(self._under_way):
            self._drop()
        for worker in late:
            worker.cancel()
        if late:
            await asyncio.wait(late)
        return not late

    def _submit(self, event: Event, *, patch: bool) -> None:
        if self._closing or self._under_way >= self._settings.waiting:
            self._drop()
            return
        self._under_way += 1
        self._waiting.append((event, patch))
        if not self._wake():
            worker = asyncio.create_task(self._work())
            self._workers.add(worker)
            worker.add_done_callback(self._workers.discard)

    def _wake(self) -> bool:
        """Let a worker that rests look for events; False if there is none."""
        while self._resting:
            turn = self._resting.pop()
            if not turn.done():
                turn.set_result(None)
                return True
        return False

    async def _work(self) -> None:
        """Write what waits, one after the other, and rest in between: a task for each event would cost more."""
        while True:
            while self._waiting:
                event, patch = self._waiting.popleft()
                try:
                    await self._write(event, patch=patch)
                finally:
                    self._under_way -= 1
            if self._closing or len(self._resting) >= _MOST_RESTING:
                return
            turn = asyncio.get_running_loop().create_future()
            self._resting.append(turn)
            await turn

    def _drop(self) -> None:
        self.dropped += 1
        if self._on_dropped is not None:
            self._on_dropped()

    async def _write(self, event: Event, *, patch: bool) -> None:
        for attempt in range(1, self._settings.attempts + 1):
            try:
                async with self._slots.slot(Rank.EVENT):
                    await self._send(event, patch=patch)
                return
            except ApiError as error:
                # The event of a patch was gone, and another writer has made it anew: patch that one.
                if not (patch and error.already_exists) and error.status != 429:
                    level = logging.DEBUG if error.already_exists else logging.ERROR
                    log.log(level, "the server rejected event %s, it is not retried: %s", event.name, error)
                    break
            except TransportError as error:
                log.warning("event %s can't be written, attempt %d: %s", event.name, attempt, error)
            if self._closing or attempt == self._settings.attempts:
                break
            await asyncio.sleep(self._settings.pause * (1.0 + 0.25 * self._rng.random()))
        self._drop()

    async def _send(self, event: Event, *, patch: bool) -> None:
        within = self._settings.request_timeout
        collection = f"/apis/events.k8s.io/v1/namespaces/{event.namespace}/events"
        if patch:
            try:
                await self._session.request(
                    "PATCH",
                    f"{collection}/{event.name}",
                    body=series_patch(event),
                    content_type=STRATEGIC_MERGE_PATCH,
                    within=within,
                )
                return
            except ApiError as error:
                if not error.is_not_found:
                    raise
        await self._session.request("POST", collection, body=event_body(event), content_type=JSON, within=within)
