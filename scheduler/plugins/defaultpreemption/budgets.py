"""Which victims break a PodDisruptionBudget (FilterVictimsWithPDBViolation in pkg/scheduler/framework/preemption)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from scheduler.api.selectors import Selector, SelectorError, compile_label_selector

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scheduler.api.objects import PodDisruptionBudget
    from scheduler.cache.objects import ObjectStore
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.shapes import LabelClass

KIND: Final = "PodDisruptionBudget"


class Budget(msgspec.Struct, frozen=True):
    """A budget with its selector compiled; pods named in `disrupted` are being evicted and counted already."""

    namespace: str
    selector: Selector
    allowed: int
    disrupted: frozenset[str]


class Budgets:
    """All budgets, as of one moment."""

    def __init__(self, budgets: Iterable[PodDisruptionBudget]) -> None:
        self._budgets = [budget for budget in map(_compiled, budgets) if budget is not None]
        self._matching: dict[LabelClass, tuple[int, ...]] = {}

    def __bool__(self) -> bool:
        return bool(self._budgets)

    def violating(self, victims: Sequence[PodInfo]) -> list[bool]:
        """For each of a node's victims whether its eviction breaks a budget, if they go in this order.

        Budgets are charged as they come; the first that is exhausted ends the charging for that pod.
        """
        if not self._budgets:
            return [False] * len(victims)
        left = [budget.allowed for budget in self._budgets]
        return [self._charge(pod, left) for pod in victims]

    def _charge(self, pod: PodInfo, left: list[int]) -> bool:
        for index in self._of(pod.shape.label_class):
            if pod.name in self._budgets[index].disrupted:
                continue
            left[index] -= 1
            if left[index] < 0:
                return True
        return False

    def _of(self, label_class: LabelClass) -> tuple[int, ...]:
        found = self._matching.get(label_class)
        if found is None:
            found = self._matching[label_class] = tuple(
                index
                for index, budget in enumerate(self._budgets)
                if label_class.labels
                and budget.namespace == label_class.namespace
                and budget.selector.matches(label_class.labels)
            )
        return found


class BudgetSource:
    """The budgets of the cluster, compiled again when any of them has changed."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._version = -1
        self._budgets = Budgets(())

    def current(self) -> Budgets:
        """The budgets as they are now."""
        version = self._objects.version(KIND)
        if version != self._version:
            self._budgets = Budgets(self._objects.all(KIND))
            self._version = version
        return self._budgets


def _compiled(budget: PodDisruptionBudget) -> Budget | None:
    """A budget, or None if its selector is missing, empty or does not parse: then it is about no pod."""
    try:
        selector = compile_label_selector(budget.spec.selector)
    except SelectorError:
        return None
    if selector.empty or selector.nothing:
        return None
    status = budget.status
    return Budget(budget.metadata.namespace, selector, status.disruptions_allowed, frozenset(status.disrupted_pods))
