"""Leader election over a Lease, by the protocol of client-go's tools/leaderelection.

Nobody's clock is trusted but our own: another's lease is over when we have not seen it change for its
duration.
"""

from __future__ import annotations

import asyncio
import logging
import random
import socket
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from scheduler.client.errors import ApiError, TransportError
from scheduler.client.events import micro_time

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from scheduler.client.http import Session

__all__ = ["LeaderElector", "LeaseSettings", "identity"]

log = logging.getLogger(__name__)

_JITTER = 1.2


def identity() -> str:
    """Who we are among the candidates: the host's name and a random part, as kube-scheduler makes it."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"


@dataclass(frozen=True, slots=True)
class LeaseSettings:
    """The ``leaderElection`` section of the configuration; times in seconds.

    Raises ValueError for times that could leave two leaders at once.
    """

    namespace: str = "kube-system"
    name: str = "kube-scheduler"
    lease_duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0

    def __post_init__(self) -> None:
        """Check the times against one another, as client-go does."""
        if self.lease_duration <= self.renew_deadline:
            raise ValueError("leaseDuration must be greater than renewDeadline")
        if self.renew_deadline <= _JITTER * self.retry_period:
            raise ValueError(f"renewDeadline must be greater than retryPeriod*{_JITTER}")
        if self.lease_duration < 1 or self.retry_period <= 0:
            raise ValueError("leaseDuration must be at least one second and retryPeriod positive")


class _Spec(msgspec.Struct, rename="camel", omit_defaults=True):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None
    preferred_holder: str | None = None
    strategy: str | None = None


class _Lease(msgspec.Struct, rename="camel"):
    metadata: dict[str, Any]
    spec: _Spec | None = None
    api_version: str = "coordination.k8s.io/v1"
    kind: str = "Lease"


_leases = msgspec.json.Decoder(_Lease)


class LeaderElector:
    """One candidate for one Lease. ``run`` once; ``is_leader`` says whether work may be done now.

    ``annotations`` are what the Lease tells of its holder; those of others on it are kept.
    """

    def __init__(
        self,
        session: Session,
        settings: LeaseSettings,
        *,
        me: str | None = None,
        on_new_leader: Callable[[str], None] | None = None,
        annotations: Callable[[], Mapping[str, str]] = dict,
        now: Callable[[], float] = time.time,
        rng: random.Random | None = None,
    ) -> None:
        self._session = session
        self._settings = settings
        self._me = me or identity()
        self._on_new_leader = on_new_leader
        self._annotations = annotations
        self._now = now
        self._rng = rng or random.Random()
        self._lease: _Lease | None = None
        self._seen: _Spec | None = None
        self._seen_at = 0.0
        self._held_until = float("-inf")
        self._reported = ""
        collection = f"/apis/coordination.k8s.io/v1/namespaces/{quote(settings.namespace, safe='')}/leases"
        self._collection = collection
        self._path = f"{collection}/{quote(settings.name, safe='')}"

    @property
    def identity(self) -> str:
        """Our name among the candidates."""
        return self._me

    @property
    def leader(self) -> str:
        """The last holder seen; empty if none."""
        return (self._seen.holder_identity or "") if self._seen else ""

    @property
    def is_leader(self) -> bool:
        """Whether we lead, by our own monotonic clock: not once our last renewal is too old."""
        return asyncio.get_running_loop().time() < self._held_until

    async def run(self, on_started: Callable[[], Awaitable[None]], on_lost: Callable[[], None]) -> None:
        """Wait for the lease, call ``on_started``, renew until the lease is lost, call ``on_lost``.

        Cancelling it ends the leadership without ``on_lost``: call ``release`` then, once all work has
        stopped.
        """
        await self._acquire()
        await on_started()
        await self._renew()
        self._held_until = float("-inf")
        on_lost()

    async def release(self) -> bool:
        """Give the lease up, so that others need not wait. To be called when all work has stopped."""
        self._held_until = float("-inf")
        if self.leader != self._me:
            return True
        try:
            async with asyncio.timeout(self._settings.renew_deadline):
                while True:
                    try:
                        await self._release_once()
                        return True
                    except ApiError as error:
                        if not error.is_conflict:
                            raise
        except (ApiError, TransportError, TimeoutError, msgspec.MsgspecError) as error:
            log.error("failed to release lease %s: %s", self._name(), error)
            return False

    async def _acquire(self) -> None:
        log.info("attempting to acquire leader lease %s", self._name())
        period = self._settings.retry_period
        while True:
            if await self._attempt():
                break
            await asyncio.sleep(period * (1.0 + _JITTER * self._rng.random()))
        log.info("successfully acquired lease %s", self._name())

    async def _renew(self) -> None:
        """Renew every retry period; return when that has failed too long, or another one leads."""
        settings = self._settings
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(settings.retry_period)
            while not await self._attempt():
                left = self._held_until - loop.time()
                if self.leader != self._me or left <= 0:
                    log.warning("failed to renew lease %s", self._name())
                    return
                await asyncio.sleep(min(settings.retry_period, left))

    async def _attempt(self) -> bool:
        """Try to acquire or renew, once. True if we hold the lease now."""
        started = asyncio.get_running_loop().time()
        limit = self._settings.renew_deadline
        if self._held_until > started:
            limit = self._held_until - started
        try:
            async with asyncio.timeout(limit):
                held = await self._acquire_or_renew()
        except (ApiError, TransportError, TimeoutError, msgspec.MsgspecError) as error:
            log.warning("lease %s: %s", self._name(), str(error) or type(error).__name__)
            held = False
        if held:
            # Counted from before the request: the server, and all others, can only have seen it later.
            self._held_until = started + self._settings.renew_deadline
        self._report()
        return held

    async def _acquire_or_renew(self) -> bool:
        if self.leader == self._me and self._valid() and self._lease is not None:
            try:
                await self._update(self._record(self._seen))
                return True
            except ApiError as error:
                log.info("lease %s: the optimistic update failed, reading it: %s", self._name(), error)
        try:
            body = await self._session.request("GET", self._path, within=self._settings.renew_deadline)
        except ApiError as error:
            if not error.is_not_found:
                raise
            await self._create()
            return True
        lease = _leases.decode(body)
        self._lease = lease
        spec = lease.spec or _Spec()
        if spec != self._seen:
            self._observe(spec)
        if spec.holder_identity and spec.holder_identity != self._me and self._valid():
            return False
        await self._update(self._record(spec))
        return True

    def _record(self, old: _Spec | None) -> _Spec:
        """The lease as we would hold it from now on."""
        now = micro_time(self._now())
        spec = _Spec(
            holder_identity=self._me,
            lease_duration_seconds=int(self._settings.lease_duration),
            acquire_time=now,
            renew_time=now,
            lease_transitions=0,
        )
        if old is not None:
            transitions = old.lease_transitions or 0
            if old.holder_identity == self._me:
                spec.acquire_time, spec.lease_transitions = old.acquire_time or now, transitions
            else:
                spec.lease_transitions = transitions + 1
        return spec

    async def _create(self) -> None:
        spec = self._record(None)
        meta = {"name": self._settings.name, "namespace": self._settings.namespace}
        await self._write("POST", self._collection, _Lease(metadata=self._noted(meta), spec=spec), spec)

    async def _update(self, spec: _Spec) -> None:
        """Write the lease as last read: the server refuses if another one was faster."""
        if self._lease is None:
            raise RuntimeError("the lease was never read")
        await self._write("PUT", self._path, _Lease(metadata=self._noted(self._lease.metadata), spec=spec), spec)

    def _noted(self, meta: dict[str, Any]) -> dict[str, Any]:
        notes = self._annotations()
        return {**meta, "annotations": {**(meta.get("annotations") or {}), **notes}} if notes else meta

    async def _write(self, method: str, path: str, lease: _Lease, spec: _Spec) -> None:
        body = msgspec.json.encode(lease)
        answer = await self._session.request(method, path, body=body, within=self._settings.renew_deadline)
        self._lease = _leases.decode(answer)
        self._observe(spec)

    async def _release_once(self) -> None:
        body = await self._session.request("GET", self._path, within=self._settings.renew_deadline)
        lease = self._lease = _leases.decode(body)
        old = lease.spec or _Spec()
        if old.holder_identity != self._me:
            self._observe(old)
            return
        now = micro_time(self._now())
        await self._update(
            _Spec(
                holder_identity="",
                lease_duration_seconds=1,
                acquire_time=now,
                renew_time=now,
                lease_transitions=old.lease_transitions or 0,
            )
        )

    def _observe(self, spec: _Spec) -> None:
        self._seen = spec
        self._seen_at = asyncio.get_running_loop().time()

    def _valid(self) -> bool:
        """Whether the lease, as we last saw it change, still runs."""
        if self._seen is None:
            return False
        return asyncio.get_running_loop().time() < self._seen_at + (self._seen.lease_duration_seconds or 0)

    def _report(self) -> None:
        if self.leader != self._reported:
            self._reported = self.leader
            if self._on_new_leader is not None:
                self._on_new_leader(self.leader)

    def _name(self) -> str:
        return f"{self._settings.namespace}/{self._settings.name}"
