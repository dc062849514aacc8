"""The scoring strategies of NodeResourcesFit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scheduler.api.int64 import truncating_divmod
from scheduler.config.args.node_resources_fit import RequestedToCapacityRatioParam, ScoringStrategy
from scheduler.config.args.scoring import UtilizationShapePoint
from scheduler.framework.broken_line import broken_line
from scheduler.plugins.noderesources.strategies import (
    least_allocated,
    least_allocated_of_one,
    most_allocated,
    most_allocated_of_one,
    requested_to_capacity_ratio,
    strategy_of,
)

GIB = 1 << 30


def curve(*points: tuple[int, int]) -> list[UtilizationShapePoint]:
    return [UtilizationShapePoint(utilization=x, score=y) for x, y in points]


def on_one_node(strategy, *resources: tuple[int, int, int]) -> int:
    """The score of a node, resources as (requested, allocatable, weight)."""
    requested, allocatable, weights = (np.array(column, np.int64).reshape(-1, 1) for column in zip(*resources))  # noqa: B905
    (score,) = strategy(requested, allocatable, weights).tolist()
    return score


class TestLeastAllocated:
    @pytest.mark.parametrize(
        ("resources", "score"),
        [
            ([(500, 1000, 1), (3 * GIB, 4 * GIB, 1)], 37),
            ([(500, 1000, 3), (3 * GIB, 4 * GIB, 1)], 43),
            ([(0, 1000, 1), (0, GIB, 1)], 100),
            ([(1001, 1000, 1), (0, GIB, 1)], 50),
            ([(0, 0, 1), (GIB, 4 * GIB, 1)], 75),
            ([(0, 0, 1), (0, 0, 1)], 0),
            ([(1, 3, 1), (2, 3, 1)], 49),
        ],
        ids=["half and quarter", "weights", "empty", "over", "resource that isn't there", "nothing", "rounded twice"],
    )
    def test_scores_what_stays_free(self, resources, score):
        assert on_one_node(least_allocated, *resources) == score


class TestMostAllocated:
    @pytest.mark.parametrize(
        ("resources", "score"),
        [
            ([(500, 1000, 1), (3 * GIB, 4 * GIB, 1)], 62),
            ([(2000, 1000, 1), (0, GIB, 1)], 50),
            ([(0, 0, 1), (GIB, 4 * GIB, 1)], 25),
            ([(1, 3, 1), (2, 3, 1)], 49),
        ],
        ids=["half and three quarters", "over", "resource that isn't there", "rounded twice"],
    )
    def test_scores_what_is_used(self, resources, score):
        assert on_one_node(most_allocated, *resources) == score


class TestRequestedToCapacityRatio:
    rising = staticmethod(requested_to_capacity_ratio(curve((0, 0), (100, 10))))
    falling = staticmethod(requested_to_capacity_ratio(curve((0, 10), (100, 0))))

    @pytest.mark.parametrize(
        ("resources", "score"),
        [
            ([(500, 1000, 1), (GIB, 4 * GIB, 1)], 38),
            ([(1, 4, 1), (1, 2, 1)], 38),
            ([(5000, 1000, 1), (0, GIB, 1)], 100),
            ([(0, 0, 1), (GIB, 2 * GIB, 1)], 50),
            ([(0, 1000, 1), (0, GIB, 1)], 0),
        ],
        ids=["mean, rounded half up", "the same", "a score of 0 does not count", "nor does what isn't there", "all 0"],
    )
    def test_rises_with_use(self, resources, score):
        assert on_one_node(self.rising, *resources) == score

    def test_may_fall_with_use(self):
        assert on_one_node(self.falling, (250, 1000, 1), (GIB, 4 * GIB, 1)) == 75


class TestChoice:
    @pytest.mark.parametrize(
        ("name", "score"), [("LeastAllocated", 75), ("MostAllocated", 25), ("RequestedToCapacityRatio", 25)]
    )
    def test_by_name(self, name, score):
        ratio = RequestedToCapacityRatioParam(shape=tuple(curve((0, 0), (100, 10))))
        strategy = strategy_of(ScoringStrategy(type=name, requested_to_capacity_ratio=ratio))
        assert on_one_node(strategy, (250, 1000, 1)) == score

    @pytest.mark.parametrize("name", ["", "BestFit", "RequestedToCapacityRatio"])
    def test_unknown_strategies_and_a_missing_curve_are_refused(self, name):
        with pytest.raises(ValueError, match=f"scoring strategy {name} is not supported"):
            strategy_of(ScoringStrategy(type=name))


amounts = st.one_of(st.integers(0, 20), st.integers(0, 2**42), st.integers(0, 2**55))
nodes = st.integers(1, 3).flatmap(
    lambda count: st.tuples(
        st.lists(st.integers(1, 100), min_size=count, max_size=count),
        st.lists(st.lists(st.tuples(amounts, amounts), min_size=count, max_size=count), min_size=1, max_size=5),
    )
)


def scalar_mean(scores: list[tuple[int, int]]) -> tuple[int, int]:
    return sum(score * weight for score, weight in scores), sum(weight for _, weight in scores)


def scalar_least(node: list[tuple[int, int]], weights: list[int]) -> int:
    scores = [
        (0 if used > have else truncating_divmod((have - used) * 100, have)[0], weight)
        for (used, have), weight in zip(node, weights, strict=True)
        if have
    ]
    total, weight = scalar_mean(scores)
    return total // weight if weight else 0


def scalar_most(node: list[tuple[int, int]], weights: list[int]) -> int:
    pairs = zip(node, weights, strict=True)
    scores = [(min(used, have) * 100 // have, weight) for (used, have), weight in pairs if have]
    total, weight = scalar_mean(scores)
    return total // weight if weight else 0


def scalar_ratio(node: list[tuple[int, int]], weights: list[int], line) -> int:
    pairs = zip(node, weights, strict=True)
    scores = [(line(100 if used > have else used * 100 // have), weight) for (used, have), weight in pairs if have]
    total, weight = scalar_mean([(score, weight) for score, weight in scores if score > 0])
    return math.floor(total / weight + 0.5) if weight else 0


@given(nodes)
@example(([1, 1], [[(5, 0), (5, 0)], [(1, 3), (2, 3)]]))
def test_vectors_agree_with_one_node_at_a_time(drawn):
    weights, table = drawn
    requested = np.array([[used for used, _ in node] for node in table], np.int64).T
    allocatable = np.array([[have for _, have in node] for node in table], np.int64).T
    column = np.array(weights, np.int64).reshape(-1, 1)
    shape = [(0, 3), (40, 10), (90, 1)]
    line = broken_line([(x, 10 * y) for x, y in shape])
    ratio = requested_to_capacity_ratio(curve(*shape))
    assert least_allocated(requested, allocatable, column).tolist() == [scalar_least(n, weights) for n in table]
    assert most_allocated(requested, allocatable, column).tolist() == [scalar_most(n, weights) for n in table]
    assert ratio(requested, allocatable, column).tolist() == [scalar_ratio(n, weights, line) for n in table]


@given(nodes)
@example(([7, 3], [[(1, 3), (2, 3)], [(4, 3), (0, 0)]]))
def test_plain_integers_agree_with_one_node_at_a_time(drawn):
    weights, table = drawn
    for node in table:
        requested, allocatable = [used for used, _ in node], [have for _, have in node]
        assert least_allocated_of_one(requested, allocatable, weights) == scalar_least(node, weights)
        assert most_allocated_of_one(requested, allocatable, weights) == scalar_most(node, weights)
