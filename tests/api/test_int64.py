"""Go's integers."""

from __future__ import annotations

import pytest

from scheduler.api.int64 import MAX_INT64, MIN_INT64, fits64, low64, parse_int64, truncating_divmod, wrap32, wrap64


@pytest.mark.parametrize(
    ("number", "wrapped"), [(MAX_INT64, MAX_INT64), (MAX_INT64 + 1, MIN_INT64), (-1, -1), (2**64, 0)]
)
def test_an_int64_wraps_around(number: int, wrapped: int) -> None:
    assert wrap64(number) == wrapped
    assert fits64(number) is (number == wrapped)


def test_an_int32_wraps_around() -> None:
    assert [wrap32(2**31 - 1), wrap32(2**31), wrap32(-(2**31) - 1)] == [2**31 - 1, -(2**31), 2**31 - 1]


@pytest.mark.parametrize(("number", "low"), [(5, 5), (-5, -5), (2**64 + 7, 7), (-(2**64) - 7, -7), (2**63, MIN_INT64)])
def test_a_big_number_keeps_its_low_bits_and_sign(number: int, low: int) -> None:
    assert low64(number) == low


@pytest.mark.parametrize(
    ("dividend", "divisor", "expected"), [(7, 2, (3, 1)), (-7, 2, (-3, -1)), (7, -2, (-3, 1)), (-7, -2, (3, -1))]
)
def test_division_truncates_toward_zero(dividend: int, divisor: int, expected: tuple[int, int]) -> None:
    assert truncating_divmod(dividend, divisor) == expected


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), ("-3", -3), ("+3", 3), ("007", 7), (str(MAX_INT64), MAX_INT64), (str(MIN_INT64), MIN_INT64)],
)
def test_a_decimal_integer_is_parsed(text: str, number: int) -> None:
    assert parse_int64(text) == number


@pytest.mark.parametrize("text", ["", "-", "1.0", " 1", "1_0", "0x1", "\u0661", str(MAX_INT64 + 1), "9" * 9999, "1\n"])
def test_what_go_does_not_take_for_an_int64_is_none(text: str) -> None:
    assert parse_int64(text) is None
