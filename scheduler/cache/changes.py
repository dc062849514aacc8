"""What changed, and where: the log by which cached vectors find the rows that they must compute anew."""

from __future__ import annotations

import enum
from typing import Final

import numpy as np
import numpy.typing as npt

from scheduler.kernels.rows import distinct


class Change(enum.IntFlag):
    """The parts of a node that verdicts and scores depend on."""

    NONE = 0
    NODE = 1 << 0
    """The node came or went (all else of it changed as well)."""
    LABELS = 1 << 1
    TAINTS = 1 << 2
    """Taints, or spec.unschedulable."""
    ALLOCATABLE = 1 << 3
    REQUESTED = 1 << 4
    """Requests, non-zero requests or the number of pods."""
    PORTS = 1 << 5
    IMAGES = 1 << 6
    FEATURES = 1 << 7
    CONDITIONS = 1 << 8
    ANNOTATIONS = 1 << 9
    PODS = 1 << 10
    """A pod came or went, whatever it requests."""
    ALL = (1 << 11) - 1


_KEEP: Final = 1 << 16
"""Entries kept before the older half is dropped; whoever is behind that starts over."""

_FEW: Final = 16
"""As many entries are gone through one by one."""


class ChangeLog:
    """An append-only list of (row, value) with a start that moves on.

    For node changes the value is a `Change`; counters use it for the difference in the count.
    """

    __slots__ = ("_asked", "_ends", "_latest", "_rows", "_start", "_values")

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._values: list[int] = []
        self._start = 0
        self._latest: dict[int, int] = {}
        """By value, the position after its newest entry; there are few distinct ones."""
        self._ends: dict[int, int] = {}
        self._asked: dict[tuple[int, int], npt.NDArray[np.intp]] = {}
        """Answers of `end_of` and `rows` since the last change: the vectors of one shape all ask the same."""

    @property
    def end(self) -> int:
        """The position after the newest entry."""
        return self._start + len(self._rows)

    def append(self, row: int, value: int) -> None:
        """Note one change."""
        value = int(value)
        self._rows.append(row)
        self._values.append(value)
        self._latest[value] = self._start + len(self._rows)
        if self._ends:
            self._ends = {}
        if self._asked:
            self._asked = {}
        if len(self._rows) > _KEEP:
            half = _KEEP // 2
            del self._rows[:half], self._values[:half]
            self._start += half

    def end_of(self, mask: int) -> int:
        """The position after the newest change of anything that `mask` names, 0 if there never was one."""
        end = self._ends.get(mask)
        if end is None:
            ends = [end for value, end in self._latest.items() if value & mask]
            end = self._ends[mask] = max(ends, default=0)
        return end

    def kinds(self, position: int) -> int:
        """All that has changed since `position`, or more than that where it is below 0, as one mask."""
        kinds = 0
        for value, end in self._latest.items():
            if end > position:
                kinds |= value
        return kinds

    def entries(self, position: int) -> tuple[list[int], list[int]] | None:
        """Rows and values since `position`; None if these are no longer kept."""
        first = position - self._start
        if first < 0:
            return None
        return self._rows[first:], self._values[first:]

    def only_row(self, position: int, mask: int) -> int | None:
        """The one row that changed since `position` in what `mask` names; None also where finding out takes longer."""
        first, end = position - self._start, len(self._rows)
        if first < 0 or end - first > _FEW:
            return None
        found = None
        for index in range(first, end):
            if self._values[index] & mask:
                row = self._rows[index]
                if found is not None and row != found:
                    return None
                found = row
        return found

    def rows(self, position: int, mask: int) -> npt.NDArray[np.intp] | None:
        """The distinct rows changed since `position` in what `mask` names; None if that is no longer known."""
        first = position - self._start
        if first < 0:
            return None
        if first == len(self._rows):
            return _NO_ROWS
        mask = int(mask)  # plain ints are compared many times as quickly as flags
        answer = self._asked.get((position, mask))
        if answer is None:
            answer = self._asked[position, mask] = distinct(self._rows, self._values, first, mask)
        return answer


_NO_ROWS: Final = np.empty(0, np.intp)
