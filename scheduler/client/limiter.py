"""The client's own limit on requests: the token bucket of ``clientConnection.qps`` and ``burst``."""

from __future__ import annotations

import asyncio

__all__ = ["RateLimiter"]


class RateLimiter:
    """At most ``burst`` requests at once and ``qps`` a second over time, in order of arrival.

    Not to be built with ``qps <= 0``, which means no limit: see ``RateLimiter.of``.
    """

    def __init__(self, qps: float, burst: int) -> None:
        self._qps = qps
        self._burst = float(max(burst, 1))
        self._tokens = self._burst
        self._stamp: float | None = None

    @classmethod
    def of(cls, qps: float, burst: int) -> RateLimiter | None:
        """A limiter, or None where the configuration asks for none (zero or negative qps)."""
        return cls(qps, burst) if qps > 0 else None

    def reserve(self, now: float) -> float:
        """Take a token at the time ``now`` (seconds); answer how long to wait until it is there."""
        if self._stamp is not None:
            self._tokens = min(self._burst, self._tokens + (now - self._stamp) * self._qps)
        self._stamp = now
        self._tokens -= 1.0
        return max(0.0, -self._tokens / self._qps)

    async def pause(self, delay: float) -> None:
        """Wait for the token that was taken. A wait that is cancelled gives it back."""
        try:
            await asyncio.sleep(delay)
        except asyncio.CancelledError:
            self._tokens += 1.0
            raise
