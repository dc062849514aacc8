"""The same for many nodes at once, where it is a matter of amounts only (see `victims`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scheduler.plugins.defaultpreemption.eligibility import possible_victims
from scheduler.plugins.defaultpreemption.victims import NO_VICTIMS, Order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.cache.shapes import Usage
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import Eviction
    from scheduler.framework.status import Status
    from scheduler.plugins.defaultpreemption.budgets import Budgets
    from scheduler.plugins.defaultpreemption.filters import DryRunFilters

Rows = npt.NDArray[np.intp]

_NOBODY = -1


def select_victims_by_columns(
    cycle: Cycle, filters: DryRunFilters, rows: Sequence[int], budgets: Budgets, now: float
) -> dict[int, Eviction | Status]:
    """By row, whom to evict or why that does not help; the rows' k-th pods are all put back in one go.

    Nobody must be nominated to these nodes who matters as much as the pod.
    """
    found: dict[int, Eviction | Status] = {}
    orders: dict[int, Order] = {}
    for row in rows:
        possible = possible_victims(cycle, row)
        if possible:
            orders[row] = Order(possible, budgets, now)
        else:
            found[row] = NO_VICTIMS
    if not orders:
        return found
    indices = np.fromiter(orders, np.intp, len(orders))
    usages, taken = _usages(list(orders.values()))
    with cycle.state.what_if_columns(indices, usages) as trial:
        present = taken != _NOBODY
        for place in range(taken.shape[1]):
            some = np.flatnonzero(present[:, place])
            trial.move(indices[some], taken[some, place], -1)
        fits = np.ones(len(indices), np.bool_)
        for status, positions in filters.verdicts(indices):
            fits[positions] = False
            found.update(dict.fromkeys(indices[positions].tolist(), status))
        victims = present & fits[:, None]
        for place in range(taken.shape[1]):
            some = np.flatnonzero(victims[:, place])
            if not len(some):
                continue
            trial.move(indices[some], taken[some, place], 1)
            misfits = filters.misfits(indices[some])
            victims[some[~misfits], place] = False
            gone = some[misfits]
            trial.move(indices[gone], taken[gone, place], -1)
    name = cycle.state.nodes.name
    for position in np.flatnonzero(fits).tolist():
        row = int(indices[position])
        found[row] = orders[row].eviction(name(row), np.flatnonzero(victims[position]).tolist())
    return found


def _usages(orders: Sequence[Order]) -> tuple[list[Usage], npt.NDArray[np.intp]]:
    """The distinct usages, and which of them the pod at each place of each node has (-1 for no pod there)."""
    places: dict[int, int] = {}
    usages: list[Usage] = []
    taken = np.full((len(orders), max(len(order.pods) for order in orders)), _NOBODY, np.intp)
    for position, order in enumerate(orders):
        line = []
        for pod in order.pods:
            usage = pod.usage
            place = places.get(id(usage))
            if place is None:
                place = places[id(usage)] = len(usages)
                usages.append(usage)
            line.append(place)
        taken[position, : len(line)] = line
    return usages, taken
