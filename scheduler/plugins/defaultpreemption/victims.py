"""The victims on one node: all pods that matter less go, and come back one by one as long as the pod still fits.

Source: pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go, SelectVictimsOnNode.
"""

from __future__ import annotations

from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Final

from scheduler.framework.filtering import nominated_rivals, try_row
from scheduler.framework.interface import Eviction
from scheduler.framework.status import Status, error, unresolvable
from scheduler.plugins.defaultpreemption import messages
from scheduler.plugins.defaultpreemption.choice import by_importance, ranked
from scheduler.plugins.defaultpreemption.eligibility import possible_victims

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.cache.pods import PodInfo
    from scheduler.framework.cycle import Cycle
    from scheduler.plugins.defaultpreemption.budgets import Budgets
    from scheduler.plugins.defaultpreemption.filters import DryRunFilters

NO_VICTIMS: Final = unresolvable(messages.NO_VICTIMS)


class Order:
    """A node's possible victims in the order in which they are put back, those that break budgets first.

    `violating` is how many of `pods` are of that kind.
    """

    __slots__ = ("_evictions", "_ranked", "pods", "violating")

    def __init__(self, possible: Sequence[PodInfo], budgets: Budgets, now: float) -> None:
        pods = by_importance(ranked(possible, now))
        self.violating = 0
        if budgets:
            breaks = budgets.violating([one.pod for one in pods])
            self.violating = sum(breaks)
            if self.violating:
                pods = [
                    *(one for one, breaking in zip(pods, breaks, strict=True) if breaking),
                    *(one for one, breaking in zip(pods, breaks, strict=True) if not breaking),
                ]
        self._ranked = pods
        self._evictions: dict[tuple[bool, ...], Eviction | Status] = {}
        self.pods = [one.pod for one in pods]

    def eviction(self, node: str, victims: Sequence[bool]) -> Eviction | Status:
        """What comes of it if those pods could not be put back of which this is true, place by place."""
        places = tuple(victims)
        known = self._evictions.get(places)
        if known is None:
            known = self._evictions[places] = self._eviction(node, places)
        return known

    def _eviction(self, node: str, victims: Sequence[bool]) -> Eviction | Status:
        pods = list(compress(self._ranked, victims))
        if not pods:
            return error(messages.no_victim_needed(node))
        if 0 < self.violating < len(self.pods):
            pods = by_importance(pods)
        return Eviction(node, tuple(one.pod for one in pods), sum(victims[: self.violating]))


def select_victims(cycle: Cycle, filters: DryRunFilters, row: int, budgets: Budgets, now: float) -> Eviction | Status:
    """Whom to evict from a node, or why that does not help. The state is as before afterwards."""
    possible = possible_victims(cycle, row)
    if not possible:
        return NO_VICTIMS
    node = cycle.state.nodes.name(row)
    rivals = nominated_rivals(cycle, node)
    verdict = partial(filters.verdict, row)
    with cycle.state.what_if() as trial:
        for pod in possible:
            trial.remove(pod)
        status = try_row(cycle, trial, rivals, row, verdict)
        if status is not None:
            return status
        order = Order(possible, budgets, now)
        victims = []
        for pod in order.pods:
            trial.restore(pod)
            victims.append(try_row(cycle, trial, rivals, row, verdict) is not None)
            if victims[-1]:
                trial.remove(pod)
    return order.eviction(node, victims)
