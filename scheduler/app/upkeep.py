"""What has to happen now and then in a scheduler process."""

from __future__ import annotations

import asyncio
import gc
import time
from typing import TYPE_CHECKING, Final

from scheduler.client.events import FINISH_TIME, REFRESH_TIME
from scheduler.metrics.loop_lag import watch_loop_lag

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.client.supervise import Supervisor
    from scheduler.cycle.scheduler import Scheduler

UNSCHEDULABLE_PERIOD: Final = 30.0
"""Seconds between two looks for pods that have been unschedulable for too long."""
THAW_PERIOD: Final = 3600.0
"""Seconds until garbage is looked for among the objects that were exempt from collection."""
_THRESHOLDS: Final = (100_000, 20, 100)


def start_upkeep(scheduler: Scheduler, supervisor: Supervisor) -> None:
    """Start everything that is done regularly."""
    queue = scheduler.queue
    supervisor.start(each_second(queue.flush_backoff), "flush of the backoff queue")
    supervisor.start(every(UNSCHEDULABLE_PERIOD, queue.flush_unschedulable), "flush of unschedulable pods")
    for name, recorder in scheduler.recorders.items():
        supervisor.start(every(FINISH_TIME, recorder.finish), f"end of event series of {name}")
        supervisor.start(every(REFRESH_TIME, recorder.refresh), f"refresh of event series of {name}")
    supervisor.start(watch_loop_lag(scheduler.metrics.event_loop_lag.labels()), "event loop lag")
    supervisor.start(every(THAW_PERIOD, settle_heap), "garbage collection")


async def every(seconds: float, work: Callable[[], None]) -> None:
    """Call `work` each so many seconds, until cancelled."""
    while True:
        await asyncio.sleep(seconds)
        work()


async def each_second(work: Callable[[], None], *, clock: Callable[[], float] = time.time) -> None:
    """Call `work` as each second of the clock begins: that is when the backoff of pods ends (backoff_queue.go)."""
    while True:
        await asyncio.sleep(1.0 - clock() % 1.0)
        work()


def relax_collection() -> None:
    """Collect rarely: nearly all that is allocated is either short-lived and free of cycles, or here to stay."""
    gc.set_threshold(*_THRESHOLDS)


def settle_heap() -> None:
    """Collect once, and exempt what is left from the collections that follow."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
