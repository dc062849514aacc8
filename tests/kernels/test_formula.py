"""The compiled formulas, against the same in plain Python, number by number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.kernels import formula as kernels
from scheduler.kernels.compiled import compiled
from scheduler.kernels.formula import formula

NODES = 4
AMOUNTS = st.one_of(st.integers(0, 200), st.integers(0, 1 << 53), st.integers(-5, 1 << 62))


def columns_of(allocatable, requested, nonzero=((0,) * NODES, (0,) * NODES), allowed=(110,) * NODES, pods=(0,) * NODES):
    return tuple(np.array(column, np.int64) for column in (allocatable, requested, nonzero, allowed, pods))


@st.composite
def columns(draw):
    def matrix(rows):
        return draw(st.lists(st.lists(AMOUNTS, min_size=NODES, max_size=NODES), min_size=rows, max_size=rows))

    counts = st.lists(st.integers(0, 3), min_size=NODES, max_size=NODES)
    return columns_of(matrix(3), matrix(3), matrix(2), draw(counts), draw(counts))


def is_exact(amount):
    return 0 <= amount < 1 << 53


def wrapped(number):
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def lacks(table, row, indices, amounts):
    allocatable, requested, _, allowed, pods = table
    code = int(pods[row] >= allowed[row])
    for bit, (index, amount) in enumerate(zip(indices, amounts, strict=True)):
        there = int(allocatable[index, row])
        if wrapped(there - int(requested[index, row])) < amount:
            code |= 4 << bit | (2 if there < amount else 0)
    return code


def score(table, row, kind, indices, amounts, weights, nonzero):
    """As Go reckons: integers that are cut off, and doubles."""
    allocatable, requested, defaults, *_ = table
    has = [int(allocatable[index, row]) for index in indices]
    before = [int((defaults if nonzero and index < 2 else requested)[index, row]) for index in indices]
    after = [there + amount for there, amount in zip(before, amounts, strict=True)]
    if not all(map(is_exact, (*has, *before, *after))):
        return None
    if kind == "balance":

        def balance(used):
            if not all(has):
                return 100
            first, second = (min(float(part) / float(whole), 1.0) for part, whole in zip(used, has, strict=True))
            return int((1 - abs((first - second) / 2)) * 100)

        return 50 + (50 + balance(after) - balance(before)) // 2
    total = weight = 0
    for whole, used, share in zip(has, after, weights, strict=True):
        if whole:
            part = max(whole - used, 0) if kind == "least" else min(whole, used)
            total += part * 100 // whole * share
            weight += share
    return total // (weight or 1)


@settings(max_examples=400, deadline=None)
@given(
    table=columns(),
    kind=st.sampled_from(["room", "least", "most", "balance"]),
    amounts=st.lists(st.one_of(st.integers(0, 50), st.integers(0, (1 << 63) - 1)), min_size=2, max_size=2),
    indices=st.permutations([0, 1, 2]),
    weights=st.lists(st.integers(0, 100), min_size=2, max_size=2),
    nonzero=st.booleans(),
)
def test_every_number_is_what_go_comes_to(table, kind, amounts, indices, weights, nonzero):
    indices = indices[:2]
    made = formula(kind, indices, amounts, weights=weights, nonzero=nonzero)
    assert made is not None
    if kind == "room":
        expected = [lacks(table, row, indices, amounts) for row in range(NODES)]
    else:
        expected = [score(table, row, kind, indices, amounts, weights, nonzero) for row in range(NODES)]
    assert [made.at(table, row) for row in range(NODES)] == expected
    for rows in (NODES, 2, 0, np.array([2, 0], np.intp), np.array([], np.intp)):
        wanted = expected[:rows] if isinstance(rows, int) else [expected[row] for row in rows]
        found = made.of(table, rows)
        if None in wanted:
            assert found is None
        else:
            assert found.tolist() == wanted
            assert found.dtype == (np.uint8 if kind == "room" else np.int64)


def test_a_percentage_is_cut_off_just_below_a_whole_one():
    """The quotient of doubles is exact where the whole is small enough, and not asked where it is larger."""
    for whole in (3, 10**9 + 7, (1 << 53) // 100 - 1, (1 << 53) // 100, (1 << 53) - 1):
        for part in (whole // 100, whole // 3, whole // 3 * 2 + 1, whole - 1):
            table = columns_of([[whole] * NODES], [[part] * NODES])
            assert formula("most", [0], [0]).at(table, 0) == part * 100 // whole


def test_without_resources_only_the_number_of_pods_matters():
    table = columns_of([[1] * NODES], [[1] * NODES], allowed=(1, 1, 0, 2), pods=(0, 1, 0, 1))
    assert formula("room", [], []).of(table, NODES).tolist() == [0, 1, 1, 0]
    assert formula("least", [], []).of(table, NODES).tolist() == [0] * NODES


@pytest.mark.parametrize(
    ("kind", "amounts"),
    [("room", [1] * 7), ("least", [1] * 9), ("balance", [1]), ("balance", [1, 1, 1]), ("least", [1 << 63])],
)
def test_there_is_none_for_more_than_it_is_made_for(kind, amounts):
    assert formula(kind, range(len(amounts)), amounts) is None


def test_there_is_none_where_nothing_is_compiled(monkeypatch):
    monkeypatch.setattr(kernels, "compiled", None)
    assert formula("room", [0], [1]) is None


TABLE = columns_of([[1] * NODES], [[1] * NODES])


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: compiled.Formula("other", [], [], [], False), ValueError),
        (lambda: compiled.Formula("least", [0], [1, 2], [1], False), ValueError),
        (lambda: compiled.Formula("least", [-1], [1], [1], False), ValueError),
        (lambda: compiled.Formula("least", [0], [1], [-1], False), ValueError),
        (lambda: compiled.Formula("least", ["0"], [1], [1], False), TypeError),
        (lambda: formula("room", [1], [1]).at(TABLE, 0), IndexError),
        (lambda: formula("room", [0], [1]).at(TABLE, NODES), IndexError),
        (lambda: formula("room", [0], [1]).at(TABLE, -1), IndexError),
        (lambda: formula("room", [0], [1]).at(TABLE[:4], 0), TypeError),
        (lambda: formula("room", [0], [1]).at((*TABLE[:4], np.zeros(NODES)), 0), TypeError),
        (lambda: formula("room", [0], [1]).at((*TABLE[:4], np.zeros(NODES - 1, np.int64)), 0), TypeError),
        (lambda: formula("room", [0], [1]).of(TABLE, NODES + 1), IndexError),
        (lambda: formula("room", [0], [1]).of(TABLE, -2), IndexError),
        (lambda: formula("room", [0], [1]).of(TABLE, np.array([0, NODES])), IndexError),
        (lambda: formula("room", [0], [1]).of(TABLE, "x"), TypeError),
        (lambda: formula("room", [0], [1]).of(TABLE), TypeError),
        (lambda: formula("room", [0], [1]).at(TABLE), TypeError),
    ],
)
def test_what_does_not_fit_is_an_error_and_never_more_than_that(call, problem):
    with pytest.raises(problem):
        call()
