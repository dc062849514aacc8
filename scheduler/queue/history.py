"""What happened to a pod in the queue, in a bounded list: for whoever asks why it waits, or waited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.queue.entry import QueuedPod

ADDED: Final = "Added"
GATED: Final = "Gated"
ACTIVATED: Final = "Activated"
POPPED: Final = "Popped"
FAILED: Final = "Failed"
WOKEN: Final = "Woken"
KEPT: Final = "Kept"
"""A hint was asked, and said no."""
BACKOFF_OVER: Final = "BackoffOver"
FLUSHED: Final = "Flushed"
BOUND: Final = "Bound"
DELETED: Final = "Deleted"
"""The pod is gone, or somebody else has bound it."""

LIMIT: Final = 32
"""Entries kept of a pod; the first one and the newest ones stay."""


class HistoryEntry(msgspec.Struct, gc=False):
    """One thing that happened, or `count` equal ones in a row.

    `time` is the first, `until` the last of them, in seconds of the queue's clock. `event`: the cluster event that was
    the occasion; `object`: what that was about, the last one of several; `plugin`: whose hint, gate or refusal decided;
    `queue`: where the pod went.
    """

    what: str
    time: float
    event: str = ""
    object: str = ""
    plugin: str = ""
    queue: str = ""
    count: int = 1
    until: float = 0.0

    def is_like(self, what: str, event: str, plugin: str, queue: str) -> bool:
        """Whether such a thing would be the same once more."""
        return self.what == what and self.event == event and self.plugin == plugin and self.queue == queue

    def go_on(self, until: float, about: str, count: int = 1) -> None:
        """The same once more, or `count` times more."""
        self.count += count
        self.until = until
        self.object = about


class QueueHistory:
    """The entries of one pod, the oldest first."""

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: list[HistoryEntry] = []

    def note(
        self,
        what: str,
        now: float,
        *,
        event: str = "",
        about: str = "",
        plugin: str = "",
        queue: str = "",
    ) -> None:
        """Something happened; what equals the last entry is merged with it."""
        entries = self.entries
        if entries:
            last = entries[-1]
            if last.is_like(what, event, plugin, queue):
                last.go_on(now, about)
                return
        entries.append(HistoryEntry(what, now, event, about, plugin, queue))
        if len(entries) > LIMIT:
            del entries[1]

    def extend(self, entries: Sequence[HistoryEntry]) -> None:
        """Append entries that are from now on its own; the first is merged with an equal last one."""
        if not entries:
            return
        first, *others = entries
        last = self.entries[-1] if self.entries else None
        if last is not None and last.is_like(first.what, first.event, first.plugin, first.queue):
            last.go_on(first.until or first.time, first.object, first.count)
            self.entries += others
        else:
            self.entries += entries
        if len(self.entries) > LIMIT:
            del self.entries[1 : len(self.entries) - LIMIT + 1]


class KeptEvents:
    """The events after which a group of pods stayed where it was, counted once for all of them: hints had nothing for
    them, or the same plugin holds all of them back still.

    A pod that joins notes the `position`, and what is `since` then is its own.
    """

    __slots__ = ("_runs", "position")

    def __init__(self) -> None:
        self.position = 0
        self._runs: list[tuple[int, HistoryEntry]] = []
        """With the position after each run."""

    def note(self, what: str, now: float, *, event: str, about: str = "", plugin: str, queue: str = "") -> None:
        """An event did not help."""
        self.position += 1
        if self._runs:
            last = self._runs[-1][1]
            if last.is_like(what, event, plugin, queue):
                last.go_on(now, about)
                self._runs[-1] = self.position, last
                return
        self._runs.append((self.position, HistoryEntry(what, now, event, about, plugin, queue)))
        if len(self._runs) > LIMIT:
            del self._runs[0]

    def since(self, position: int, joined: float) -> list[HistoryEntry]:
        """What was noted since a position, which was passed at the time `joined`."""
        found = []
        for end, run in self._runs:
            if end <= position:
                continue
            own = min(run.count, end - position)
            first = run.time if own == run.count else max(run.time, joined)
            found.append(msgspec.structs.replace(run, count=own, time=first))
        return found


def note(
    entry: QueuedPod,
    what: str,
    now: float,
    *,
    event: str = "",
    about: str = "",
    plugin: str = "",
    queue: str = "",
) -> None:
    """Something happened to a waiting pod, if its history is kept."""
    if entry.history is not None:
        entry.history.note(what, now, event=event, about=about, plugin=plugin, queue=queue)


def described(item: object) -> str:
    """The object that an event is about: its name, with its namespace if it has one."""
    key = getattr(item, "key", None)
    if isinstance(key, str):
        return key
    meta = getattr(item, "metadata", None)
    if meta is None:
        return getattr(item, "name", "") if item is not None else ""
    namespace = getattr(meta, "namespace", "")
    return f"{namespace}/{meta.name}" if namespace else str(meta.name)
