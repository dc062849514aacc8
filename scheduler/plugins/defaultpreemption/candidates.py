"""The nodes on which preemption would help (preemption.go, findCandidates and DryRunPreemption)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scheduler.framework.filtering import nominated_rivals
from scheduler.framework.interface import Eviction
from scheduler.framework.status import Code, Status
from scheduler.plugins.defaultpreemption.columns import select_victims_by_columns
from scheduler.plugins.defaultpreemption.filters import DryRunFilters
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

    `candidates` are the nodes where they help; `tried` counts the others by why they do not, and `errors` are what went
    wrong.
    """

    def __init__(self, cycle: Cycle, rejections: Rejections, budgets: Budgets, now: float) -> None:
        self._cycle = cycle
        self._filters = DryRunFilters(cycle, rejections)
        self._budgets = budgets
        self._now = now
        self._harmless = 0
        self.candidates: list[Eviction] = []
        self.tried: Counter[Status] = Counter()
        self.errors: list[str] = []

    def run(self, rows: Sequence[int], wanted: int) -> None:
        """Try these nodes in turn until there are enough candidates, and one among them that breaks no budget."""
        step = max(wanted, 1)
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            outcomes = self._outcomes(part)
            for row in part:
                self._note(outcomes[row])
                if self._harmless and len(self.candidates) >= wanted:
                    return

    def _outcomes(self, rows: Sequence[int]) -> dict[int, Eviction | Status]:
        cycle, nominations = self._cycle, self._cycle.state.nominations
        if not self._filters.columns_only:
            alone, together = rows, []
        elif len(nominations):
            name = cycle.state.nodes.name
            contested = {row for row in rows if nominated_rivals(cycle, name(row))}
            alone, together = [row for row in rows if row in contested], [row for row in rows if row not in contested]
        else:
            alone, together = [], list(rows)
        found = select_victims_by_columns(cycle, self._filters, together, self._budgets, self._now)
        for row in alone:
            found[row] = select_victims(cycle, self._filters, row, self._budgets, self._now)
        return found

    def _note(self, outcome: Eviction | Status) -> None:
        if isinstance(outcome, Eviction):
            self.candidates.append(outcome)
            self._harmless += not outcome.violations
            return
        self.tried[outcome] += 1
        if outcome.code is Code.ERROR:
            self.errors.append(outcome.message)
