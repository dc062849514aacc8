"""How long a pod waits before it is tried again (backend/queue/backoff_queue.go)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from scheduler.queue.heap import PodHeap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scheduler.queue.entry import QueuedPod

WINDOW: Final = 1.0
"""Ends of backoff are rounded down to whole windows, in seconds, within which pods are ordered as when active."""


class BackoffQueue:
    """Pods that wait for the end of their backoff. Those that failed by an error are kept apart: they are never popped
    before their time."""

    def __init__(
        self,
        *,
        initial: float,
        maximum: float,
        clock: Callable[[], float],
        sort_key: Callable[[QueuedPod], Any],
        windows: bool,
    ) -> None:
        self._initial = initial
        self._maximum = maximum
        self._clock = clock
        self._windows = windows
        self._rejected = PodHeap(
            (lambda entry: (self.until(entry), sort_key(entry))) if windows else lambda entry: self.until(entry)
        )
        self._failed = PodHeap(self.until)

    def __len__(self) -> int:
        return len(self._rejected) + len(self._failed)

    def __iter__(self) -> Iterator[QueuedPod]:
        yield from self._rejected
        yield from self._failed

    def duration(self, count: int) -> float:
        """Seconds of backoff after that many attempts: doubled with each, up to the maximum."""
        if count == 0:
            return 0.0
        return min(math.ldexp(self._initial, min(count - 1, 64)), self._maximum)

    def until(self, entry: QueuedPod) -> float:
        """When the pod's backoff ends; minus infinity if it has none."""
        count = entry.errors or entry.rejections
        if self._maximum == 0 or count == 0:
            return -math.inf
        if entry.backoff_until is None:
            entry.backoff_until = self._aligned(entry.timestamp + self.duration(count))
        return entry.backoff_until

    def is_backing_off(self, entry: QueuedPod) -> bool:
        """Whether the pod still has to wait; in the very window in which its backoff ends it has."""
        return self.until(entry) >= self._aligned(self._clock())

    def push(self, entry: QueuedPod) -> None:
        """Add a pod."""
        (self._rejected if entry.rejectors else self._failed).push(entry)

    def get(self, name: tuple[str, str]) -> QueuedPod | None:
        """The entry of that name, or None."""
        return self._rejected.get(name) or self._failed.get(name)

    def remove(self, name: tuple[str, str]) -> QueuedPod | None:
        """Take an entry out; None if it isn't there."""
        return self._rejected.remove(name) or self._failed.remove(name)

    def pop_early(self) -> QueuedPod | None:
        """Take the pod whose backoff ends first, before that; failed ones excepted."""
        return self._rejected.pop()

    @property
    def early(self) -> int:
        """How many pods may be popped before their backoff ends."""
        return len(self._rejected)

    def pop_finished(self) -> list[QueuedPod]:
        """Take all pods whose backoff is over."""
        finished: list[QueuedPod] = []
        for heap in (self._rejected, self._failed):
            while (entry := heap.peek()) is not None and not self.is_backing_off(entry):
                heap.pop()
                finished.append(entry)
        return finished

    def _aligned(self, time: float) -> float:
        return math.floor(time / WINDOW) * WINDOW if self._windows else time
