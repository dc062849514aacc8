"""Vectors that are patched in place, as they were at some earlier time."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.cache.versions import FULL_EVERY, Ledger, Version, Versioned, memory_of, shrunk


class Held:
    """A vector of 64 numbers, and every version that was ever held, with a copy of what it was."""

    def __init__(self, size: int = 64) -> None:
        self.ledger = Ledger()
        self.owner = Versioned()
        self.owner.vector = np.zeros(size, np.int64)
        self.versions: list[tuple[Version, list[int]]] = []

    @property
    def vector(self) -> np.ndarray:
        assert self.owner.vector is not None
        return self.owner.vector

    def hold(self) -> None:
        self.versions.append((self.owner.hold(self.ledger), self.vector.tolist()))

    def patch(self, rows: list[int], value: int) -> None:
        self.owner.before_patch(np.array(rows, np.intp))
        self.vector[rows] = value

    def replace(self, value: int) -> None:
        self.owner.before_change()
        self.owner.vector = np.full(len(self.vector), value, np.int64)

    def grow(self) -> None:
        self.owner.vector = np.concatenate([self.vector, np.zeros(16, np.int64)])

    def check(self) -> None:
        for version, expected in self.versions:
            assert version.restore()[: len(expected)].tolist() == expected


changes = st.one_of(
    st.tuples(st.just("patch"), st.lists(st.integers(0, 63), min_size=1, unique=True), st.integers(-9, 400)),
    st.tuples(st.just("replace"), st.just([]), st.integers(-9, 400)),
    st.tuples(st.just("grow"), st.just([]), st.just(0)),
    st.tuples(st.just("hold"), st.just([]), st.just(0)),
    st.tuples(st.just("drop"), st.lists(st.integers(0, 20), min_size=1, max_size=1), st.just(0)),
)


@given(st.lists(changes, max_size=60))
def test_every_version_is_what_it_was(steps: list[tuple[str, list[int], int]]) -> None:
    held = Held()
    for what, rows, value in steps:
        if what == "patch":
            held.patch(rows, value)
        elif what == "replace":
            held.replace(value)
        elif what == "grow":
            held.grow()
        elif what == "hold":
            held.hold()
        elif rows[0] < len(held.versions):
            del held.versions[rows[0]]
    held.check()
    held.versions.clear()
    held.owner.before_change()
    assert held.ledger.bytes == 0


def test_an_old_version_does_not_keep_all_that_came_after_it() -> None:
    held = Held()
    held.hold()
    for number in range(20 * FULL_EVERY):
        held.patch([number % 64], number)
    held.check()
    gc.collect()
    kept = [item for item in gc.get_objects() if isinstance(item, Version) and item._ledger is held.ledger]
    assert len(kept) <= FULL_EVERY + 1


def test_what_is_overwritten_is_accounted_for_until_it_is_let_go() -> None:
    held = Held()
    held.hold()
    held.patch([3], 1)
    assert held.ledger.bytes > 0
    held.versions.clear()
    assert held.ledger.bytes == 0


def test_names_have_versions_too() -> None:
    ledger, owner = Ledger(), Versioned()
    owner.vector = np.array(["a", None, "b"], np.object_)
    version = owner.hold(ledger)
    owner.before_patch(np.array([0]))
    owner.vector[0] = "c"
    assert version.restore().tolist() == ["a", None, "b"]
    assert owner.hold(ledger).restore().tolist() == ["c", None, "b"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [([0, 255], np.uint8), ([-1, 5], np.int8), ([0, 256], np.uint16), ([-200, 200], np.int16), ([7, 7], np.int64)],
)
def test_a_copy_is_as_small_as_it_can_be(values: list[int], kind: type) -> None:
    copy = shrunk(np.array(values, np.int64))
    assert copy.tolist() == values
    assert copy.dtype == kind


def test_equal_values_are_kept_once() -> None:
    assert memory_of(shrunk(np.full(10_000, 7, np.int64))) < 300
