"""Each node's possible victims in their order, kept until something about them changes."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from scheduler.plugins.defaultpreemption.columns import NOBODY
from scheduler.plugins.defaultpreemption.outcomes import Outcomes, key_of
from scheduler.plugins.defaultpreemption.victims import Order

if TYPE_CHECKING:
    from collections.abc import Hashable

    from scheduler.cache.pods import PodInfo
    from scheduler.cache.shapes import Usage
    from scheduler.cache.state import ClusterState
    from scheduler.framework.cycle import Cycle
    from scheduler.plugins.defaultpreemption.budgets import Budgets

Rows = npt.NDArray[np.intp]

_PRIORITIES: Final = 8
"""Priorities of preemptors for which orders are kept."""
_SHAPES: Final = 8
"""Shapes of preemptors of one priority for which outcomes are kept; some 0.4 MB each at 5,000 nodes."""
_MOST_USAGES: Final = 1024


class Orders:
    """The orders for preemptors of one priority, where they are up to date.

    `by_row` has None for nodes without a possible victim; `taken` is intp[rows, places]: the index in `usages` of what
    the pod at each place takes, NOBODY beyond the last one. `made` says which order of a row it is: the number goes up
    with each. `outcomes` are those of the dry runs by these orders.
    """

    def __init__(self, size: int) -> None:
        self.by_row: list[Order | None] = [None] * size
        self.taken: Rows = np.full((size, 1), NOBODY, np.intp)
        self.stale: npt.NDArray[np.bool_] = np.ones(size, np.bool_)
        self.made: npt.NDArray[np.int64] = np.zeros(size, np.int64)
        self.usages: list[Usage] = []
        self.outcomes: OrderedDict[Hashable, Outcomes] = OrderedDict()
        self._places: dict[int, int] = {}

    def set(self, row: int, order: Order | None) -> None:
        """Store a row's order."""
        self.made[row] += 1
        self.by_row[row] = order
        self.taken[row] = NOBODY
        if order is None:
            return
        line = [self._place(pod.usage) for pod in order.pods]
        missing = len(line) - self.taken.shape[1]
        if missing > 0:
            more = np.full((len(self.taken), missing), NOBODY, np.intp)
            self.taken = np.concatenate([self.taken, more], axis=1)
        self.taken[row, : len(line)] = line

    def outcomes_of(self, cycle: Cycle) -> Outcomes:
        """What is known of dry runs for pods like this one."""
        key = key_of(cycle)
        known = self.outcomes.get(key)
        if known is None:
            known = self.outcomes[key] = Outcomes(cycle.state.nodes)
            if len(self.outcomes) > _SHAPES:
                self.outcomes.popitem(last=False)
        else:
            self.outcomes.move_to_end(key)
        return known

    def _place(self, usage: Usage) -> int:
        place = self._places.get(id(usage))
        if place is None:
            place = self._places[id(usage)] = len(self.usages)
            self.usages.append(usage)
        return place


class KnownOrders:
    """The orders of the nodes of one cluster, made when they are asked for.

    One attempt tries a tenth of the nodes or more, and few of them have changed since the attempt before.
    """

    def __init__(self, state: ClusterState) -> None:
        self.state = state
        self._touched = state.pods.follow()
        self._nodes_version = -1
        self._budgets: Budgets | None = None
        self._by_priority: OrderedDict[int, Orders] = OrderedDict()

    def of(self, cycle: Cycle, rows: Rows, budgets: Budgets, now: float) -> Orders:
        """The orders, up to date in these rows. `now` must not go back."""
        self._catch_up(budgets)
        priority = cycle.pod.priority
        orders = self._by_priority.get(priority)
        if orders is None or len(orders.usages) > _MOST_USAGES:
            orders = self._by_priority[priority] = Orders(self.state.nodes.size)
            if len(self._by_priority) > _PRIORITIES:
                self._by_priority.popitem(last=False)
        else:
            self._by_priority.move_to_end(priority)
        for row in rows[orders.stale[rows]].tolist():
            possible = self._possible(row, priority)
            orders.set(row, Order(possible, budgets, now) if possible else None)
            # Pods without a start count as started now, so that their place among the others may depend on the time.
            orders.stale[row] = any(pod.start_time is not None and pod.start_time >= now for pod in possible)
        return orders

    def _possible(self, row: int, priority: int) -> list[PodInfo]:
        state = self.state
        return [pod for pod in state.pods.on_node(state.nodes.name(row)) if pod.priority < priority]

    def _catch_up(self, budgets: Budgets) -> None:
        nodes = self.state.nodes
        if nodes.version != self._nodes_version or budgets is not self._budgets:
            self._by_priority.clear()
            self._nodes_version, self._budgets = nodes.version, budgets
        elif self._touched and self._by_priority:
            rows = [nodes.rows[name] for name in self._touched if name in nodes.rows]
            for orders in self._by_priority.values():
                orders.stale[rows] = True
        self._touched.clear()
