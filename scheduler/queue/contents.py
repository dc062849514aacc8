"""What is in the queue, and where: for metrics, dumps and explanations."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scheduler.queue.in_flight import InFlight
from scheduler.queue.parked import ParkedPods

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scheduler.queue.backoff import BackoffQueue
    from scheduler.queue.entry import QueuedPod
    from scheduler.queue.heap import PodHeap
    from scheduler.queue.history import HistoryEntry


class QueueContents:
    """The places where a pod can wait, and looking into them."""

    def __init__(self, active: PodHeap, backoff: BackoffQueue, kind_of: Callable[[QueuedPod], object]) -> None:
        self._active = active
        self._backoff = backoff
        self._parked = ParkedPods(kind_of)
        self._in_flight = InFlight()
        self.rejectors_seen: set[tuple[str, str]] = set()
        """(plugin, profile): who ever turned a pod down that was put back."""

    def __len__(self) -> int:
        """How many pods wait."""
        return len(self._active) + len(self._backoff) + len(self._parked)

    @property
    def in_flight(self) -> InFlight:
        """Pods that are being scheduled or bound."""
        return self._in_flight

    def get(self, namespace: str, name: str) -> QueuedPod | None:
        """The entry of a pod, wherever it waits."""
        key = (namespace, name)
        return self._active.get(key) or self._backoff.get(key) or self._parked.get(key)

    def history(self, entry: QueuedPod) -> list[HistoryEntry]:
        """What happened to a pod in the queue, the oldest first; empty where that is not kept."""
        if entry.history is None:
            return []
        return [*entry.history.entries, *self._parked.slept_through(entry)]

    def place_of(self, name: tuple[str, str]) -> str:
        """The queue that a pod (namespace, name) is in: "unschedulable", "active" or "backoff"; "" for none."""
        places = (("unschedulable", self._parked), ("active", self._active), ("backoff", self._backoff))
        return next((place for place, holder in places if holder.get(name) is not None), "")

    def pending(self) -> dict[str, list[QueuedPod]]:
        """All waiting pods by queue: active, backoff, unschedulable, gated."""
        return {
            "active": list(self._active),
            "backoff": list(self._backoff),
            "unschedulable": [entry for entry in self._parked if not entry.gated],
            "gated": [entry for entry in self._parked if entry.gated],
        }

    def counts(self) -> dict[str, int]:
        """How many pods wait in each queue."""
        gated = sum(1 for entry in self._parked if entry.gated)
        return {
            "active": len(self._active),
            "backoff": len(self._backoff),
            "unschedulable": len(self._parked) - gated,
            "gated": gated,
        }

    def rejector_counts(self) -> dict[tuple[str, str], int]:
        """Waiting pods by (plugin that turned them down, profile)."""
        return dict(Counter((plugin, entry.pod.scheduler_name) for entry in self._all() for plugin in entry.rejectors))

    def _note_rejectors(self, entry: QueuedPod) -> None:
        profile = entry.pod.scheduler_name
        self.rejectors_seen.update((plugin, profile) for plugin in entry.rejectors)

    def _all(self) -> Iterator[QueuedPod]:
        yield from self._active
        yield from self._backoff
        yield from self._parked
