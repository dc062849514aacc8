"""Growing, jittered delays between attempts."""

from __future__ import annotations

import random

__all__ = ["Backoff"]


class Backoff:
    """Delays that double from ``base`` to ``cap`` seconds, each lengthened by up to ``jitter`` times itself.

    The defaults are those of client-go's reflectors (tools/cache/reflector.go): 0.8 s to 30 s, jitter 1.
    """

    def __init__(
        self, base: float = 0.8, cap: float = 30.0, *, jitter: float = 1.0, rng: random.Random | None = None
    ) -> None:
        self._base = base
        self._cap = cap
        self._jitter = jitter
        self._rng = rng or random.Random()
        self._failures = 0

    @property
    def failures(self) -> int:
        """How many delays were asked for since the last reset."""
        return self._failures

    def reset(self) -> None:
        """Something worked: begin again with the shortest delay."""
        self._failures = 0

    def next(self) -> float:
        """The seconds to wait before the next attempt; never more than ``cap``."""
        delay = min(self._cap, self._base * 2.0 ** min(self._failures, 32))
        self._failures += 1
        return min(self._cap, delay * (1.0 + self._jitter * self._rng.random()))
