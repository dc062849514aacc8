"""The records of the last attempts, in bounded memory."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from typing import TYPE_CHECKING

from scheduler.cache.versions import Ledger
from scheduler.config.recording import BYTES, RECORDS
from scheduler.explain.keeping import details
from scheduler.explain.kept_record import Record
from scheduler.explain.packing import Packer
from scheduler.explain.views import SummaryPage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scheduler.cycle.journal import Attempted
    from scheduler.cycle.scheduler import Scheduler
    from scheduler.explain.kept import Details
    from scheduler.explain.views import Decision
    from scheduler.framework.profile import Profile
    from scheduler.queue.history import HistoryEntry


class RecordStore:
    """The last `limit` attempts in at most `max_bytes`, and the last attempt of every pod that waits.

    Where memory runs out, the oldest records lose their nodes and scores first; once half of the memory goes into what
    is left of them, they go. What is known of waiting pods besides nodes and scores is kept in any case.
    """

    def __init__(self, limit: int = RECORDS, max_bytes: int = BYTES, *, clock: Callable[[], float] = time.time) -> None:
        self._limit = limit
        self._max_bytes = max_bytes
        self._clock = clock
        self._ledger = Ledger()
        self._packer = Packer(self._ledger)
        self._own = 0
        self._next = 1
        self._ring: deque[Record] = deque()
        self._bare = 0
        """How many records at the beginning of the ring have no details any more."""
        self._latest: dict[tuple[str, str], Record] = {}
        self._outside: OrderedDict[tuple[str, str], Record] = OrderedDict()
        """The last attempts of waiting pods that are no longer in the ring."""
        self._detailed_outside: OrderedDict[tuple[str, str], Record] = OrderedDict()
        """Those of them whose nodes and scores are still kept."""
        self._profiles: dict[str, Profile] = {}
        self._waits: Callable[[str], bool] = lambda _uid: False

    def watch(self, scheduler: Scheduler) -> None:
        """Ask this scheduler which pods wait, and let its metrics say how much is kept."""
        self._waits = lambda uid: scheduler.unscheduled.get(uid) is not None
        scheduler.metrics.decision_records.read(lambda: {(): len(self)})
        scheduler.metrics.decision_records_bytes.read(lambda: {(): self.bytes})

    # reading

    @property
    def bytes(self) -> int:
        """The memory that the records take."""
        return self._own + self._ledger.bytes

    def __len__(self) -> int:
        """How many records are kept."""
        return len(self._ring) + len(self._outside)

    def recent(
        self,
        limit: int = 100,
        *,
        before: int | None = None,
        pod: str = "",
        node: str = "",
        result: str = "",
        plugin: str = "",
    ) -> SummaryPage:
        """The newest attempts with an id below `before`; see `Records.recent`."""
        found: list[Record] = []
        for record in self._newest_first(before):
            if (
                (not pod or pod in f"{record.namespace}/{record.name}")
                and (not node or node in (record.node, record.nominated_node))
                and (not result or result == record.result)
                and (not plugin or record.turned_down_by(plugin))
            ):
                if len(found) == limit:
                    return _page(found, found[-1].id if found else before)
                found.append(record)
        return _page(found, None)

    def get(self, id: int) -> Decision | None:  # noqa: A002 (the field's name)
        """An attempt, whole; None if it is not kept any more."""
        record = self._find(id)
        return None if record is None else record.view()

    def latest(self, namespace: str, name: str) -> Decision | None:
        """The last attempt of a pod, whole; None if none is kept."""
        record = self._latest.get((namespace, name))
        return None if record is None else record.view()

    def history(self, namespace: str, name: str) -> list[HistoryEntry]:
        """What happened in the queue to the pod of the last attempt under that name; empty if none is kept."""
        record = self._latest.get((namespace, name))
        return [] if record is None or record.history is None else list(record.history.entries)

    def _find(self, number: int) -> Record | None:
        if self._ring and number >= (first := self._ring[0].id):
            place = number - first
            return self._ring[place] if place < len(self._ring) else None
        return next((record for record in self._outside.values() if record.id == number), None)

    def _newest_first(self, before: int | None) -> Iterator[Record]:
        for record in reversed(self._ring):
            if before is None or record.id < before:
                yield record
        outside = sorted(self._outside.values(), key=lambda record: -record.id)
        yield from (record for record in outside if before is None or record.id < before)

    # writing

    def attempted(self, attempt: Attempted) -> None:
        """Keep a record of an attempt that has just come to its decision."""
        decision, trace, profile = attempt.decision, attempt.cycle.trace, attempt.profile
        assert trace is not None
        kept: Details | None = None
        if decision is not None:
            trace.begin_with(decision.timings)
            if decision.begun:
                if self._profiles.get(profile.name) is not profile:
                    self._change_profile(profile)
                kept = details(attempt, decision, self._ledger, self._packer)
                self._own += kept.bytes
            trace.forget_scores()
        pod = attempt.cycle.pod
        key = (pod.namespace, pod.name)
        previous = self._latest.get(key)
        record = Record(self._next, self._clock(), attempt, kept)
        if attempt.failure is not None:
            trace.end((attempt.failure.rejected, attempt.failure.message))
        self._next += 1
        self._own += record.bytes
        self._latest[key] = record
        if previous is not None and self._outside.pop(key, None) is not None:
            self._drop(previous)
        self._ring.append(record)
        if len(self._ring) > self._limit:
            self._evict()
        if self.bytes > self._max_bytes:
            self._shrink()

    def _change_profile(self, profile: Profile) -> None:
        """The caches of a profile that was replaced are not brought up to date any more, and must not be kept alive."""
        former = self._profiles.get(profile.name)
        self._profiles[profile.name] = profile
        if former is not None:
            former.caches.close()

    def _evict(self) -> None:
        """The oldest record goes, unless its pod waits and was not tried since: then it stays beside the others."""
        record = self._ring.popleft()
        self._bare = max(self._bare - 1, 0)
        key = record.key
        if self._latest.get(key) is record:
            if self._waits(record.uid):
                self._outside[key] = record
                if record.details is not None:
                    self._detailed_outside[key] = record
                self._sweep()
                return
            del self._latest[key]
        self._drop(record)

    def _sweep(self) -> None:
        """Look at the two longest kept records of waiting pods: they go, or to the end, so each one's turn comes."""
        for _ in range(min(2, len(self._outside))):
            key, record = self._outside.popitem(last=False)
            if self._waits(record.uid):
                self._outside[key] = record
            else:
                del self._latest[key]
                self._drop(record)

    def _drop(self, record: Record) -> None:
        if self._detailed_outside.get(record.key) is record:
            del self._detailed_outside[record.key]
        self._own -= record.bytes
        if record.details is not None:
            self._own -= record.details.bytes
            record.details = None

    def _shrink(self) -> None:
        """Let go of what is oldest until the rest fits."""
        while self.bytes > self._max_bytes:
            if self._detailed_outside:
                self._shed(self._detailed_outside.popitem(last=False)[1])
            elif self._bare and self._ring and self._bare * self._ring[0].bytes > self._max_bytes // 2:
                self._evict()
            elif self._bare < len(self._ring):
                self._shed(self._ring[self._bare])
                self._bare += 1
                if self._bare == len(self._ring):
                    self._packer.clear()
            elif len(self._ring) > 1:
                self._evict()
            else:
                return

    def _shed(self, record: Record) -> None:
        if record.details is not None:
            self._own -= record.details.bytes
            record.details = None
            record.shed = True


def _page(records: list[Record], before: int | None) -> SummaryPage:
    return SummaryPage(items=tuple(record.summary() for record in records), before=before)
