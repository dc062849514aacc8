"""The scoring strategies of NodeResourcesFit.

Each takes what is requested of the nodes with the pod on them and what they have, both int64[A, n] for A resources
and n nodes, and the resources' weights, int64[A, 1]; it answers int64[n] in 0..100. A node's resources of which it
has nothing do not count.

Source: pkg/scheduler/framework/plugins/noderesources/{least_allocated,most_allocated,requested_to_capacity_ratio}.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from scheduler.config.args.node_resources_fit import (
    LEAST_ALLOCATED,
    MOST_ALLOCATED,
    REQUESTED_TO_CAPACITY_RATIO,
)
from scheduler.config.args.scoring import MAX_CUSTOM_PRIORITY_SCORE
from scheduler.framework.arithmetic import MAX_NODE_SCORE, divide, every
from scheduler.framework.broken_line import broken_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.config.args.node_resources_fit import ScoringStrategy
    from scheduler.config.args.scoring import UtilizationShapePoint
    from scheduler.kernels.formula import Kind

Int64s = npt.NDArray[np.int64]
Strategy = Callable[[Int64s, Int64s, Int64s], Int64s]


def least_allocated(requested: Int64s, allocatable: Int64s, weights: Int64s) -> Int64s:
    """The weighted mean of the percentages that stay free, 0 where more is requested than there is."""
    free = allocatable - requested
    np.maximum(free, 0, out=free)
    return _mean(_percentages(free, allocatable), allocatable, weights)


def least_allocated_of_one(requested: Sequence[int], allocatable: Sequence[int], weights: Sequence[int]) -> int:
    """`least_allocated` of one node, in plain integers."""
    total = weight = 0
    for wanted, there, share in zip(requested, allocatable, weights, strict=True):
        if there:
            total += max(there - wanted, 0) * MAX_NODE_SCORE // there * share
            weight += share
    return total // max(weight, 1)


def most_allocated(requested: Int64s, allocatable: Int64s, weights: Int64s) -> Int64s:
    """The weighted mean of the percentages that are requested, at most 100."""
    used = np.minimum(requested, allocatable)
    return _mean(_percentages(used, allocatable), allocatable, weights)


def most_allocated_of_one(requested: Sequence[int], allocatable: Sequence[int], weights: Sequence[int]) -> int:
    """`most_allocated` of one node, in plain integers."""
    total = weight = 0
    for wanted, there, share in zip(requested, allocatable, weights, strict=True):
        if there:
            total += min(wanted, there) * MAX_NODE_SCORE // there * share
            weight += share
    return total // max(weight, 1)


OF_ONE: Final[Mapping[Strategy, Callable[[Sequence[int], Sequence[int], Sequence[int]], int]]] = {
    least_allocated: least_allocated_of_one,
    most_allocated: most_allocated_of_one,
}
"""The strategies that can also be asked of one node, which takes a fifth of the time that NumPy takes for one."""

COMPILED: Final[Mapping[Strategy, Kind]] = {least_allocated: "least", most_allocated: "most"}
"""What they are called in `kernels.formula`."""


def requested_to_capacity_ratio(shape: Sequence[UtilizationShapePoint]) -> Strategy:
    """A strategy that reads scores off a curve of utilization; resources that score 0 do not count either.

    The mean is rounded half away from zero.
    """
    curve = broken_line([(point.utilization, point.score * _SCALE) for point in shape])
    scores = np.array([curve(percent) for percent in range(_FULL + 1)], np.int64)

    def strategy(requested: Int64s, allocatable: Int64s, weights: Int64s) -> Int64s:
        utilization = _percentages(np.minimum(requested, allocatable), allocatable)
        found = scores[np.clip(utilization, 0, _FULL)]
        if not every(allocatable):
            found *= allocatable != 0
        weight = np.maximum((weights * (found > 0)).sum(axis=0), 1)
        found *= weights
        total = found.sum(axis=0)
        rounded: Int64s = np.floor(total / weight + 0.5).astype(np.int64)
        return rounded

    return strategy


def strategy_of(args: ScoringStrategy) -> Strategy:
    """The configured strategy. Raises ValueError if there is no such strategy, or its curve is missing."""
    if args.type == LEAST_ALLOCATED:
        return least_allocated
    if args.type == MOST_ALLOCATED:
        return most_allocated
    ratio = args.requested_to_capacity_ratio
    if args.type == REQUESTED_TO_CAPACITY_RATIO and ratio is not None and ratio.shape:
        return requested_to_capacity_ratio(ratio.shape)
    raise ValueError(f"scoring strategy {args.type} is not supported")


_FULL = 100
_SCALE = MAX_NODE_SCORE // MAX_CUSTOM_PRIORITY_SCORE


def _percentages(parts: Int64s, wholes: Int64s) -> Int64s:
    """How many hundredths the parts are of the wholes, which they do not exceed; 0 of what is 0. Changes `parts`."""
    parts *= 100
    divisors = wholes if every(wholes) else wholes + (wholes == 0)
    return divide(parts, divisors, bound=100 * int(np.maximum.reduce(wholes, axis=None, initial=0)))


def _mean(scores: Int64s, allocatable: Int64s, weights: Int64s) -> Int64s:
    """The weighted mean of the scores of what there is, truncated; 0 where there is nothing."""
    scores *= weights
    total = np.add.reduce(scores, axis=0)
    everything: int = sum(weights.ravel().tolist())
    bound = MAX_NODE_SCORE * everything
    if every(allocatable):
        return divide(total, max(everything, 1), bound=bound)
    weight = (weights * (allocatable != 0)).sum(axis=0)
    return divide(total, np.maximum(weight, 1), bound=bound)
