"""Go's 64-bit integer arithmetic, where its overflow can be seen in the results."""

from __future__ import annotations

import re

MAX_INT64 = 2**63 - 1
MIN_INT64 = -(2**63)

_DECIMAL = re.compile(r"[+-]?[0-9]+")


def wrap64(number: int) -> int:
    """Return ``number`` as Go's int64 holds it after overflow."""
    return ((number + 2**63) & (2**64 - 1)) - 2**63


def wrap32(number: int) -> int:
    """Return ``number`` as Go's int32 holds it after overflow."""
    return ((number + 2**31) & (2**32 - 1)) - 2**31


def low64(number: int) -> int:
    """Return what Go's ``big.Int.Int64`` makes of a number of any size: the low 64 bits, with its sign."""
    low = wrap64(abs(number))
    return wrap64(-low) if number < 0 else low


def fits64(number: int) -> bool:
    """Say whether ``number`` can be held in an int64."""
    return MIN_INT64 <= number <= MAX_INT64


def truncating_divmod(dividend: int, divisor: int) -> tuple[int, int]:
    """Return quotient and remainder as Go's ``/`` and ``%``: the quotient is truncated toward zero."""
    quotient, remainder = divmod(abs(dividend), abs(divisor))
    if (dividend < 0) != (divisor < 0):
        quotient = -quotient
    return quotient, -remainder if dividend < 0 else remainder


def parse_int64(text: str) -> int | None:
    """Return the base-10 number in ``text`` as ``strconv.ParseInt`` does; None if it fails there."""
    if len(text) > 4096 or not _DECIMAL.fullmatch(text):
        return None
    number = int(text)
    return number if fits64(number) else None
