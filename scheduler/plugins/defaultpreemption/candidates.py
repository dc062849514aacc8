"""The nodes on which preemption would help (preemption.go, findCandidates and DryRunPreemption)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from scheduler.framework.interface import Eviction
from scheduler.framework.status import Code, Status
from scheduler.plugins.defaultpreemption.filters import DryRunFilters
from scheduler.plugins.defaultpreemption.orders import KnownOrders
from scheduler.plugins.defaultpreemption.victims import select_victims

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.config.args.default_preemption import DefaultPreemptionArgs
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.diagnosis import Rejections
    from scheduler.plugins.defaultpreemption.budgets import Budgets


def candidates_wanted(args: DefaultPreemptionArgs, nodes: int) -> int:
    """How many candidates are enough, of that many nodes that might help (calculateNumCandidates)."""
    share = nodes * args.min_candidate_nodes_percentage // 100
    return min(max(share, args.min_candidate_nodes_absolute), nodes)


class DryRun:
    """Evictions tried node by node.

    `candidates` are the nodes where they help, as many as are wanted of those that break a budget and as many of those
    that break none; `tried` counts the nodes where they do not help by why, `helped` those where they do, and `errors`
    are what went wrong.
    """

    def __init__(
        self, cycle: Cycle, rejections: Rejections, budgets: Budgets, now: float, orders: KnownOrders | None = None
    ) -> None:
        self._cycle = cycle
        self._filters = DryRunFilters(cycle, rejections)
        self._budgets = budgets
        self._now = now
        self._orders = orders if orders is not None and orders.state is cycle.state else KnownOrders(cycle.state)
        self._kept = [0, 0]
        """Candidates by whether they break a budget."""
        self.candidates: list[Eviction] = []
        self.helped = 0
        self.tried: Counter[Status] = Counter()
        self.errors: list[str] = []

    def run(self, rows: Sequence[int], wanted: int) -> None:
        """Try these nodes in turn until there are enough candidates, and one among them that breaks no budget.

        Where 0 are wanted all are tried and none is kept.
        """
        step = wanted or max(len(rows), 1)
        for start in range(0, len(rows), step):
            if self._take(self._outcomes(rows[start : start + step]), wanted):
                return

    def _outcomes(self, rows: Sequence[int]) -> Sequence[Eviction | Status]:
        cycle, filters, budgets, now = self._cycle, self._filters, self._budgets, self._now
        if filters.columns_only:
            indices = np.array(rows, np.intp)
            orders = self._orders.of(cycle, indices, budgets, now)
            return orders.outcomes_of(cycle).of(cycle, filters, indices, orders)
        return [select_victims(cycle, filters, row, budgets, now) for row in rows]

    def _take(self, outcomes: Sequence[Eviction | Status], wanted: int) -> bool:
        """Note what came of some nodes, in turn, until there are enough candidates; whether there are."""
        kept, candidates = self._kept, self.candidates
        for outcome in outcomes:
            if isinstance(outcome, Eviction):
                self.helped += 1
                breaking = outcome.violations > 0
                if kept[breaking] < wanted:
                    kept[breaking] += 1
                    candidates.append(outcome)
            else:
                self.tried[outcome] += 1
                if outcome.code is Code.ERROR:
                    self.errors.append(outcome.message)
            if kept[False] and len(candidates) >= wanted:
                return True
        return False
