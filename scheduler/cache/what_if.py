"""Changes that are tried and taken back, by the ordinary incremental updates."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.cache.pods import PodInfo


class WhatIf:
    """Pods added and removed for the length of a trial; undone in reverse order.

    Counts, columns and counters are exactly as before afterwards; caches follow through the change logs as they do for
    any other change.
    """

    __slots__ = ("_done", "_put", "_take")

    def __init__(self, put: Callable[[PodInfo], None], take: Callable[[PodInfo], None]) -> None:
        self._put = put
        self._take = take
        self._done: list[tuple[Callable[[PodInfo], None], PodInfo]] = []

    def add(self, pod: PodInfo, node_name: str) -> PodInfo:
        """Count a pod on a node; the record that stands for it there."""
        placed = pod.on(node_name)
        self._put(placed)
        self._done.append((self._take, placed))
        return placed

    def remove(self, pod: PodInfo) -> None:
        """Take an assigned pod away."""
        self._take(pod)
        self._done.append((self._put, pod))

    def restore(self, pod: PodInfo) -> None:
        """Put back a pod that this trial removed."""
        self._put(pod)
        self._done.append((self._take, pod))

    def undo(self) -> None:
        """Take back everything that was tried."""
        while self._done:
            step, pod = self._done.pop()
            step(pod)
