"""The one place that writes to the API server: binds before everything else, each pod's writes in order."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from scheduler.client.annotationwriter import AnnotationWriter
from scheduler.client.binding import Binder, BindSettings
from scheduler.client.errors import ApiError, BindError
from scheduler.client.eventwriter import EventSettings, EventWriter
from scheduler.client.interface import Writer
from scheduler.client.kinds import PODS
from scheduler.client.slots import Rank, Slots
from scheduler.client.status import StatusPatch
from scheduler.client.statuswriter import StatusWriter
from scheduler.client.volumewriter import VolumeWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from scheduler.api.objects import PersistentVolume, PersistentVolumeClaim, PodCondition
    from scheduler.client.http import Session
    from scheduler.client.interface import Event

__all__ = ["Dispatcher", "WriteSettings"]


@dataclass(frozen=True, slots=True)
class WriteSettings:
    """Requests in flight, slots kept free for binds, seconds for a request, attempts, delays between them."""

    concurrency: int = 64
    reserved_for_binds: int = 32
    request_timeout: float = 30.0
    attempts: int = 4
    backoff_base: float = 0.05
    backoff_cap: float = 5.0
    bind: BindSettings = field(default_factory=BindSettings)
    events: EventSettings = field(default_factory=EventSettings)


class Dispatcher(Writer):
    """The write side of a real cluster (``interface.Writer``).

    Events and annotations go over ``event_session`` where one is given, so that they have a rate limit of their own,
    as kube-scheduler's events have. ``on_event_dropped`` is called for each event that was not written.
    """

    def __init__(
        self,
        session: Session,
        *,
        event_session: Session | None = None,
        settings: WriteSettings | None = None,
        on_event_dropped: Callable[[], None] | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self._session = session
        self._settings = settings or WriteSettings()
        self._rng = rng or random.Random()
        self._slots = Slots(self._settings.concurrency, reserved=self._settings.reserved_for_binds)
        self._binder = Binder(session, self._settings.bind, rng=self._rng)
        self._volumes = VolumeWriter(session, within=self._settings.request_timeout)
        self._annotations = AnnotationWriter(
            event_session or session, self._slots, within=self._settings.request_timeout
        )
        self._events = EventWriter(
            event_session or session,
            self._slots,
            settings=self._settings.events,
            on_dropped=on_event_dropped,
            rng=self._rng,
        )
        self._statuses = StatusWriter(
            session,
            self._slots,
            within=self._settings.request_timeout,
            attempts=self._settings.attempts,
            backoff=(self._settings.backoff_base, self._settings.backoff_cap),
            rng=self._rng,
        )
        self._calls = _Calls()

    @property
    def events_dropped(self) -> int:
        """Events that were not written."""
        return self._events.dropped

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """Bind a pod; see ``interface.Writer.bind``."""
        self._statuses.bind_begins(uid)
        sent = False
        with self._calls:
            try:
                # A patch that is under way could reach the pod after the bind, and say that it is unscheduled.
                await self._statuses.answered(uid)
                async with self._slots.slot(Rank.BIND):
                    sent = True
                    await self._binder.bind(namespace, name, uid, node)
            except BaseException as error:
                if not sent or isinstance(error, BindError | ApiError):
                    self._statuses.bind_failed(uid)
                raise

    def patch_pod_status(
        self,
        namespace: str,
        name: str,
        uid: str,
        *,
        conditions: Sequence[PodCondition] = (),
        nominated_node_name: str | None = None,
    ) -> None:
        """Patch a pod's status, without waiting; see ``interface.Writer.patch_pod_status``."""
        self._statuses.patch(StatusPatch.of(namespace, name, uid, conditions, nominated_node_name))

    def pending_status(self, uid: str) -> StatusPatch | None:
        """What a pod's patches set together; see ``interface.Writer.pending_status``."""
        return self._statuses.pending(uid)

    async def status_written(self, uid: str) -> None:
        """Wait for a pod's patches; see ``interface.Writer.status_written``."""
        await self._statuses.written(uid)

    async def set_pod_condition(
        self, namespace: str, name: str, uid: str, condition: PodCondition, *, present: Sequence[str] = ()
    ) -> bool:
        """Set a pod's condition; see ``interface.Writer.set_pod_condition``."""
        body = StatusPatch.of(namespace, name, uid, [condition], None).body(present)
        return await self._unless_gone(self._statuses.repeat(PODS.path(namespace, name, "status"), body))

    async def delete_pod(self, namespace: str, name: str, uid: str) -> bool:
        """Delete a pod; see ``interface.Writer.delete_pod``."""
        body = msgspec.json.encode({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}})
        within = self._settings.request_timeout
        # Once only, as by kube-scheduler: where it fails, the pod that wanted the room looks again.
        return await self._unless_gone(
            self._session.request("DELETE", PODS.path(namespace, name), body=body, within=within)
        )

    async def _unless_gone(self, write: Coroutine[object, object, object]) -> bool:
        """Send a write that is void once the pod is gone; whether it was there."""
        with self._calls:
            try:
                async with self._slots.slot(Rank.DELETE):
                    await write
            except ApiError as error:
                if error.is_not_found or error.is_replaced:
                    return False
                raise
        return True

    async def update_volume(self, volume: PersistentVolume) -> PersistentVolume:
        """Reserve a volume; see ``interface.Writer.update_volume``."""
        with self._calls:
            async with self._slots.slot(Rank.BIND):
                return await self._volumes.update_volume(volume)

    async def update_claim(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        """Annotate a claim; see ``interface.Writer.update_claim``."""
        with self._calls:
            async with self._slots.slot(Rank.BIND):
                return await self._volumes.update_claim(claim)

    async def annotate_pod(
        self, namespace: str, name: str, uid: str, change: Callable[[Mapping[str, str]], Mapping[str, str | None]]
    ) -> bool:
        """Change a pod's annotations; see ``AnnotationWriter.annotate_pod``."""
        return await self._annotations.annotate_pod(namespace, name, uid, change)

    def create_event(self, event: Event) -> None:
        """Write an event, without waiting; see ``interface.EventSink``."""
        self._events.create_event(event)

    def patch_event(self, event: Event) -> None:
        """Write an event's series, without waiting; see ``interface.EventSink``."""
        self._events.patch_event(event)

    async def drain(self, grace: float) -> bool:
        """Take no more patches and events, and let what is under way come to its end.

        Answers False if something was still under way after ``grace`` seconds; patches and events are given
        up then, binds and deletions are their callers' to cancel.
        """
        self._statuses.close()
        clock = asyncio.get_running_loop().time
        deadline = clock() + grace
        settled = True
        try:
            await asyncio.wait_for(self._calls.ended(), grace)
        except TimeoutError:
            settled = False
        settled &= await self._statuses.drain(max(0.0, deadline - clock()))
        return await self._events.drain(max(0.0, deadline - clock())) and settled


class _Calls:
    """The binds and deletions that are under way, a `with` block each; a generator would take several times as long."""

    __slots__ = ("_none", "_number")

    def __init__(self) -> None:
        self._number = 0
        self._none = asyncio.Event()
        self._none.set()

    def __enter__(self) -> None:
        self._number += 1
        self._none.clear()

    def __exit__(self, *error: object) -> None:
        self._number -= 1
        if not self._number:
            self._none.set()

    async def ended(self) -> None:
        """Wait until none is under way."""
        await self._none.wait()
