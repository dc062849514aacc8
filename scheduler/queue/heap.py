"""A heap of queued pods from which any can be taken out."""

from __future__ import annotations

import heapq
import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scheduler.queue.entry import QueuedPod


class PodHeap:
    """Pods by a key, equal keys in the order in which they came. A pod taken out leaves an item that is skipped."""

    __slots__ = ("_items", "_key", "_marks", "_sequence")

    def __init__(self, key: Callable[[QueuedPod], Any]) -> None:
        self._key = key
        self._items: list[tuple[Any, int, QueuedPod]] = []
        self._marks: dict[tuple[str, str], tuple[int, QueuedPod]] = {}
        self._sequence = itertools.count()

    def __len__(self) -> int:
        return len(self._marks)

    def __iter__(self) -> Iterator[QueuedPod]:
        """All pods, in no particular order."""
        return (entry for _, entry in self._marks.values())

    def get(self, name: tuple[str, str]) -> QueuedPod | None:
        """The entry of that name, or None."""
        found = self._marks.get(name)
        return None if found is None else found[1]

    def push(self, entry: QueuedPod) -> None:
        """Add an entry, or place it anew if its key has changed."""
        number = next(self._sequence)
        self._marks[entry.name] = (number, entry)
        heapq.heappush(self._items, (self._key(entry), number, entry))

    def remove(self, name: tuple[str, str]) -> QueuedPod | None:
        """Take an entry out; None if it isn't there."""
        found = self._marks.pop(name, None)
        if found is None:
            return None
        if len(self._items) > 2 * len(self._marks) + 64:
            self._items = [item for item in self._items if self._marks.get(item[2].name, (-1,))[0] == item[1]]
            heapq.heapify(self._items)
        return found[1]

    def peek(self) -> QueuedPod | None:
        """The first entry, or None."""
        items, marks = self._items, self._marks
        while items:
            _, number, entry = items[0]
            mark = marks.get(entry.name)
            if mark is not None and mark[0] == number:
                return entry
            heapq.heappop(items)
        return None

    def pop(self) -> QueuedPod | None:
        """Take the first entry out; None if there is none."""
        entry = self.peek()
        if entry is not None:
            heapq.heappop(self._items)
            del self._marks[entry.name]
        return entry
