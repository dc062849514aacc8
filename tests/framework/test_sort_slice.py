"""Sorting as Go does it. The long orders are those of kube-scheduler's victims, whose priorities were the keys."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.framework.sort_slice import _Work, sort_slice

TWO = "8 12 2 0 4 10 6 3 7 9 5 11 1 13"
THREE = "12 27 24 3 21 18 6 0 15 9 7 4 10 13 28 1 16 25 22 19 8 20 5 23 2 17 26 11 14 29"
FALLING = (
    "39 38 37 33 36 35 34 32 31 30 29 28 27 26 25 21 24 23 22 20 19 18 17 13 16 15 14 10 12 11 9 8 7 6 5 4 3 2 1 0"
)
LONG = (
    "15 55 50 45 40 5 35 30 0 25 10 20 29 6 14 59 16 56 1 19 11 21 54 51 24 9 26 49 46 44 41 31 4 39 34 36 48 42 38 "
    "33 32 7 47 43 8 3 37 28 52 27 2 23 13 53 22 18 17 57 58 12"
)
RISING_AND_FALLING = (
    "0 72 2 3 4 5 1 6 79 7 73 74 75 76 77 78 8 15 14 13 12 11 10 9 71 70 69 68 67 66 65 64 60 56 16 17 18 19 20 21 "
    "22 23 63 62 61 59 58 57 29 25 50 51 52 53 54 55 48 24 49 26 27 28 30 31 41 40 33 44 32 45 43 46 42 47 39 38 37 "
    "36 35 34"
)


def order(keys):
    """The places of the keys, sorted."""
    return sort_slice(range(len(keys)), keys.__getitem__)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ([i % 2 for i in range(14)], TWO),
        ([i * 7 % 3 for i in range(30)], THREE),
        ([(40 - i) // 4 for i in range(40)], FALLING),
        ([i * i % 5 for i in range(60)], LONG),
        ([min(i, 79 - i) // 8 for i in range(80)], RISING_AND_FALLING),
    ],
    ids=["two keys", "three keys", "falling", "long", "rising and falling"],
)
def test_equal_keys_end_up_where_go_leaves_them(keys, expected):
    assert order(keys) == [int(place) for place in expected.split()]


@given(st.lists(st.integers(0, 3), max_size=12))
def test_few_items_with_equal_keys_stay_in_their_order(keys):
    assert order(keys) == sorted(range(len(keys)), key=keys.__getitem__)


@given(st.lists(st.integers(0, 3), max_size=90).map(sorted))
def test_what_is_sorted_stays_as_it_is(keys):
    assert order(keys) == list(range(len(keys)))


@given(st.lists(st.integers(0, 9), max_size=90), st.sampled_from([list, sorted, lambda keys: sorted(keys)[::-1]]))
def test_all_items_are_there_and_sorted(keys, arrange):
    keys = arrange(keys)
    places = order(keys)
    assert sorted(places) == list(range(len(keys)))
    assert [keys[place] for place in places] == sorted(keys)


def test_the_way_without_pivots_sorts_too():
    keys = [random.Random(1).randrange(9) for _ in range(70)]
    work = _Work(list(keys))
    work.sort(0, len(keys), 0)
    assert work.keys == sorted(keys)
    assert [keys[place] for place in work.places] == work.keys
