"""What happened while pods were being scheduled: replayed for those that come back (backend/queue/active_queue.go)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scheduler.queue.entry import ObservedEvent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.framework.events import ClusterEvent
    from scheduler.queue.entry import QueuedPod


class InFlight:
    """Pods that were popped and are not done, and the events since the first of them was popped."""

    __slots__ = ("_events", "_pods", "_start", "seen")

    def __init__(self) -> None:
        self.seen: set[str] = set()
        """The labels of all events that were ever kept."""
        self._pods: dict[str, tuple[int, QueuedPod]] = {}
        self._events: list[ObservedEvent] = []
        self._start = 0

    def __len__(self) -> int:
        return len(self._pods)

    def __contains__(self, uid: str) -> bool:
        return uid in self._pods

    def add(self, entry: QueuedPod) -> bool:
        """Begin to keep events for a pod; False if that is so already."""
        if entry.pod.uid in self._pods:
            return False
        self._pods[entry.pod.uid] = (self._start + len(self._events), entry)
        return True

    def observe(self, event: ClusterEvent, old: object, new: object) -> None:
        """Note an event, if any pod is in flight."""
        if self._pods:
            self._events.append(ObservedEvent(event, old, new))
            self.seen.add(event.label)

    def since(self, uid: str) -> Sequence[ObservedEvent]:
        """The events since a pod was popped."""
        found = self._pods.get(uid)
        return self._events[found[0] - self._start :] if found is not None else ()

    def done(self, uid: str) -> None:
        """Forget a pod, and the events that only it needed."""
        if self._pods.pop(uid, None) is None:
            return
        if not self._pods:
            self._start += len(self._events)
            self._events.clear()
            return
        # Pods are kept in the order in which they were popped, so the first has the oldest position.
        oldest = next(iter(self._pods.values()))[0]
        if oldest > self._start:
            del self._events[: oldest - self._start]
            self._start = oldest

    def find(self, name: tuple[str, str]) -> QueuedPod | None:
        """The pod in flight of that namespace and name, or None."""
        return next((entry for _, entry in self._pods.values() if entry.name == name), None)

    def pods(self) -> list[QueuedPod]:
        """The pods in flight."""
        return [entry for _, entry in self._pods.values()]

    def counts(self) -> Mapping[str, int]:
        """Events kept, by label."""
        return Counter(observed.event.label for observed in self._events)
