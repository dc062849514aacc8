"""PrioritySort: the pod of the highest priority first, among equals the one that has waited longest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scheduler.framework import names
from scheduler.framework.interface import QueueSortPlugin

if TYPE_CHECKING:
    from scheduler.cache.pods import PodInfo
    from scheduler.framework.handle import Handle


class PrioritySort(QueueSortPlugin):
    """Source: pkg/scheduler/framework/plugins/queuesort/priority_sort.go."""

    name = names.PRIORITY_SORT

    def sort_key(self, pod: PodInfo, enqueued: float) -> tuple[int, float]:
        """(minus the priority, time of entry)."""
        return -pod.priority, enqueued


def make(args: Any, handle: Handle) -> PrioritySort:
    """The plugin; it takes no arguments."""
    del args, handle
    return PrioritySort()
