"""Dealing with more at a time while many pods come at once."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final

from scheduler.config.bursts import BUSY

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Pacer"]

_SPAN: Final = 0.1
"""Seconds over which attempts are counted."""
_BUSY: Final = BUSY * _SPAN
"""Attempts in this span that make a burst."""
_TURNS: Final = 6
"""Turns of the event loop in a round: from what a watch has read, by way of the informer, the queue, the decision and
its task, to the request that leaves."""


_RECENT: Final = 16
"""Pods whose binds say how long one takes now."""


class Pacer:
    """Lets the event loop work in rounds while a burst of pods lasts.

    They begin half as far apart as a pod takes to be bound, and at most `interval` seconds; 0 is never.

    An event loop that isn't busy wakes for each record that comes over the network: several times a pod, each time
    with caches that have grown cold. In rounds it finds the records of a few pods at a time, decides on these one
    after the other, and sends what it has to say of them in one piece. That takes a sixth to a third off the CPU
    time of a pod, and where the API server shares the machine, it is more pods a second. What each waits for that is
    little beside what it waits for the API server, however quick or slow that is at the time.

    Between two rounds the thread sleeps. There is no waiting when a round takes as long as the interval, nor when
    fewer pods are tried than make a burst.
    """

    def __init__(
        self,
        interval: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._interval = interval
        self._clock = clock
        self._sleep = sleep
        self._began = float("-inf")
        self._tried = 0
        self._bind = 2 * interval
        self._bursting = False
        self._turns = 0
        self._round = 0.0

    @property
    def bursting(self) -> bool:
        """Whether the event loop works in rounds now."""
        return self._bursting

    def tried(self, pods: int) -> None:
        """So many pods were tried just now. To be called by what runs in the event loop."""
        self._tried += pods
        if self._bursting or not self._interval:
            return
        now = self._clock()
        if now - self._began > _SPAN:
            self._began, self._tried = now, pods
        if self._tried >= _BUSY:
            self._bursting = True
            self._began, self._tried = now, 0
            self._begin_round(now)

    def bound(self, seconds: float) -> None:
        """A pod has been bound so many seconds after its attempt began."""
        self._bind += (seconds - self._bind) / _RECENT

    def _begin_round(self, now: float) -> None:
        self._round = now
        self._turns = _TURNS
        asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._turns -= 1
        if self._turns:
            asyncio.get_running_loop().call_soon(self._turn)
            return
        now = self._clock()
        if now - self._began > _SPAN:
            if self._tried < _BUSY:
                self._bursting = False
                return
            self._began, self._tried = now, 0
        left = self._round + min(self._interval, self._bind / 2) - now
        if left > 0:
            self._sleep(left)
            now = self._clock()
        self._begin_round(now)
