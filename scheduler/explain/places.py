"""Where pods are on their way through the scheduler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.cycle.scheduler import Scheduler
    from scheduler.queue.entry import QueuedPod

ACTIVE: Final = "active"
BACKOFF: Final = "backoff"
UNSCHEDULABLE: Final = "unschedulable"
GATED: Final = "gated"
IN_FLIGHT: Final = "inFlight"
WAITING_ON_PERMIT: Final = "waitingOnPermit"
BINDING: Final = "binding"


def queue_counts(scheduler: Scheduler) -> Mapping[str, int]:
    """How many pods are where.

    Nobody is being decided on while this is asked, so `inFlight` are the pods that wait for others at Permit or bind.
    """
    waiting = len(scheduler.waiting)
    return {
        **scheduler.queue.counts(),
        WAITING_ON_PERMIT: waiting,
        BINDING: max(scheduler.binding - waiting, 0),
    }


def place_of(scheduler: Scheduler, entry: QueuedPod) -> str:
    """The queue in which a pod waits; "" if it waits in none."""
    if entry.gated:
        return GATED
    return scheduler.queue.place_of(entry.name)


def next_try(scheduler: Scheduler, entry: QueuedPod) -> float | None:
    """When a waiting pod is tried again by itself, seconds since the epoch; None for one that waits for its gate."""
    queue = scheduler.queue
    place = place_of(scheduler, entry)
    if place == ACTIVE:
        return queue.now()
    if place == BACKOFF:
        return queue.backoff_until(entry)
    if place == UNSCHEDULABLE:
        return max(entry.timestamp, entry.flushed_at) + queue.longest_unschedulable
    return None
