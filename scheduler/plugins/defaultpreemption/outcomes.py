"""What came of trying nodes, kept for the next preemptor of the same shape: few nodes have changed since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from scheduler.cache.changes import Change
from scheduler.framework.by_columns import rivals_of
from scheduler.framework.interface import Eviction
from scheduler.plugins.defaultpreemption.columns import select_victims_by_columns

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from scheduler.cache.nodes import NodeTable
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.status import Status
    from scheduler.plugins.defaultpreemption.filters import DryRunFilters
    from scheduler.plugins.defaultpreemption.orders import Orders

Rows = npt.NDArray[np.intp]
Int64s = npt.NDArray[np.int64]

_ANYTHING: Final = int(Change.ALL)
_NEVER: Final = -1


HELPING: Final = 0
BREAKING: Final = 1
"""It would help, but break a budget."""
REFUSED: Final = 2


class Tried(NamedTuple):
    """What came of trying some nodes, in turn: object[n], each whom to evict or why that does not help; and of which
    kind each of these is, int8[n]."""

    outcomes: npt.NDArray[np.object_]
    kinds: npt.NDArray[np.int8]

    @classmethod
    def of(cls, found: Sequence[Eviction | Status]) -> Tried:
        """These outcomes."""
        outcomes = np.empty(len(found), np.object_)
        outcomes[:] = found
        return cls(outcomes, np.array([_kind(outcome) for outcome in found], np.int8))


def _kind(outcome: Eviction | Status) -> int:
    if not isinstance(outcome, Eviction):
        return REFUSED
    return BREAKING if outcome.violations else HELPING


class Outcomes:
    """Of one shape of preemptors, by row: whom to evict, or why that does not help.

    An outcome is what it is until the node changes, the order of its possible victims is another one, or the pods that
    are nominated to it take something else.
    """

    def __init__(self, table: NodeTable) -> None:
        self._by_row: npt.NDArray[np.object_] = np.full(table.size, None, np.object_)
        self._kinds = np.full(table.size, REFUSED, np.int8)
        self._made = np.full(table.size, _NEVER, np.int64)
        """Which order it was by (`Orders.made`)."""
        self._loads: Int64s = np.zeros((0, table.size), np.int64)
        """int64[resources, rows]: what the nominated pods took that were counted on the node."""
        self._position = table.log.end

    def of(self, cycle: Cycle, filters: DryRunFilters, rows: Rows, orders: Orders) -> Tried:
        """The outcomes in these rows, in which `orders` are up to date. For filters that are `columns_only`."""
        table = cycle.state.nodes
        log = table.log
        changed = log.rows(self._position, _ANYTHING)
        self._made[slice(None) if changed is None else changed] = _NEVER
        self._position = log.end
        rivals = rivals_of(cycle)
        loads = rivals.loads(table)
        if len(loads) != len(self._loads):  # there is a resource that was not known before
            self._loads = np.zeros_like(loads)
            self._made[:] = _NEVER
        stale = (self._made[rows] != orders.made[rows]) | orders.stale[rows]
        stale |= (self._loads[:, rows] != loads[:, rows]).any(axis=0)
        anew = rows[stale]
        if len(anew):
            for row, outcome in select_victims_by_columns(cycle, filters, anew, orders, rivals).items():
                self._by_row[row] = outcome
                self._kinds[row] = _kind(outcome)
            self._made[anew] = orders.made[anew]
            self._loads[:, anew] = loads[:, anew]
        return Tried(self._by_row[rows], self._kinds[rows])


def key_of(cycle: Cycle) -> Hashable:
    """What outcomes depend on besides the nodes: shape, filters, and whatever else these look at."""
    return cycle.pod.shape, tuple((plugin, plugin.epoch(cycle)) for plugin in cycle.filters)
