"""The same for many nodes at once, where it is a matter of amounts only (see `victims`)."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from scheduler.plugins.defaultpreemption.victims import NO_VICTIMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.cache.nominations import Rivals
    from scheduler.cache.what_if import ColumnTrial
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import Eviction
    from scheduler.framework.status import Status
    from scheduler.plugins.defaultpreemption.filters import DryRunFilters
    from scheduler.plugins.defaultpreemption.orders import Orders

NOBODY: Final = -1
"""In the place of a possible victim where a node has no more of them."""

Rows = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


def select_victims_by_columns(
    cycle: Cycle, filters: DryRunFilters, indices: Rows, orders: Orders, rivals: Rivals
) -> dict[int, Eviction | Status]:
    """By row, whom to evict or why that does not help; the rows' k-th pods are all put back in one go.

    `indices` are the rows, in which `orders` must be up to date; `rivals` the nominated pods that matter as much, there
    or elsewhere.
    """
    somebody = orders.taken[indices, 0] != NOBODY
    found: dict[int, Eviction | Status] = dict.fromkeys(indices[~somebody].tolist(), NO_VICTIMS)
    indices = indices[somebody]
    if not len(indices):
        return found
    taken = orders.taken[indices]
    present = taken != NOBODY
    most = int(np.count_nonzero(present.any(axis=0)))
    taken, present = taken[:, :most], present[:, :most]
    state = cycle.state
    chosen = np.zeros(cycle.nodes.size, np.bool_)
    chosen[indices] = True
    rivals = rivals.on(chosen)
    usages = [*rivals.usages, *orders.usages]
    taken = taken + len(rivals.usages)
    with state.what_if_columns(indices, usages) as trial:
        asked = _WithRivals(filters, trial, rivals, cycle.nodes.size)
        for place in range(most):
            some = np.flatnonzero(present[:, place])
            trial.move(indices[some], taken[some, place], -1)
        fits = np.ones(len(indices), np.bool_)
        for status, refused in asked.verdicts(indices):
            positions = refused[fits[refused]]
            fits[positions] = False
            found.update(dict.fromkeys(indices[positions].tolist(), status))
        victims = present & fits[:, None]
        for place in range(most):
            some = np.flatnonzero(victims[:, place])
            if not len(some):
                continue
            trial.move(indices[some], taken[some, place], 1)
            misfits = asked.misfits(indices[some])
            victims[some[~misfits], place] = False
            gone = some[misfits]
            trial.move(indices[gone], taken[gone, place], -1)
    for row, chosen_ones in zip(indices[fits].tolist(), victims[fits].tolist(), strict=True):
        order = orders.by_row[row]
        assert order is not None
        found[row] = order.eviction(state.nodes.name(row), chosen_ones)
    return found


class _WithRivals:
    """The filters, asked about nodes with the pods on them that are nominated there, and without these."""

    def __init__(self, filters: DryRunFilters, trial: ColumnTrial, rivals: Rivals, size: int) -> None:
        self._filters = filters
        self._trial = trial
        self._rivals = rivals
        self._contested = np.zeros(size, np.bool_)
        self._contested[rivals.rows] = True

    def verdicts(self, rows: Rows) -> Iterator[tuple[Status, Rows]]:
        """(refusal, positions in `rows`); of the refusals of a node the first one counts."""
        contested = np.flatnonzero(self._contested[rows])
        with_rivals: list[tuple[Status, Rows]] = []
        if len(contested):
            self._move(1)
            with_rivals = [(status, contested[at]) for status, at in self._filters.verdicts(rows[contested])]
            self._move(-1)
        return chain(with_rivals, self._filters.verdicts(rows))

    def misfits(self, rows: Rows) -> Mask:
        """Which of these nodes the filters turn down, with or without the rivals."""
        misfits = self._filters.misfits(rows)
        contested = np.flatnonzero(self._contested[rows])
        if len(contested):
            self._move(1)
            misfits[contested] |= self._filters.misfits(rows[contested])
            self._move(-1)
        return misfits

    def _move(self, sign: int) -> None:
        self._trial.move_all(self._rivals.rows, self._rivals.taken, sign)
