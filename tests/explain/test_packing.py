"""Vectors that are made anew in each cycle, kept in little memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from scheduler.cache.versions import Ledger
from scheduler.explain.packing import Packed, Packer, pack


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


class TestPacker:
    """Each vector is kept as what differs from one of its like before, as long as that is worth it."""

    LIKE = (1, "NodeResourcesFit")

    @staticmethod
    def nearly(number: int) -> np.ndarray:
        vector = np.arange(1000, dtype=np.int64) % 100
        vector[number % 1000] = 101
        return vector

    @staticmethod
    def unlike(number: int) -> np.ndarray:
        return (np.arange(1000, dtype=np.int64) * 7919 + number * 31) % 251

    def test_the_first_of_its_kind_is_kept_whole_and_the_next_as_a_difference(self) -> None:
        packer = Packer(Ledger())
        packed = [packer.pack(self.LIKE, self.nearly(number)) for number in range(3)]
        assert [one.is_base for one in packed] == [True, False, False]
        for number, one in enumerate(packed):
            assert one.restore().tolist() == self.nearly(number).tolist()

    def test_vectors_of_other_shapes_and_plugins_are_not_their_like(self) -> None:
        packer = Packer(Ledger())
        likes = [(1, "Fit"), (2, "Fit"), (1, "Spread")]
        assert all(packer.pack(like, self.nearly(0)).is_base for like in likes)

    def test_one_of_another_length_begins_anew(self) -> None:
        """Nodes came."""
        packer = Packer(Ledger())
        packer.pack(self.LIKE, self.nearly(0))
        assert packer.pack(self.LIKE, np.append(self.nearly(1), 5)).is_base

    def test_what_has_no_likeness_is_soon_compared_now_and_then_only(self, monkeypatch: pytest.MonkeyPatch) -> None:
        compared = []
        real = Packed.difference

        def difference(self: Packed, values: np.ndarray) -> Packed | None:
            compared.append(number)
            return real(self, values)

        monkeypatch.setattr(Packed, "difference", difference)
        packer = Packer(Ledger())
        for number in range(50):
            assert packer.pack(self.LIKE, self.unlike(number)).is_base
        assert compared == [1, 2, 3, 16, 32, 48]

    def test_a_likeness_that_comes_back_is_found(self) -> None:
        packer = Packer(Ledger())
        for number in range(10):
            packer.pack(self.LIKE, self.unlike(number))
        found = [packer.pack(self.LIKE, self.nearly(number)).is_base for number in range(40)]
        assert found[0]
        assert not any(found[8:])

    def test_one_stranger_among_its_like_is_soon_forgotten(self) -> None:
        packer = Packer(Ledger())
        for number in range(20):
            packer.pack(self.LIKE, self.unlike(number))
        for number in range(20):
            packer.pack(self.LIKE, self.nearly(number))
        packer.pack(self.LIKE, self.unlike(0))
        assert [packer.pack(self.LIKE, self.nearly(number)).is_base for number in range(3)] == [True, False, False]

    def test_the_kinds_that_are_remembered_are_limited_and_the_oldest_goes(self) -> None:
        packer = Packer(Ledger(), limit=2)
        for shape in range(3):
            packer.pack((shape, "Fit"), self.nearly(0))
        assert packer.pack((0, "Fit"), self.nearly(1)).is_base
        assert not packer.pack((2, "Fit"), self.nearly(1)).is_base

    def test_what_is_forgotten_leaves_the_packed_as_they_are(self) -> None:
        packer = Packer(Ledger())
        packed = [packer.pack(self.LIKE, self.nearly(number)) for number in range(2)]
        packer.clear()
        assert packed[1].restore().tolist() == self.nearly(1).tolist()
        assert packer.pack(self.LIKE, self.nearly(2)).is_base
