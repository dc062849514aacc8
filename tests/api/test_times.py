"""RFC 3339 times."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.api.times import format_time, parse_time


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:00Z", 0.0),
        ("2026-11-30T07:48:06Z", 1796024886.0),
        ("2026-11-30T07:48:06.5Z", 1796024886.5),
        ("2026-11-30T07:48:06.123456Z", 1796024886.123456),
        ("2026-11-30T07:48:06.123456789Z", 1796024886.123456789),
        ("2026-11-30T09:48:06+02:00", 1796024886.0),
        ("2026-11-30T02:18:06-05:30", 1796024886.0),
        ("1969-12-31T23:59:59.25Z", -0.75),
        ("0001-01-01T00:00:00Z", -62135596800.0),
    ],
)
def test_a_time_is_seconds_since_1970(text: str, seconds: float) -> None:
    assert parse_time(text) == seconds


@given(st.datetimes(timezones=st.just(UTC)))
def test_microseconds_survive(moment: datetime) -> None:
    text = moment.strftime("%Y").zfill(4) + moment.strftime("-%m-%dT%H:%M:%S") + f".{moment.microsecond:06}Z"
    whole = moment.replace(microsecond=0)
    assert parse_time(text) == int(whole.timestamp()) + moment.microsecond / 10**6


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-30",
        "2026-11-30 07:48:06Z",
        "2026-11-30T07:48:06",
        "2026-02-30T00:00:00Z",
        "2026-11-30T24:00:00Z",
        "2026-11-30T07:48:60Z",
        "2026-11-30T07:48:06+99:00",
        "2026-11-30T07:48:06.Z",
        "2026-11-30T07:48:06." + "1" * 100 + "Z",
    ],
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time"):
        parse_time(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "1970-01-01T00:00:00.000000Z"),
        (1796024886.5, "2026-11-30T07:48:06.500000Z"),
        (1796024885.9999999, "2026-11-30T07:48:06.000000Z"),
        (-0.75, "1969-12-31T23:59:59.250000Z"),
    ],
)
def test_a_time_is_written_to_the_microsecond(seconds: float, text: str) -> None:
    assert format_time(seconds) == text


@given(st.integers(0, 4_000_000_000_000_000).map(lambda micros: micros / 1_000_000))
def test_a_time_that_is_written_reads_as_the_same(seconds: float) -> None:
    assert abs(parse_time(format_time(seconds)) - seconds) < 1e-6
