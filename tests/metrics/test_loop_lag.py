from __future__ import annotations

import asyncio
import contextlib
import time

from scheduler.metrics.instruments import HistogramSeries
from scheduler.metrics.loop_lag import watch_loop_lag


async def test_work_that_holds_the_loop_is_seen_as_lag():
    lag = HistogramSeries((0.05,))
    watch = asyncio.create_task(watch_loop_lag(lag, interval=0.001))
    await asyncio.sleep(0)
    time.sleep(0.06)  # noqa: ASYNC251 - holding the loop is what is tested
    await asyncio.sleep(0.005)
    watch.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await watch
    assert lag.counts[1] >= 1
    assert lag.sum >= 0.05
