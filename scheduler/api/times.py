"""Times of Kubernetes objects: RFC 3339 texts, and seconds since 1970."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import Final

_RFC3339: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=8_192)
def parse_time(text: str) -> float:
    """Return a time in seconds since 1970 in UTC, the float that is nearest to the exact value.

    Raises ValueError if the text is not an RFC 3339 time.
    """
    match = _RFC3339.fullmatch(text) if len(text) <= 64 else None
    if match is None:
        raise ValueError(f"{text[:64]!r} is not a time like 2006-01-02T15:04:05Z")
    day, clock, fraction, sign, hours, minutes = match.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}+00:00")
    except ValueError as error:
        raise ValueError(f"{text!r} is not a time: {error}") from error
    seconds = (moment - _EPOCH) // timedelta(seconds=1)
    if sign is not None:
        if int(hours) > 24 or int(minutes) > 59:
            raise ValueError(f"{text!r} is not a time: its zone is out of range")
        offset = int(hours) * 3600 + int(minutes) * 60
        seconds -= offset if sign == "+" else -offset
    if not fraction:
        return float(seconds)
    return float(seconds + Fraction(int(fraction), 10 ** len(fraction)))


def format_time(seconds: float) -> str:
    """The RFC 3339 text, in UTC to the microsecond, of a time in seconds since 1970."""
    whole, micros = divmod(round(seconds * 1_000_000), 1_000_000)
    return f"{(_EPOCH + timedelta(seconds=whole)).strftime('%Y-%m-%dT%H:%M:%S')}.{micros:06d}Z"
