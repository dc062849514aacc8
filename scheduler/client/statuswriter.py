"""Writes the statuses of pods: each pod's patches in order, those that wait as one, and none once a bind has begun."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING

from scheduler.client.backoff import Backoff
from scheduler.client.errors import ApiError, TransportError
from scheduler.client.http import STRATEGIC_MERGE_PATCH
from scheduler.client.kinds import PODS
from scheduler.client.slots import Rank

if TYPE_CHECKING:
    import random

    from scheduler.client.http import Session
    from scheduler.client.slots import Slots
    from scheduler.client.status import StatusPatch

__all__ = ["StatusWriter"]

log = logging.getLogger(__name__)

#: How many pods are remembered as bound, so that late patches of theirs are dropped.
_REMEMBERED = 65_536


class StatusWriter:
    """Patches statuses beside everything else.

    A request may take ``within`` seconds, and is tried ``attempts`` times with delays of ``backoff`` seconds: the first
    one and the longest.
    """

    def __init__(
        self,
        session: Session,
        slots: Slots,
        *,
        within: float,
        attempts: int,
        backoff: tuple[float, float],
        rng: random.Random,
    ) -> None:
        self._session = session
        self._slots = slots
        self._within = within
        self._attempts = attempts
        self._backoff = backoff
        self._rng = rng
        self._waiting: dict[str, StatusPatch] = {}
        self._writing: dict[str, asyncio.Task[None]] = {}
        self._sending: dict[str, tuple[StatusPatch, asyncio.Future[None]]] = {}
        self._bound: OrderedDict[str, None] = OrderedDict()
        self._closed = False

    def patch(self, patch: StatusPatch) -> None:
        """Write a patch, without waiting; it is dropped if a bind of the pod has begun."""
        uid = patch.uid
        if uid in self._bound or self._closed:
            return
        waiting = self._waiting.get(uid)
        if waiting is not None:
            waiting.merge(patch)
            return
        self._waiting[uid] = patch
        if uid not in self._writing:
            name = f"status of {patch.namespace}/{patch.name}"
            self._writing[uid] = asyncio.create_task(self._write(uid), name=name)

    def pending(self, uid: str) -> StatusPatch | None:
        """What the patches of a pod that have no answer yet set together."""
        waiting, sending = self._waiting.get(uid), self._sending.get(uid)
        if sending is None:
            return waiting
        together = replace(sending[0], conditions=dict(sending[0].conditions))
        if waiting is not None:
            together.merge(waiting)
        return together

    async def written(self, uid: str) -> None:
        """Wait for the end of a pod's patches."""
        if writing := self._writing.get(uid):
            await asyncio.wait({writing})

    def bind_begins(self, uid: str) -> None:
        """Send no patch of the pod from now on, not even one that waits."""
        self._waiting.pop(uid, None)
        self._bound[uid] = None
        self._bound.move_to_end(uid)
        if len(self._bound) > _REMEMBERED:
            self._bound.popitem(last=False)

    def bind_failed(self, uid: str) -> None:
        """The pod is certainly not bound by us: patches are sent again."""
        self._bound.pop(uid, None)

    async def answered(self, uid: str) -> None:
        """Wait for the answer to a patch that is under way."""
        if sending := self._sending.get(uid):
            await asyncio.wait({sending[1]})

    async def repeat(self, path: str, body: bytes, *, unless_bound: str = "") -> None:
        """Patch a status, which comes to the same however often it is repeated. Raises ApiError, TransportError.

        Retried as kube-scheduler retries (pkg/scheduler/util/utils.go, RetriableWithConflict), and also where
        the answer was lost. ``unless_bound`` is the uid of a pod whose bind makes further attempts wrong.
        """
        backoff = Backoff(*self._backoff, rng=self._rng)
        for attempt in range(1, self._attempts + 1):
            try:
                await self._session.request(
                    "PATCH", path, body=body, content_type=STRATEGIC_MERGE_PATCH, within=self._within
                )
                return
            except (ApiError, TransportError) as error:
                if attempt == self._attempts or unless_bound in self._bound or not _again(error):
                    raise
            await asyncio.sleep(backoff.next())
            if unless_bound in self._bound:
                return

    def close(self) -> None:
        """Take no more patches."""
        self._closed = True

    async def drain(self, grace: float) -> bool:
        """Let patches come to their end; what is left after ``grace`` seconds is given up, and the answer False."""
        if not self._writing:
            return True
        _, late = await asyncio.wait(self._writing.values(), timeout=grace)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)
        return not late

    async def _write(self, uid: str) -> None:
        """Send the pod's waiting patch when its turn has come, and those that came meanwhile."""
        try:
            while uid in self._waiting:
                async with self._slots.slot(Rank.STATUS):
                    patch = self._waiting.pop(uid, None)
                    if patch is not None:  # else a bind was begun meanwhile
                        await self._send(patch)
        finally:
            del self._writing[uid]

    async def _send(self, patch: StatusPatch) -> None:
        done = asyncio.get_running_loop().create_future()
        self._sending[patch.uid] = patch, done
        try:
            path = PODS.path(patch.namespace, patch.name, "status")
            await self.repeat(path, patch.body(), unless_bound=patch.uid)
        except ApiError as error:
            level = logging.DEBUG if error.is_not_found else logging.ERROR
            log.log(level, "error updating pod %s/%s: %s", patch.namespace, patch.name, error)
        except TransportError as error:
            log.error("error updating pod %s/%s: %s", patch.namespace, patch.name, error)
        finally:
            del self._sending[patch.uid]
            done.set_result(None)


def _again(error: Exception) -> bool:
    return not isinstance(error, ApiError) or error.outcome_unknown or error.is_conflict
