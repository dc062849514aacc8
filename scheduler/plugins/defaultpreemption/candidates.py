"""The nodes on which preemption would help (preemption.go, findCandidates and DryRunPreemption)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from scheduler.framework.status import Code
from scheduler.plugins.defaultpreemption.filters import DryRunFilters
from scheduler.plugins.defaultpreemption.orders import KnownOrders
from scheduler.plugins.defaultpreemption.outcomes import BREAKING, REFUSED, Tried
from scheduler.plugins.defaultpreemption.victims import select_victims

if TYPE_CHECKING:
    from scheduler.config.args.default_preemption import DefaultPreemptionArgs
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.diagnosis import Rejections
    from scheduler.framework.interface import Eviction
    from scheduler.framework.status import Status
    from scheduler.plugins.defaultpreemption.budgets import Budgets

Rows = npt.NDArray[np.intp]

_AT_ONCE: Final = 64
"""At least so many nodes are tried in one go once some have not helped."""


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

    def run(self, rows: Rows, wanted: int) -> None:
        """Try these nodes in turn until there are enough candidates, and one among them that breaks no budget.

        Where 0 are wanted all are tried and none is kept.
        """
        start, step = 0, wanted or len(rows)
        while start < len(rows):
            if self._take(self._outcomes(rows[start : start + step]), wanted):
                return
            start += step
            step = max(2 * (wanted - len(self.candidates)), _AT_ONCE)

    def _outcomes(self, rows: Rows) -> Tried:
        cycle, filters, budgets, now = self._cycle, self._filters, self._budgets, self._now
        if filters.columns_only:
            orders = self._orders.of(cycle, rows, budgets, now)
            return orders.outcomes_of(cycle).of(cycle, filters, rows, orders)
        return Tried.of([select_victims(cycle, filters, row, budgets, now) for row in rows.tolist()])

    def _take(self, tried: Tried, wanted: int) -> bool:
        """Note what came of some nodes, in turn, until there are enough candidates; whether there are."""
        helping = (tried.kinds != REFUSED).nonzero()[0]
        if not wanted or np.count_nonzero(tried.kinds == BREAKING):
            taken, end = self._choose(tried, helping.tolist(), wanted)
        else:  # the first ones are as good as any others
            missing = max(wanted - len(self.candidates), 0 if self._kept[False] else 1)
            taken = helping[:missing].tolist()
            end = taken[-1] + 1 if len(taken) == missing else len(tried.kinds)
            self._kept[False] += len(taken)
        self.candidates += tried.outcomes[taken].tolist()
        self.helped += int(np.count_nonzero(helping < end))
        refusals: list[Status] = tried.outcomes[:end][tried.kinds[:end] == REFUSED].tolist()
        self.tried.update(refusals)
        self.errors += [refusal.message for refusal in refusals if refusal.code is Code.ERROR]
        return self._kept[False] > 0 and len(self.candidates) >= wanted

    def _choose(self, tried: Tried, helping: list[int], wanted: int) -> tuple[list[int], int]:
        """Which of these places become candidates, and how many places are looked at for that."""
        kept, known = self._kept, len(self.candidates)
        taken: list[int] = []
        for place in helping:
            breaking = tried.kinds.item(place) == BREAKING
            if kept[breaking] < wanted:
                kept[breaking] += 1
                taken.append(place)
            if kept[False] and known + len(taken) >= wanted:
                return taken, place + 1
        return taken, len(tried.kinds)
