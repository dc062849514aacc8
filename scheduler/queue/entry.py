"""A pod in the queue, and its history there (framework.QueuedPodInfo)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from scheduler.cache.pods import PodInfo
    from scheduler.framework.events import ClusterEvent, EventHint
    from scheduler.queue.history import QueueHistory


class StatusWrites(msgspec.Struct, gc=False):
    """Which version of a pod an attempt is told of, where writes to its status may not have been heard of yet.

    kube-scheduler waits for such a write, and so mostly knows the new version in the next attempt (updatePod in
    pkg/scheduler/schedule_one.go). That matters because events about one version count as repetitions, whose notes
    are lost.
    """

    number: int = 0
    over: str | None = None
    early: bool = False
    seen: str | None = None

    def note(self, version: str) -> None:
        """The status was written when this version was known."""
        self.number += 1
        self.over, self.early, self.seen = version, False, None

    def version(self, known: str) -> str:
        """A name of the version that the API server has: the known one, or a made-up one until that is known.

        What was given a made-up name keeps it.
        """
        if known == self.over:
            self.early = True
        elif self.early and self.seen is None:
            self.seen = known
        return f"write {self.number}" if self.early and known in (self.over, self.seen) else known


class QueuedPod(msgspec.Struct, eq=False, gc=False, kw_only=True):
    """One waiting pod. Times are seconds of the queue's clock.

    - `added`: when it was first queued; `timestamp`: when it (last) entered the queue; `first_attempt`: when it first
      became active.
    - `attempts`: how often it was popped; `rejections`: how often plugins turned it down; `errors`: failures in a row.
    - `unschedulable_plugins`, `pending_plugins`: who turned it down last, Pending ones apart.
    - `gating_plugin`: the PreEnqueue plugin that holds it back, "" for none.
    - `written`: what was written to its status in this time.
    - `woken_by`: the event that last moved it; `flushed`: whether that was the flush of pods that waited too long.
    - `history`: what happened to it in the queue, None where that is not kept; `kept_from`: where the part of what its
      group of unschedulable pods sleeps through begins.
    """

    pod: PodInfo
    timestamp: float
    added: float = 0.0
    first_attempt: float | None = None
    attempts: int = 0
    rejections: int = 0
    errors: int = 0
    unschedulable_plugins: frozenset[str] = frozenset()
    pending_plugins: frozenset[str] = frozenset()
    gating_plugin: str = ""
    gating_events: tuple[EventHint, ...] = ()
    backoff_until: float | None = None
    flushed: bool = False
    flushed_at: float = 0.0
    woken_by: str = ""
    last_message: str = ""
    written: StatusWrites = msgspec.field(default_factory=StatusWrites)
    history: QueueHistory | None = None
    kept_from: int = 0

    @property
    def gated(self) -> bool:
        """Whether a PreEnqueue plugin holds the pod back."""
        return bool(self.gating_plugin)

    @property
    def rejectors(self) -> frozenset[str]:
        """All plugins that turned the pod down in its last attempt."""
        return self.unschedulable_plugins | self.pending_plugins if self.pending_plugins else self.unschedulable_plugins

    @property
    def name(self) -> tuple[str, str]:
        """Namespace and name: at most one pod of each is in the queue."""
        return self.pod.namespace, self.pod.name


class ObservedEvent(msgspec.Struct, frozen=True, gc=False):
    """A cluster event with the objects before and after it."""

    event: ClusterEvent
    old: object
    new: object
