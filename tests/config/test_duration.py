from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.config.duration import Duration

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0", 0),
        ("0s", 0),
        ("15s", 15 * SECOND),
        ("1m30s", 90 * SECOND),
        ("1h", 3600 * SECOND),
        ("1.5s", 1_500_000_000),
        (".5s", 500_000_000),
        ("5.s", 5 * SECOND),
        ("250ms", 250_000_000),
        ("1us", 1000),
        ("1µs", 1000),
        ("-2s", -2 * SECOND),
        ("+2s", 2 * SECOND),
        ("1h1m1s1ms1ns", 3661 * SECOND + 1_000_001),
        ("9223372036854775807ns", 2**63 - 1),
        ("-9223372036854775808ns", -(2**63)),
    ],
)
def test_parse_reads_gos_notation(text, nanoseconds):
    assert Duration.parse(text).nanoseconds == nanoseconds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'time: invalid duration ""'),
        ("-", 'time: invalid duration "-"'),
        ("s", 'time: invalid duration "s"'),
        (".s", 'time: invalid duration ".s"'),
        ("15", 'time: missing unit in duration "15"'),
        ("1h2", 'time: missing unit in duration "1h2"'),
        ("3 s", 'time: unknown unit " s" in duration "3 s"'),
        ("3d", 'time: unknown unit "d" in duration "3d"'),
        ("9223372036854775808ns", 'time: invalid duration "9223372036854775808ns"'),
        ("10000000h", 'time: invalid duration "10000000h"'),
    ],
)
def test_parse_refuses_in_gos_words(text, message):
    with pytest.raises(ValueError, match="time: ") as caught:
        Duration.parse(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0s"),
        (1, "1ns"),
        (1100, "1.1µs"),
        (2_200_000, "2.2ms"),
        (1_500_000_000, "1.5s"),
        (90 * SECOND, "1m30s"),
        (600 * SECOND, "10m0s"),
        (3600 * SECOND, "1h0m0s"),
        (-3_300_000_000, "-3.3s"),
    ],
)
def test_str_writes_gos_notation(nanoseconds, text):
    assert str(Duration(nanoseconds)) == text


@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_what_is_written_reads_back(nanoseconds):
    assert Duration.parse(str(Duration(nanoseconds))) == Duration(nanoseconds)


def test_seconds_are_a_float_and_durations_compare_by_length():
    assert Duration.parse("1500ms").seconds == 1.5
    assert Duration.of_seconds(2) > Duration.parse("1999ms")
