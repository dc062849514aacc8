"""Writes the outcome of attempts to the pods' annotations, for tools that read kube-scheduler-simulator's."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from scheduler.client.errors import ApiError, TransportError
from scheduler.explain import simulator_extenders, simulator_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scheduler.cycle.journal import Attempted, Journal
    from scheduler.explain.records import Records
    from scheduler.explain.simulator_extenders import Heard
    from scheduler.explain.simulator_schema import Plugins
    from scheduler.framework.profile import Profile
    from scheduler.framework.trace import Trace
    from scheduler.metrics.instruments import Counter

log = logging.getLogger(__name__)

WAITING: Final = 10_000
"""So many pods may wait for their annotations."""
_MOST_HEARD: Final = 200_000
"""So many names in what extenders said are kept for the pods that wait."""
_PAUSE: Final = 0.2
"""Seconds between two looks at what has ended."""

WRITTEN: Final = "written"
DROPPED: Final = "dropped"
FAILED: Final = "failed"


class PodAnnotations(Protocol):
    """Where annotations go."""

    async def annotate_pod(
        self, namespace: str, name: str, uid: str, change: Callable[[Mapping[str, str]], Mapping[str, str | None]]
    ) -> bool:
        """Change a pod's annotations; see ``client.annotationwriter``."""


class _Attempt(NamedTuple):
    """A pod's last attempt, to be written once `trace` has ended."""

    namespace: str
    name: str
    number: int
    trace: Trace
    profile: Profile
    heard: Heard


class Annotator:
    """Passes attempts on to the journal, and writes what `records` then have of them, while nothing else is to be done.

    Only the last attempt of a pod is written if another one has followed by then. At most `waiting` pods wait, fewer
    where extenders said much of them; of more, the first ones are dropped, as are those whose record is gone or has
    lost its nodes. `busy` says whether pods wait for an attempt right now, which comes first.
    """

    def __init__(
        self,
        journal: Journal,
        records: Records,
        writer: PodAnnotations,
        outcomes: Counter,
        *,
        busy: Callable[[], bool] = lambda: False,
        waiting: int = WAITING,
    ) -> None:
        self._journal = journal
        self._records = records
        self._writer = writer
        self._outcomes = outcomes
        self._limit = waiting
        self._busy = busy
        self._waiting: OrderedDict[str, _Attempt] = OrderedDict()
        self._heard = 0
        self._forbidden = False

    def yield_to(self, busy: Callable[[], bool]) -> None:
        """Write only while `busy` says no."""
        self._busy = busy

    def attempted(self, attempt: Attempted) -> None:
        """Record an attempt, and remember to write it; see `Journal.attempted`."""
        self._journal.attempted(attempt)
        pod, trace = attempt.cycle.pod, attempt.cycle.trace
        assert trace is not None
        self._take(pod.uid)
        heard = simulator_extenders.heard(attempt.cycle.extenders)
        self._heard += heard.size
        number = attempt.entry.attempts
        self._waiting[pod.uid] = _Attempt(pod.namespace, pod.name, number, trace, attempt.profile, heard)
        while len(self._waiting) > self._limit or (self._heard > _MOST_HEARD and len(self._waiting) > 1):
            self._take(next(iter(self._waiting)))
            self._count(DROPPED)

    def _take(self, uid: str) -> None:
        """One that waited does so no more."""
        attempt = self._waiting.pop(uid, None)
        if attempt is not None:
            self._heard -= attempt.heard.size

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            await asyncio.sleep(_PAUSE)
            await self.write()

    async def write(self) -> None:
        """Write the attempts that have ended, one after the other, as long as nothing else is to be done."""
        for uid, attempt in [(uid, one) for uid, one in self._waiting.items() if one.trace.ended]:
            if self._busy():
                return
            if self._waiting.get(uid) is attempt:
                self._take(uid)
                self._count(await self._write(uid, attempt))

    async def _write(self, uid: str, attempt: _Attempt) -> str:
        """Write one; what came of it."""
        plugins = simulator_schema.plugins_of(attempt.profile)

        def change(present: Mapping[str, str]) -> Mapping[str, str | None]:
            return self._annotations(uid, attempt, plugins, present)

        try:
            written = await self._writer.annotate_pod(attempt.namespace, attempt.name, uid, change)
        except ApiError as error:
            self._complain(attempt, error)
            return FAILED
        except TransportError as error:
            log.warning("Pod %s/%s can't be annotated: %s", attempt.namespace, attempt.name, error)
            return FAILED
        return WRITTEN if written else DROPPED

    def _annotations(
        self, uid: str, attempt: _Attempt, plugins: Plugins, present: Mapping[str, str]
    ) -> Mapping[str, str | None]:
        decision = self._records.latest(attempt.namespace, attempt.name)
        if decision is None or decision.incomplete:
            return {}
        summary = decision.summary
        if (summary.uid, summary.attempt) != (uid, attempt.number):
            return {}  # another attempt has begun meanwhile, and will be written
        return simulator_schema.to_annotations(decision, plugins, present, heard=attempt.heard)

    def _complain(self, attempt: _Attempt, error: ApiError) -> None:
        """Say what went wrong; a missing right once."""
        if error.status != 403:
            log.warning("Pod %s/%s can't be annotated: %s", attempt.namespace, attempt.name, error)
        elif not self._forbidden:
            self._forbidden = True
            log.error(
                "Pods can't be annotated (--annotate-decisions): %s. It takes the right to get and patch pods, which "
                "the chart gives with annotateDecisions.enabled",
                error,
            )

    def _count(self, outcome: str) -> None:
        self._outcomes.labels(outcome).inc()
