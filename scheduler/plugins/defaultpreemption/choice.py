"""Which of the candidates it is: the one whose eviction hurts least (preemption.go, pickOneNodeForPreemption)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.cache.pods import PodInfo
    from scheduler.framework.interface import Eviction

_OFFSET: Final = 2**31
"""Added to each priority in sums, so that more pods never sum up to less."""


def by_importance(pods: Sequence[PodInfo], now: float) -> list[PodInfo]:
    """The most important pod first: by priority, then by how long it has been running (MoreImportantVictim)."""
    return sorted(pods, key=lambda pod: (-pod.priority, _started(pod, now)))


def best(candidates: Sequence[Eviction], now: float) -> list[Eviction]:
    """The candidates that no other one beats, of which any may be taken."""
    costs = [_cost(candidate, now) for candidate in candidates]
    least = min(costs)
    return [candidate for candidate, cost in zip(candidates, costs, strict=True) if cost == least]


def _cost(candidate: Eviction, now: float) -> tuple[int, int, int, int, float]:
    """Budgets broken, the priority of the first victim (the highest, unless an extender named them), the sum of
    priorities, the number of victims, and at last how long the oldest of the most important ones has been running."""
    victims = candidate.victims
    highest = max(pod.priority for pod in victims)
    oldest = min(_started(pod, now) for pod in victims if pod.priority == highest)
    total = sum(pod.priority + _OFFSET for pod in victims)
    return candidate.violations, victims[0].priority, total, len(victims), -oldest


def _started(pod: PodInfo, now: float) -> float:
    """A pod that has not started counts as started now (GetPodStartTime in pkg/scheduler/util/utils.go)."""
    return now if pod.start_time is None else pod.start_time
