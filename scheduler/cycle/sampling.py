"""Which nodes are looked at when not all of them are to be scored (pkg/scheduler/schedule_one.go)."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

MIN_FEASIBLE_NODES: Final = 100
MIN_PERCENTAGE: Final = 5

Rows = npt.NDArray[np.intp]


def nodes_to_find(percentage: int, nodes: int) -> int:
    """How many feasible nodes are enough (numFeasibleNodesToFind). A percentage of 0 adapts to the number of nodes."""
    if nodes < MIN_FEASIBLE_NODES:
        return nodes
    if percentage == 0:
        percentage = max(50 - nodes // 125, MIN_PERCENTAGE)
    return max(nodes * percentage // 100, MIN_FEASIBLE_NODES)


class Places:
    """Where in the order of the nodes those are that fit, kept for as long as order and nodes are the same arrays."""

    __slots__ = ("_fitting", "_order", "_places")

    def __init__(self) -> None:
        self._order: Rows | None = None
        self._fitting: Rows | None = None
        self._places: Rows = np.empty(0, np.intp)

    def sample(self, order: Rows, start: int, fitting: Rows, wanted: int) -> tuple[Rows, Rows]:
        """Go through `order` from position `start` and round, until more than `wanted` of the nodes that fit were seen.

        Returns the rows of the first `wanted` that fit, and the rows that were looked at, both in the order in which
        they were seen. As with one worker of kube-scheduler, the search ends at the first surplus node that fits.
        """
        if order is not self._order or fitting is not self._fitting:
            self._find(order, fitting)
        places = self._places
        first = int(places.searchsorted(start))
        if len(places) <= wanted:
            return _from(order, places, first, len(places)), _round(order, start, len(order))
        surplus = places.item((first + wanted) % len(places))
        return _from(order, places, first, wanted), _round(order, start, (surplus - start) % len(order))

    def _find(self, order: Rows, fitting: Rows) -> None:
        fits = np.zeros(int(np.maximum.reduce(order, initial=-1)) + 1, np.bool_)
        fits[fitting] = True
        self._places = np.flatnonzero(fits[order])
        self._order, self._fitting = order, fitting


def _from(order: Rows, places: Rows, first: int, count: int) -> Rows:
    return order[_round(places, first, count)]


def _round(items: Rows, start: int, count: int) -> Rows:
    """So many of the items from `start`, beginning anew after the last one."""
    end = start + count
    if end <= len(items):
        return items[start:end]
    return np.concatenate([items[start:], items[: end - len(items)]])
