"""Who has the highest score, kept from one pod of a shape to the next: mostly the score of one node has changed."""

from __future__ import annotations

from bisect import bisect_left
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scheduler.framework.scoring import own_sum
from scheduler.kernels.rows import leaders

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.cache.nodes import NodeView
    from scheduler.framework.filtering import Selection
    from scheduler.framework.score_sum import ScoreSum

Int64s = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]


class Standing:
    """The totals of the nodes that fit, and the best of these.

    `totals` and `best` make arrays, int64 and intp, of what will be changed by the next decision on a pod of the shape,
    or of one of its `Kin`; asking them afterwards is an error (RuntimeError).
    """

    __slots__ = ("best", "leaders", "totals")

    def __init__(self, leaders: list[int] | Rows, best: Callable[[], Rows], totals: Callable[[], Int64s]) -> None:
        self.leaders = leaders
        self.best = best
        self.totals = totals


class Leaders:
    """The nodes with the highest sum of scores that need no normalizing, in ascending order."""

    __slots__ = ("_at", "_rows", "_selection", "_sum", "_top")

    def __init__(self, total: ScoreSum) -> None:
        self._sum = total
        self._at = -1
        self._selection: Selection | None = None
        self._rows: list[int] | Rows = []
        self._top = 0

    def standing(self, selection: Selection, static: Int64s, added: int, view: NodeView) -> Standing:
        """How the nodes of a selection stand, by the sum as it is now; `added` is what all of them get besides."""
        self._catch_up(selection, static)
        version = self._sum.version
        return Standing(self._rows, partial(self._best, version), partial(self._totals, version, static, added, view))

    def _catch_up(self, selection: Selection, static: Int64s) -> None:
        version, row = self._sum.version, self._sum.row
        if selection is self._selection:
            if version == self._at:
                return
            if version == self._at + 1 and row is not None and self._move(row, static.item(row)):
                self._at = version
                return
        self._top, self._rows = leaders(static, selection.feasible)
        self._at, self._selection = version, selection

    def _move(self, row: int, total: int) -> bool:
        """The sum of one node has changed; False if none is left of those that led."""
        rows = self._rows
        if not isinstance(rows, list):  # only now, when the next pod is of the same shape: a list takes changes quickly
            rows = self._rows = rows.tolist()
        place = bisect_left(rows, row)
        if place < len(rows) and rows[place] == row:
            if total > self._top:
                self._rows, self._top = [row], total
            elif total < self._top:
                del rows[place]
        elif total >= self._top and self._fits(row):
            if total > self._top:
                self._rows, self._top = [row], total
            else:
                rows.insert(place, row)
        return len(self._rows) > 0

    def _fits(self, row: int) -> bool:
        assert self._selection is not None
        feasible = self._selection.feasible
        place = int(feasible.searchsorted(row))
        return place < len(feasible) and feasible.item(place) == row

    def _best(self, version: int) -> Rows:
        self._check(version)
        return np.array(self._rows, np.intp)

    def _totals(self, version: int, static: Int64s, added: int, view: NodeView) -> Int64s:
        self._check(version)
        return own_sum(static, added, view)

    def _check(self, version: int) -> None:
        if self._sum.version != version:
            raise RuntimeError("another decision has been taken since: the scores of this one are gone")
