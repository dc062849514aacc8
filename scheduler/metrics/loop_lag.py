"""How late the event loop is: the time that synchronous work keeps everything else waiting."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scheduler.metrics.instruments import HistogramSeries


async def watch_loop_lag(lag: HistogramSeries, *, interval: float = 0.25) -> None:
    """Until cancelled, sleep `interval` seconds and observe by how much the sleep was too long."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + interval
        await asyncio.sleep(interval)
        lag.observe(max(0.0, loop.time() - due))
