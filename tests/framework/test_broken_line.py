"""Curves of straight segments."""

from __future__ import annotations

from scheduler.framework.broken_line import broken_line


def test_a_falling_line_is_truncated_toward_zero_from_its_upper_end() -> None:
    line = broken_line([(0, 100), (30, 0)])
    assert [line(x) for x in (0, 1, 10, 29, 30, 31)] == [100, 97, 67, 4, 0, 0]


def test_is_constant_beyond_the_ends() -> None:
    line = broken_line([(20, 10), (40, 50)])
    assert [line(x) for x in (0, 20, 30, 40, 100)] == [10, 10, 30, 50, 50]


def test_a_rising_line_is_truncated() -> None:
    line = broken_line([(10, 1), (90, 9)])
    assert [line(x) for x in (-10, 0, 9, 10, 15, 19, 20, 89, 90, 99, 110)] == [1, 1, 1, 1, 1, 1, 2, 8, 9, 9, 9]


def test_a_line_may_rise_and_fall_or_be_level() -> None:
    tent, level = broken_line([(0, 2), (40, 10), (100, 0)]), broken_line([(0, 2), (40, 2), (100, 2)])
    assert [tent(x) for x in (-10, 0, 20, 30, 40, 70, 100, 110)] == [2, 2, 6, 8, 10, 5, 0, 0]
    assert {level(x) for x in (-10, 0, 20, 30, 40, 70, 100, 110)} == {2}
