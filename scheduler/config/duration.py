"""Durations in Go's notation ("15s", "1m30s", "500ms"), exact to the nanosecond."""

from __future__ import annotations

import re

import msgspec

_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART = re.compile(r"(\d*)(?:\.(\d*))?([^\d.]*)", re.ASCII)
_MAX = 2**63 - 1


class Duration(msgspec.Struct, frozen=True, order=True, gc=False):
    """A span of time, as Go's time.Duration: a signed 64-bit count of nanoseconds."""

    nanoseconds: int = 0

    @property
    def seconds(self) -> float:
        """The span in seconds."""
        return self.nanoseconds / 1_000_000_000

    @classmethod
    def of_seconds(cls, seconds: int) -> Duration:
        """A span of whole seconds."""
        return cls(seconds * 1_000_000_000)

    @classmethod
    def parse(cls, text: str) -> Duration:
        """The duration that `text` denotes, as Go's time.ParseDuration reads it.

        Raises ValueError with Go's message: an empty text, a number without a unit, an unknown unit, or more
        than 64 bits of nanoseconds.
        """
        quoted = '"' + text + '"'
        body = text[1:] if text[:1] in {"+", "-"} else text
        if body == "0":
            return cls(0)
        if not body:
            raise ValueError(f"time: invalid duration {quoted}")
        total = 0
        position = 0
        while position < len(body):
            match = _PART.match(body, position)
            if match is None or not (match[1] or match[2]):
                raise ValueError(f"time: invalid duration {quoted}")
            total += _part_nanoseconds(match, quoted)
            position = match.end()
        if total > _MAX + (text[0] == "-"):
            raise ValueError(f"time: invalid duration {quoted}")
        return cls(-total if text[0] == "-" else total)

    def __str__(self) -> str:
        """Go's notation: the largest units first, no leading zero unit, "0s" for zero."""
        if self.nanoseconds == 0:
            return "0s"
        sign = "-" if self.nanoseconds < 0 else ""
        count = abs(self.nanoseconds)
        if count < 1_000_000_000:
            unit = "ns" if count < 1_000 else "µs" if count < 1_000_000 else "ms"
            return f"{sign}{_decimal(count, _UNITS[unit])}{unit}"
        minutes, rest = divmod(count, _UNITS["m"])
        hours, minutes = divmod(minutes, 60)
        text = f"{_decimal(rest, _UNITS['s'])}s"
        if hours:
            text = f"{hours}h{minutes}m{text}"
        elif minutes:
            text = f"{minutes}m{text}"
        return sign + text


def _part_nanoseconds(match: re.Match[str], quoted: str) -> int:
    whole, fraction, unit = match[1] or "0", match[2] or "", match[3]
    if not unit:
        raise ValueError(f"time: missing unit in duration {quoted}")
    if unit not in _UNITS:
        raise ValueError(f'time: unknown unit "{unit}" in duration {quoted}')
    scale = _UNITS[unit]
    return int(whole) * scale + (int(fraction) * scale // 10 ** len(fraction) if fraction else 0)


def _decimal(count: int, unit: int) -> str:
    """count / unit without trailing zeros; unit is a power of ten."""
    whole, rest = divmod(count, unit)
    if not rest:
        return str(whole)
    return f"{whole}.{str(rest).rjust(len(str(unit)) - 1, '0').rstrip('0')}"
