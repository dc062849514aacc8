"""Curves of straight segments that configuration describes by points."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from scheduler.api.int64 import truncating_divmod

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def broken_line(points: Sequence[tuple[int, int]]) -> Callable[[int], int]:
    """The function that is linear between the points (x ascending) and constant beyond them, in Go's integers.

    Source: pkg/scheduler/framework/plugins/helper/shape_score.go.
    """

    def value(x: int) -> int:
        if x <= points[0][0]:
            return points[0][1]
        for (x0, y0), (x1, y1) in itertools.pairwise(points):
            if x <= x1:
                return y0 + truncating_divmod((y1 - y0) * (x - x0), x1 - x0)[0]
        return points[-1][1]

    return value
