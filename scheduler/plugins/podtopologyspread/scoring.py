"""How well a node keeps the pods of the ScheduleAnyway constraints apart.

Source: pkg/scheduler/framework/plugins/podtopologyspread/scoring.go.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from scheduler.api.topology_labels import HOSTNAME_LABEL
from scheduler.framework.arithmetic import bounds, divide, every, some

if TYPE_CHECKING:
    from scheduler.cache.nodes import NodeView, Rows
    from scheduler.plugins.podtopologyspread.counts import CountedConstraint, SpreadCounts

Int64s = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating[Any]]
Mask = npt.NDArray[np.bool_]

MAX_NODE_SCORE: Final = 100


class SpreadScoring(NamedTuple):
    """What PreScore hands on: the weight of each constraint, and which feasible nodes are ignored (None: none)."""

    counts: SpreadCounts
    weights: list[float]
    ignored: Mask | None


class _Prepared(NamedTuple):
    """What was found for these rows; it holds until a label that matters changes, by the versions of its column."""

    rows: Rows
    versions: list[int]
    weights: list[float]
    ignored: Mask | None


def prepare(counts: SpreadCounts, feasible: NodeView) -> SpreadScoring:
    """Find the nodes to ignore and the weights, from the feasible nodes (initPreScoreState)."""
    counts.refresh(feasible.table)
    rows, versions = feasible.rows, [item.column.version for item in counts.items]
    found: _Prepared | None = counts.prepared
    if found is None or found.versions != versions or not _same(found.rows, rows):
        found = counts.prepared = _Prepared(rows, versions, *_prepared(counts, feasible))
    return SpreadScoring(counts, found.weights, found.ignored)


def _same(these: Rows, those: Rows) -> bool:
    """Whether these are the same rows, as far as that can be seen at once."""
    if isinstance(these, slice) or isinstance(those, slice):
        return isinstance(these, slice) and isinstance(those, slice) and these == those
    return these is those and not these.flags.writeable


def _prepared(counts: SpreadCounts, feasible: NodeView) -> tuple[list[float], Mask | None]:
    ids = [item.column.ids[feasible.rows] for item in counts.items]
    ignored = None
    if counts.require_all:
        ignored = ids[0] == 0
        for more in ids[1:]:
            ignored |= more == 0
        if not some(ignored):
            ignored = None
    scored = len(feasible) if ignored is None else len(feasible) - int(np.count_nonzero(ignored))
    weights = []
    for item, of_nodes in zip(counts.items, ids, strict=True):
        if item.constraint.topology_key == HOSTNAME_LABEL:
            size = scored
        else:
            size = _distinct_values(item, of_nodes if ignored is None else of_nodes[~ignored])
        weights.append(natural_logarithm(float(size + 2)))
    return weights, ignored


def raw_scores(scoring: SpreadScoring, nodes: NodeView) -> Int64s:
    """int64, one a feasible node: the weighted counts of its domains, summed in the order of the constraints.

    For kubernetes.io/hostname the node's own pods count, whatever the inclusion policies say.
    """
    size = nodes.table.size
    total: Floats | None = None
    for item, weight in zip(scoring.counts.items, scoring.weights, strict=True):
        ids = item.column.ids[nodes.rows]
        watered = float(item.constraint.max_skew - 1)
        if item.constraint.topology_key == HOSTNAME_LABEL:
            on_node = np.zeros(len(nodes), np.int64) if nodes.bare else item.counter.per_node(size)[nodes.rows]
            part = on_node * weight + watered
            if not every(ids):
                part[ids == 0] = 0.0
        else:
            by_domain = _with_unlabelled(item, size) * weight + watered
            by_domain[0] = 0.0
            part = by_domain[ids]
        total = part if total is None else total + part
    assert total is not None
    scores = _rounded(total)
    if scoring.ignored is not None:
        scores[scoring.ignored] = 0
    return scores


def normalized(ignored: Mask | None, scores: Int64s) -> Int64s:
    """int64 in 0..100: the fewer, the better; 0 for ignored nodes."""
    considered = scores if ignored is None else scores[~ignored]
    if not len(considered):
        return np.zeros(len(scores), np.int64)
    lowest, highest = bounds(considered)
    if highest == 0:
        result = np.full(len(scores), MAX_NODE_SCORE, np.int64)
    else:
        bound = MAX_NODE_SCORE * (highest + lowest)
        result = divide(MAX_NODE_SCORE * (highest + lowest - scores), highest, bound=bound)
    if ignored is not None:
        result[ignored] = 0
    return result


def _distinct_values(item: CountedConstraint, ids: npt.NDArray[np.intp]) -> int:
    """How many values the nodes with these ids have; no label counts like an empty value."""
    seen = np.zeros(len(item.column.values), np.bool_)
    seen[ids] = True
    empty = item.column.index.get("", 0)
    if empty and seen[0]:
        seen[empty] = True
        seen[0] = False
    return int(np.count_nonzero(seen))


def _with_unlabelled(item: CountedConstraint, size: int) -> Int64s:
    """The sums over domains, where the domain of the empty value also has the pods on nodes without the label."""
    sums = item.sums(size)
    empty = item.column.index.get("", 0)
    if not empty:
        return sums
    unlabelled = item.column.ids[:size] == 0
    if item.inclusion.mask is not None:
        unlabelled &= item.inclusion.mask
    merged = sums.copy()
    merged[empty] += item.counter.per_node(size)[unlabelled].sum()
    return merged


def _rounded(values: Floats) -> Int64s:
    """Half away from zero (Go's math.Round), for values that are 0 or at least ln(2), as all sums of weights are.

    Nothing but 0.49999999999999994 is rounded the wrong way by adding a half.
    """
    whole: Int64s = np.floor(values + 0.5).astype(np.int64)
    return whole


_LN2_HIGH: Final = 6.93147180369123816490e-01
_LN2_LOW: Final = 1.90821492927058770002e-10
_ODD: Final = (6.666666666666735130e-01, 2.857142874366239149e-01, 1.818357216161805012e-01, 1.479819860511658591e-01)
_EVEN: Final = (3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01)


@functools.lru_cache(maxsize=1024)
def natural_logarithm(x: float) -> float:
    """ln(x) for x > 0, to the last bit as Go has it; the C library's differs there for one number in eighty.

    With s = f/(2+f), ln(1+f) = 2s + s*R(s^2), R being a polynomial (FreeBSD's e_log.c, Go's math.Log).
    """
    fraction, exponent = math.frexp(x)
    if fraction < math.sqrt(2) / 2:
        fraction *= 2
        exponent -= 1
    f = fraction - 1
    s = f / (2 + f)
    s2 = s * s
    s4 = s2 * s2
    odd = s2 * (_ODD[0] + s4 * (_ODD[1] + s4 * (_ODD[2] + s4 * _ODD[3])))
    even = s4 * (_EVEN[0] + s4 * (_EVEN[1] + s4 * _EVEN[2]))
    half_square = 0.5 * f * f
    tail = half_square - (s * (half_square + (odd + even)) + exponent * _LN2_LOW)
    return exponent * _LN2_HIGH - (tail - f)
