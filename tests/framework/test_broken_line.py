"""Curves of straight segments."""

from __future__ import annotations

from scheduler.framework.broken_line import broken_line


def test_a_falling_line_is_truncated_toward_zero_from_its_upper_end() -> None:
    line = broken_line([(0, 100), (30, 0)])
    assert [line(x) for x in (0, 1, 10, 29, 30, 31)] == [100, 97, 67, 4, 0, 0]


def test_is_constant_beyond_the_ends() -> None:
    line = broken_line([(20, 10), (40, 50)])
    assert [line(x) for x in (0, 20, 30, 40, 100)] == [10, 10, 30, 50, 50]
