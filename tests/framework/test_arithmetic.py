"""Go's arithmetic on vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scheduler.api.int64 import truncating_divmod
from scheduler.framework.arithmetic import bounds, divide, every, normalize, some

small = st.integers(-(2**53) + 1, 2**53 - 1)
large = st.integers(-(2**62), 2**62)


@given(dividend=small, divisor=small.filter(bool))
@example(dividend=2**53 - 1, divisor=2)
@example(dividend=-7, divisor=2)
@example(dividend=9 * 10**15 - 1, divisor=10**15)
def test_division_in_floats_truncates_toward_zero_and_is_exact(dividend, divisor):
    quotient = divide(np.array([dividend]), np.array([divisor]), bound=2**53 - 1)
    assert quotient.tolist() == [truncating_divmod(dividend, divisor)[0]]
    assert quotient.dtype == np.int64


@given(dividend=large, divisor=large.filter(bool))
@example(dividend=2**62, divisor=-3)
@example(dividend=-(2**62), divisor=3)
def test_division_of_large_numbers_stays_in_integers(dividend, divisor):
    quotient = divide(np.array([dividend]), np.array([divisor]), bound=2**62)
    assert quotient.tolist() == [truncating_divmod(dividend, divisor)[0]]


@pytest.mark.parametrize("values", [[], [0], [0, 0], [0, -3], [1, 2], [True, False], [False], [[1, 0], [2, 3]]])
def test_some_and_every_are_any_and_all(values):
    array = np.array(values)
    assert some(array) is bool(array.any())
    assert every(array) is bool(array.all())


@pytest.mark.parametrize(
    ("scores", "shares", "reversed_shares"),
    [
        ([0, 1, 3], [0, 33, 100], [100, 67, 0]),
        ([0, 0], [0, 0], [100, 100]),
        ([7], [100], [0]),
        ([], [], []),
        ([30, 80], [37, 100], [63, 0]),
        ([1, 2, 3, 4], [25, 50, 75, 100], [75, 50, 25, 0]),
        ([1000, 10, 20, 30], [100, 1, 2, 3], [0, 99, 98, 97]),
        ([1, 1, 1, 1], [100, 100, 100, 100], [0, 0, 0, 0]),
        ([1000, 1, 1, 1], [100, 0, 0, 0], [0, 100, 100, 100]),
        ([0, 1, 1, 1], [0, 100, 100, 100], [100, 0, 0, 0]),
        ([0, 0, 0, 0], [0, 0, 0, 0], [100, 100, 100, 100]),
    ],
)
def test_scores_become_shares_of_the_highest(scores, shares, reversed_shares):
    given_scores = np.array(scores, np.int64)
    assert normalize(given_scores).tolist() == shares
    assert normalize(given_scores, reverse=True).tolist() == reversed_shares
    assert given_scores.tolist() == scores


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=1))
def test_bounds_are_the_lowest_and_the_highest(values):
    assert bounds(np.array(values, np.int64)) == (min(values), max(values))
