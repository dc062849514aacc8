"""Which nodes are looked at when not all of them are to be scored."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.cycle.sampling import Places, nodes_to_find


@pytest.mark.parametrize(
    ("percentage", "nodes", "expected"),
    [
        (0, 10, 10),
        (0, 99, 99),
        (50, 99, 99),
        (0, 100, 100),
        (10, 100, 100),
        (40, 1000, 400),
        (0, 1000, 420),
        (0, 5000, 500),
        (0, 6000, 300),
        (0, 15000, 750),
        (1, 20000, 200),
        (100, 5000, 5000),
        (40, 10, 10),
        (40, 6000, 2400),
    ],
)
def test_how_many_feasible_nodes_are_enough(percentage, nodes, expected):
    assert nodes_to_find(percentage, nodes) == expected


def run(fits, start, wanted):
    """The nodes found, and those that were looked at besides."""
    found, seen = Places().sample(np.arange(len(fits)), start, np.flatnonzero(fits), wanted)
    assert set(found.tolist()) <= set(seen.tolist())
    return found.tolist(), [row for row in seen.tolist() if not fits[row]]


@pytest.mark.parametrize(
    ("fits", "start", "wanted", "found", "seen"),
    [
        ([1, 1, 1, 1], 0, 2, [0, 1], []),
        ([1, 1, 1, 1], 3, 2, [3, 0], []),
        ([1, 0, 1, 1], 0, 2, [0, 2], [1]),
        ([1, 1, 0, 1], 0, 2, [0, 1], [2]),
        ([1, 1, 0, 0], 0, 2, [0, 1], [2, 3]),
        ([0, 0, 1, 0], 1, 2, [2], [1, 3, 0]),
        ([0, 0, 0, 0], 2, 2, [], [2, 3, 0, 1]),
    ],
    ids=["enough", "round", "gap", "up to the surplus", "no surplus", "too few", "none"],
)
def test_the_search_goes_round_until_it_meets_one_more_than_enough(fits, start, wanted, found, seen):
    assert run(fits, start, wanted) == (found, seen)


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.data())
def test_it_is_one_worker_of_kube_scheduler(fits, data):
    start = data.draw(st.integers(0, len(fits) - 1))
    wanted = data.draw(st.integers(1, len(fits)))
    found, seen = [], []
    for step in range(len(fits)):
        row = (start + step) % len(fits)
        if not fits[row]:
            seen.append(row)
        elif len(found) == wanted:
            break
        else:
            found.append(row)
    assert run(fits, start, wanted) == (found, seen)


def test_places_are_found_anew_when_other_nodes_fit_or_the_order_is_another_one():
    places = Places()
    order, fitting = np.array([2, 0, 1]), np.array([0, 2])
    assert places.sample(order, 0, fitting, 1)[0].tolist() == [2]
    assert places.sample(order, 1, fitting, 1)[0].tolist() == [0]
    assert places.sample(order, 0, np.array([0, 1]), 1)[0].tolist() == [0]
    assert places.sample(np.array([1, 2, 0]), 0, np.array([0, 1]), 1)[0].tolist() == [1]
