"""Times of the decisions API for people: how long ago, and how long until."""

from __future__ import annotations

from typing import Final

from scheduler.api.times import parse_time

_STEPS: Final = ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "m"), (60, "m", 1, "s"))
_SHOWN_ALONE: Final = 10


def seconds_between(earlier: str, later: str) -> float:
    """Seconds from one RFC 3339 time to another."""
    return parse_time(later) - parse_time(earlier)


def age(earlier: str, now: str) -> str:
    """How long ago, in at most two units: 42s, 3m10s, 5h, 12d."""
    return span(seconds_between(earlier, now)) if earlier else ""


def until(later: str, now: str) -> str:
    """When that will be: "now", or "in 3m10s"; "" for never."""
    if not later:
        return ""
    left = seconds_between(now, later)
    return "now" if left <= 0 else f"in {span(left)}"


def span(seconds: float) -> str:
    """A duration in at most two units, the smaller one only where it matters."""
    whole = max(0, round(seconds))
    for size, unit, smaller, name in _STEPS:
        count, rest = divmod(whole, size)
        if count >= _SHOWN_ALONE or (count and rest < smaller):
            return f"{count}{unit}"
        if count:
            return f"{count}{unit}{rest // smaller}{name}"
    return f"{whole}s"


def took(seconds: float) -> str:
    """A short duration as the field writes them: 350µs, 12.3ms, 1.25s."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f}µs"
    return f"{seconds * 1e3:.1f}ms" if seconds < 1 else f"{seconds:.2f}s"
