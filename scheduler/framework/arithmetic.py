"""Go's arithmetic on vectors, where it differs from NumPy's, and the formulas that several plugins share."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

Int64s = npt.NDArray[np.int64]

MAX_NODE_SCORE: Final = 100

_EXACT: Final = 1 << 53


def divide(dividends: Int64s, divisors: Int64s | int, *, bound: int) -> Int64s:
    """The quotients as int64, truncated toward zero as Go's `/`; no divisor may be 0.

    `bound` is a number that no operand exceeds in size. Below 2**53 the division is done in floats, which is exact and
    twice as fast.
    """
    if bound < _EXACT:
        truncated: Int64s = (dividends / divisors).astype(np.int64)
        return truncated
    quotients: Int64s = dividends // divisors
    quotients += (quotients < 0) & (quotients * divisors != dividends)
    return quotients


def some(values: npt.NDArray[Any]) -> bool:
    """Whether any value is true, or not 0: `values.any()` for short vectors, of which most of the time is overhead."""
    return bool(np.count_nonzero(values))


def every(values: npt.NDArray[Any]) -> bool:
    """Whether all values are true, or not 0; as `some`."""
    return bool(np.count_nonzero(values) == values.size)


def bounds(values: npt.NDArray[Any]) -> tuple[int, int]:
    """The lowest and the highest of integers, of which there must be any; as `some`."""
    return int(np.minimum.reduce(values)), int(np.maximum.reduce(values))


def normalize(scores: Int64s, *, reverse: bool = False) -> Int64s:
    """Scores in proportion to the highest one, which becomes 100; the other way round if `reverse`.

    If no score is above 0 all stay as they are (reversed: become 100).
    Source: pkg/scheduler/framework/plugins/helper/normalize_score.go.
    """
    highest = int(np.maximum.reduce(scores, initial=0))
    if highest == 0:
        return np.full(len(scores), MAX_NODE_SCORE, np.int64) if reverse else scores
    shares = divide(MAX_NODE_SCORE * scores, highest, bound=MAX_NODE_SCORE * highest)
    return MAX_NODE_SCORE - shares if reverse else shares
