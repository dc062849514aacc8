"""Vectors that are made anew in each cycle, kept in little memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from scheduler.cache.versions import Ledger
from scheduler.explain.packing import pack


@given(
    arrays.arrays(
        st.sampled_from([np.int64, np.uint8, np.uint32]),
        st.integers(0, 600),
        elements=st.integers(0, 200),
        fill=st.just(3),
    ),
    st.lists(st.tuples(st.integers(0, 599), st.integers(0, 250)), max_size=5),
)
def test_it_is_restored_as_it_was(vector: np.ndarray, changes: list[tuple[int, int]]) -> None:
    ledger = Ledger()
    first = pack(vector.copy(), ledger)
    other = vector.copy()
    for place, value in changes:
        if place < len(other):
            other[place] = value
    second = pack(other.copy(), ledger, first)
    third = pack(vector.copy(), ledger, second)
    assert first.restore().tolist() == third.restore().tolist() == vector.tolist()
    assert second.restore().tolist() == other.tolist()
    del first, second, third
    assert ledger.bytes == 0


@pytest.mark.parametrize("values", [[-5, 3], [2**40, 0], [0, 70_000], [-(2**62), 2**62]])
def test_large_and_negative_numbers_are_kept(values: list[int]) -> None:
    assert pack(np.array(values, np.int64), Ledger()).restore().tolist() == values


def test_a_vector_that_differs_in_a_few_places_takes_little() -> None:
    ledger = Ledger()
    vector = np.arange(5000, dtype=np.int64) % 100
    first = pack(vector.copy(), ledger)
    before = ledger.bytes
    vector[17] = 3
    second = pack(vector.copy(), ledger, first)
    assert not second.is_base
    assert ledger.bytes - before < 500


def test_a_vector_of_one_value_takes_little() -> None:
    ledger = Ledger()
    _ = pack(np.full(5000, 42, np.int64), ledger)
    assert ledger.bytes < 400 or not ledger.bytes
