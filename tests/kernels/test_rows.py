"""What is done to vectors in some rows, compiled and by the twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from scheduler.kernels import rows as kernels
from scheduler.kernels.compiled import compiled

BOTH = pytest.mark.parametrize("module", [compiled, None], ids=["compiled", "twin"])


@pytest.fixture
def use(monkeypatch):
    """Lets one of the two do it."""

    def choose(module):
        monkeypatch.setattr(kernels, "compiled", module)

    return choose


def rows_of(*numbers):
    return np.array(numbers, np.intp)


def test_there_is_a_compiled_module():
    """Where this fails, the package was built without a C compiler: `make dev` tells why."""
    assert compiled is not None


@BOTH
class TestKnown:
    @pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.uint16, np.float64])
    def test_it_is_what_the_rows_hold_if_that_is_something_else(self, module, use, dtype):
        use(module)
        vector = np.array([5, 6, 7], dtype)
        found = kernels.known(vector, rows_of(2, 0), np.array([7, 9], dtype))
        assert found is not None
        assert found.dtype == dtype
        assert found.tolist() == [7, 5]

    @pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.uint16])
    def test_it_is_none_if_they_hold_just_that(self, module, use, dtype):
        use(module)
        assert kernels.known(np.array([5, 6, 7], dtype), rows_of(2, 0), np.array([7, 5], dtype)) is None

    def test_a_part_of_another_type_is_compared_by_value(self, module, use):
        use(module)
        assert kernels.known(np.array([5, 6], np.int64), rows_of(1), np.array([6], np.uint8)) is None

    def test_the_answer_does_not_change_with_the_vector(self, module, use):
        use(module)
        vector = np.array([5, 6], np.int64)
        found = kernels.known(vector, rows_of(0, 1), np.array([1, 2], np.int64))
        vector[:] = 0
        assert found.tolist() == [5, 6]

    def test_a_row_beyond_the_vector_is_an_error(self, module, use):
        use(module)
        with pytest.raises(IndexError):
            kernels.known(np.zeros(2, np.int64), rows_of(2), np.zeros(1, np.int64))


@BOTH
class TestAddUp:
    def test_only_these_rows_become_the_weighted_sum(self, module, use):
        use(module)
        total = np.array([100, 100, 100], np.int64)
        kernels.add_up(total, rows_of(2, 0), [np.array([1, 2, 3]), np.array([10, 20, 30])], [1, 2])
        assert total.tolist() == [21, 100, 63]

    def test_all_rows_do_where_none_are_named(self, module, use):
        use(module)
        total = np.array([100, 100], np.int64)
        kernels.add_up(total, None, [np.array([1, 2, 3]), np.array([10, 20])], [1, 2])
        assert total.tolist() == [21, 42]

    def test_scores_of_another_type_count_as_well(self, module, use):
        use(module)
        total = np.zeros(2, np.int64)
        kernels.add_up(total, rows_of(1), [np.array([1, 2], np.int32), np.array([10, 20])], [3, 1])
        assert total.tolist() == [0, 26]

    def test_a_row_that_a_vector_has_not_is_an_error(self, module, use):
        use(module)
        for rows in (rows_of(2), None):
            with pytest.raises((IndexError, ValueError)):
                kernels.add_up(np.zeros(3, np.int64), rows, [np.zeros(2, np.int64)], [1])


@BOTH
class TestLeaders:
    @pytest.mark.parametrize(
        ("totals", "rows", "top", "found"),
        [
            ([1, 3, 2, 3], (0, 1, 2, 3), 3, [1, 3]),
            ([1, 3, 2, 3], (0, 2), 2, [2]),
            ([-5, -7], (0, 1), -5, [0]),
            ([np.iinfo(np.int64).min], (0,), np.iinfo(np.int64).min, [0]),
        ],
    )
    def test_those_that_tie_for_the_highest_total_in_order(self, module, use, totals, rows, top, found):
        use(module)
        highest, leading = kernels.leaders(np.array(totals, np.int64), rows_of(*rows))
        assert (highest, leading.tolist()) == (top, found)
        assert leading.dtype == np.intp


@BOTH
class TestDistinct:
    def test_rows_are_told_once_and_only_those_that_the_mask_is_about(self, module, use):
        use(module)
        found = kernels.distinct([9, 4, 5, 4, 6], [1, 1, 2, 3, 1], 1, 1)
        assert found.dtype == np.intp
        assert sorted(found.tolist()) == [4, 6]

    def test_there_may_be_none(self, module, use):
        use(module)
        assert kernels.distinct([9, 4], [1, 1], 0, 2).tolist() == []
        assert kernels.distinct([9, 4], [1, 1], 2, 1).tolist() == []


@BOTH
class TestNarrowed:
    @pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.int32])
    @pytest.mark.parametrize(
        ("values", "found"), [([7, 7], 7), ([0, 100], [0, 100]), ([3], 3)], ids=["all the same", "bytes", "one"]
    )
    def test_integers_are_kept_in_as_few_bytes_as_hold_them(self, module, use, dtype, values, found):
        use(module)
        answer = kernels.narrowed(np.array(values, dtype))
        assert (answer if isinstance(answer, int) else answer.tolist()) == found
        assert isinstance(answer, int) or answer.dtype == np.uint8

    @pytest.mark.parametrize("values", [[0, 256], [-1, 5]])
    def test_others_are_left_alone(self, module, use, values):
        use(module)
        assert kernels.narrowed(np.array(values, np.int64)) is None
        assert kernels.narrowed(np.array([values[0]] * 2, np.int64)) == values[0]

    def test_of_a_part_of_an_array(self, module, use):
        use(module)
        assert kernels.narrowed(np.array([[1, 9], [2, 9], [3, 9]], np.int64)[:, 0]).tolist() == [1, 2, 3]


VECTORS = arrays.arrays(st.sampled_from([np.int64, np.uint8]), st.integers(1, 40), elements=st.integers(0, 3))


@settings(max_examples=300, deadline=None)
@given(data=st.data(), vector=VECTORS)
def test_both_come_to_the_same(data, vector):
    size = len(vector)
    chosen = data.draw(st.lists(st.integers(0, size - 1), min_size=1, unique=True))
    rows = rows_of(*chosen)
    part = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows))), vector.dtype)
    scores = [vector.astype(np.int64), np.arange(size, dtype=np.int64)]
    log = data.draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 7)), min_size=1, max_size=60))
    first, mask = data.draw(st.integers(0, len(log))), data.draw(st.integers(0, 7))
    answers = []
    for module in (compiled, None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kernels, "compiled", module)
            held, narrow = kernels.known(vector, rows, part), kernels.narrowed(vector)
            total, whole = np.zeros(size, np.int64), np.zeros(size, np.int64)
            kernels.add_up(total, rows, scores, [3, 5])
            kernels.add_up(whole, None, scores, [1, 7])
            top, leading = kernels.leaders(scores[0], rows)
            found = kernels.distinct([row for row, _ in log], [value for _, value in log], first, mask)
            answers.append(
                (
                    None if held is None else held.tolist(),
                    narrow if isinstance(narrow, int) else narrow.tolist(),
                    total.tolist(),
                    whole.tolist(),
                    (top, leading.tolist()),
                    sorted(found.tolist()),
                )
            )
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "call",
    [
        lambda: compiled.known(np.zeros(1, np.int64), rows_of(0)),
        lambda: compiled.known(np.zeros(1, np.int64), rows_of(-1), np.zeros(1, np.int64)),
        lambda: compiled.add_up(np.zeros(1), rows_of(0), [], []),
        lambda: compiled.add_up(np.zeros(1, np.int64), 0, [np.zeros(1, np.int64)], [1]),
        lambda: compiled.add_up(np.zeros(1, np.int64), rows_of(0), [np.zeros(1, np.int64)], ["1"]),
        lambda: compiled.leaders(np.zeros(1), rows_of(0)),
        lambda: compiled.leaders(np.zeros(1, np.int64), rows_of(1)),
        lambda: compiled.distinct([1], [1, 2], 0, 1),
        lambda: compiled.distinct([1], [1], 2, 1),
        lambda: compiled.distinct([-1], [1], 0, 1),
        lambda: compiled.distinct(["a"], [1], 0, 1),
    ],
)
def test_what_it_is_not_made_for_is_an_error_and_never_more_than_that(call):
    with pytest.raises((TypeError, IndexError)):
        call()
