"""Records events about objects; repeated ones become a series, by the rules of client-go's tools/events."""

from __future__ import annotations

import asyncio
import re
import socket
import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import msgspec

from scheduler.client.interface import Event, EventSeries

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.api.objects import ObjectReference
    from scheduler.client.interface import EventSink

__all__ = ["EventRecorder", "micro_time"]

#: Seconds after which an event that was not repeated begins anew, and a series is closed.
FINISH_TIME = 360.0
#: Seconds between writes that keep a series from expiring on the server.
REFRESH_TIME = 1800.0

_MAX_NAME = 253
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def micro_time(seconds: float) -> str:
    """A Unix time as Kubernetes' MicroTime."""
    whole, fraction = divmod(seconds, 1)
    more, micros = divmod(round(fraction * 1e6), 1_000_000)
    return f"{_to_the_second(int(whole) + more)}.{micros:06d}Z"


@lru_cache(maxsize=8)
def _to_the_second(second: int) -> str:
    return datetime.fromtimestamp(second, tz=UTC).strftime("%Y-%m-%dT%H:%M:%S")


_Key: TypeAlias = "tuple[str, str, str, ObjectReference, ObjectReference | None]"
"""Type, action, reason, regarding, related: events in which these agree are repetitions; their notes may differ."""


@dataclass(slots=True)
class _Recorded:
    event: Event
    last: float


class EventRecorder:
    """Records events of one controller.

    The first event of its kind is created. The second within six minutes turns it into a series by a patch;
    later ones are counted only, and written when the series ends or is refreshed: ``run`` sees to that. Notes are
    not shortened here.
    """

    def __init__(
        self,
        sink: EventSink,
        controller: str,
        *,
        hostname: str | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._sink = sink
        self._controller = controller
        self._instance = f"{controller}-{hostname or socket.gethostname()}"
        self._now = now
        self._cache: dict[_Key, _Recorded] = {}

    def record(
        self,
        regarding: ObjectReference,
        *,
        type: str,  # noqa: A002 (the field's name in Kubernetes)
        reason: str,
        action: str,
        note: str,
        related: ObjectReference | None = None,
        version: str | None = None,
    ) -> None:
        """Record that something happened to ``regarding``; ``type`` is Normal or Warning.

        ``version`` tells repetitions apart in place of the resourceVersion, where the latter is known to be outdated.
        """
        now = self._now()
        same = regarding if version is None else msgspec.structs.replace(regarding, resource_version=version)
        key = (type, action, reason, same, related)
        known = self._cache.get(key)
        if known is not None:
            series = known.event.series
            count = 2 if series is None else series.count + 1
            known.event = msgspec.structs.replace(
                known.event, series=EventSeries(count=count, last_observed_time=micro_time(now))
            )
            known.last = now
            if series is None:
                self._sink.patch_event(known.event)
            return
        event = Event(
            name=_event_name(regarding.name, now),
            namespace=regarding.namespace or "default",
            event_time=micro_time(now),
            reporting_controller=self._controller,
            reporting_instance=self._instance,
            action=action,
            reason=reason,
            regarding=regarding,
            note=note,
            type=type,
            related=related,
        )
        self._cache[key] = _Recorded(event, now)
        self._sink.create_event(event)

    async def run(self) -> NoReturn:
        """End and refresh series when it is time to, for ever."""
        turn = 0
        while True:
            await asyncio.sleep(FINISH_TIME)
            turn += 1
            if turn % round(REFRESH_TIME / FINISH_TIME) == 0:
                self.refresh()
            self.finish()

    def finish(self) -> None:
        """Forget events that were not repeated for FINISH_TIME; write the last count of series among them."""
        limit = self._now() - FINISH_TIME
        for key, known in list(self._cache.items()):
            if known.last < limit:
                if known.event.series is not None:
                    self._sink.patch_event(known.event)
                del self._cache[key]

    def refresh(self) -> None:
        """Write the counts of all series, which also keeps them from expiring on the server."""
        for known in self._cache.values():
            if known.event.series is not None:
                self._sink.patch_event(known.event)


def _event_name(name: str, seconds: float) -> str:
    """As GenerateEventName in client-go's tools/record/util/util.go."""
    found = f"{name}.{int(seconds * 1e9):x}"
    if len(found) > _MAX_NAME or not _SUBDOMAIN.fullmatch(found):
        return str(uuid.uuid4())
    return found
