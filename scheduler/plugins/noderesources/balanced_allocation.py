"""NodeResourcesBalancedAllocation: prefer nodes whose resources the pod brings closer to being used alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from scheduler.cache.changes import Change
from scheduler.framework import names
from scheduler.framework.arithmetic import MAX_NODE_SCORE, every
from scheduler.framework.interface import PreScorePlugin, ScorePlugin
from scheduler.framework.status import SKIP, Status
from scheduler.plugins.noderesources.resource_allocation import ScoredResources

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from scheduler.cache.nodes import NodeView
    from scheduler.cache.shapes import PodShape
    from scheduler.config.args.node_resources_balanced_allocation import NodeResourcesBalancedAllocationArgs
    from scheduler.config.args.scoring import ResourceSpec
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Scores

Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]

NAME: Final = names.NODE_RESOURCES_BALANCED_ALLOCATION


def balance_change(requested: Int64s, allocatable: Int64s) -> Int64s:
    """75 if the balance stays as it is, up to 100 if the pod improves it, down to 50 if it worsens it.

    `requested` is int64[2, A, n]: with the pod, and without; `allocatable` int64[A, n], the result int64[n].
    """
    half = MAX_NODE_SCORE // 2
    if len(allocatable) == _PAIR and every(allocatable):
        after, before = _balance_of_pairs(requested, allocatable)
    else:
        after, before = (balance(each, allocatable) for each in requested)
    change: Int64s = after - before
    change += half
    change //= 2
    change += half
    return change


def _balance_of_pairs(requested: Int64s, allocatable: Int64s) -> Int64s:
    """`balance` of two resources which all nodes have; `requested` may have more dimensions before these."""
    fractions: Float64s = requested / allocatable
    np.minimum(fractions, 1.0, out=fractions)
    deviation: Float64s = fractions[..., 0, :] - fractions[..., 1, :]
    np.abs(deviation, out=deviation)
    deviation /= 2
    np.subtract(1, deviation, out=deviation)
    deviation *= MAX_NODE_SCORE
    truncated: Int64s = deviation.astype(np.int64)
    return truncated


def balance(requested: Int64s, allocatable: Int64s) -> Int64s:
    """100 if all resources are used to the same fraction, down to 50: 100 times (1 - standard deviation), truncated."""
    present = allocatable != 0
    if len(allocatable) == _PAIR:
        balanced = _balance_of_pairs(requested, allocatable + ~present)
        balanced[~(present[0] & present[1])] = MAX_NODE_SCORE
        return balanced
    fractions: Float64s = requested / (allocatable + ~present)
    np.minimum(fractions, 1.0, out=fractions)
    deviation = _deviation(fractions, present)
    truncated: Int64s = ((1 - deviation) * MAX_NODE_SCORE).astype(np.int64)
    return truncated


def balance_change_of_one(requested: Sequence[int], amounts: Sequence[int], allocatable: Sequence[int]) -> int:
    """`balance_change` of one node and two resources, in plain numbers; `amounts` are those of the pod."""
    allocated = [there - amount for there, amount in zip(requested, amounts, strict=True)]
    half = MAX_NODE_SCORE // 2
    return half + (half + _balance_of_two(requested, allocatable) - _balance_of_two(allocated, allocatable)) // 2


def _balance_of_two(requested: Sequence[int], allocatable: Sequence[int]) -> int:
    if not (allocatable[0] and allocatable[1]):
        return MAX_NODE_SCORE
    first, second = min(requested[0] / allocatable[0], 1.0), min(requested[1] / allocatable[1], 1.0)
    return int((1 - abs((first - second) / 2)) * MAX_NODE_SCORE)


_PAIR: Final = 2


def _deviation(fractions: Float64s, present: npt.NDArray[np.bool_]) -> Float64s:
    """The standard deviation of what is present, half the difference if these are two."""
    count = present.sum(axis=0)
    pairs = count == _PAIR
    if not pairs.any():
        return _standard_deviation(fractions, present, count)
    highest = np.where(present, fractions, -np.inf).max(axis=0)
    lowest = np.where(present, fractions, np.inf).min(axis=0)
    if pairs.all():
        halves: Float64s = (highest - lowest) / 2
        return halves
    deviation = _standard_deviation(fractions, present, count)
    np.copyto(deviation, (highest - lowest) / 2, where=pairs)
    return deviation


def _standard_deviation(fractions: Float64s, present: npt.NDArray[np.bool_], count: npt.NDArray[np.intp]) -> Float64s:
    """The population's, summed up in the order of the resources; 0 for one or none."""
    number = np.maximum(count, 1)
    total = np.zeros(fractions.shape[1])
    for fraction, there in zip(fractions, present, strict=True):
        total += fraction * there
    mean = total / number
    squares = np.zeros(fractions.shape[1])
    for fraction, there in zip(fractions, present, strict=True):
        distance = fraction - mean
        squares += distance * distance * there
    deviation: Float64s = np.sqrt(squares / number)
    return deviation


class BalancedAllocation(PreScorePlugin, ScorePlugin):
    """Source: pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go."""

    name = NAME
    sees_labels = False
    depends = Change.ALLOCATABLE | Change.REQUESTED
    bounded = True

    def __init__(self, resources: tuple[ResourceSpec, ...]) -> None:
        self._resources = resources
        self._memo = f"{NAME}:{resources!r}"

    def pre_score(self, cycle: Cycle, feasible: NodeView) -> Status | None:
        """Skips pods that request none of the resources."""
        del feasible
        return SKIP if self._is_best_effort(cycle.shape) else None

    def pre_score_settled(self, cycle: Cycle) -> bool:
        """It depends on nothing but the shape."""
        del cycle
        return True

    def score(self, cycle: Cycle, nodes: NodeView) -> Scores:
        """How the pod would change the balance of the nodes, 50..100."""
        scored = self._scored(cycle)
        if scored is None:
            return np.zeros(len(nodes), np.int64)
        compiled = scored.compiled(nodes)
        if compiled is not None:
            return compiled
        return balance_change(scored.requested(nodes) + scored.with_and_without, scored.allocatable(nodes))

    def score_key(self, cycle: Cycle) -> Hashable:
        """What counts of the requests."""
        scored = self._scored(cycle)
        return () if scored is None else scored.key

    def score_at(self, cycle: Cycle, row: int) -> int | None:
        """The same of one node, if two resources count."""
        scored = self._scored(cycle)
        if scored is None or len(scored) != _PAIR:
            return None
        compiled = scored.compiled_at(cycle.state.nodes, row)
        if compiled is not None:
            return compiled
        amounts = scored.of_one(cycle.state.nodes, row)
        return None if amounts is None else balance_change_of_one(amounts[0], scored.plain_amounts, amounts[1])

    def _scored(self, cycle: Cycle) -> ScoredResources | None:
        """What counts for the shape; None if it requests none of it."""
        shape = cycle.shape
        scored: ScoredResources | None = shape.common.get(self._memo)
        if scored is None and not self._is_best_effort(shape):
            scored = shape.common[self._memo] = ScoredResources(
                cycle.state.nodes, self._resources, shape.usage.requests, formula="balance"
            )
        return scored

    def _is_best_effort(self, shape: PodShape) -> bool:
        requests = shape.usage.requests  # in-place resizes included, which filters do not look at
        return not any(requests.get(resource.name) for resource in self._resources)


def make(args: NodeResourcesBalancedAllocationArgs, handle: Handle) -> BalancedAllocation:
    """The plugin."""
    del handle
    return BalancedAllocation(args.resources)
