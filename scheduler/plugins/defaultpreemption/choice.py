"""Which of the candidates it is: the one whose eviction hurts least (preemption.go, pickOneNodeForPreemption)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from scheduler.framework.sort_slice import sort_slice

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scheduler.cache.pods import PodInfo
    from scheduler.framework.interface import Eviction

_OFFSET: Final = 2**31
"""Added to each priority in sums, so that more pods never sum up to less."""


class Ranked(NamedTuple):
    """A pod with its importance: the smaller the rank, the more it matters."""

    rank: tuple[int, float, int]
    pod: PodInfo


def ranked(pods: Iterable[PodInfo], now: float) -> list[Ranked]:
    """By priority, then by how long the pod has been running (MoreImportantVictim).

    Of those that have not started the first one counts as the oldest: kube-scheduler looks at the clock for each.
    """
    return [
        Ranked((-pod.priority, _started(pod, now), place if pod.start_time is None else 0), pod)
        for place, pod in enumerate(pods)
    ]


def by_importance(pods: Sequence[Ranked]) -> list[Ranked]:
    """The most important pod first."""
    return sort_slice(pods, key=lambda one: one.rank)


class Cost(NamedTuple):
    """What a candidate costs; of two the one is better in whose favour the first field is in which they differ.

    Budgets broken; the priority of the first victim (the highest, unless an extender named them); the sum of
    priorities, each counted from the lowest there can be; the number of victims; minus when the oldest of the most
    important ones began to run, in seconds since the epoch.
    """

    violations: int
    highest: int
    total: int
    victims: int
    age: float


def best(candidates: Sequence[Eviction], now: float) -> list[Eviction]:
    """The candidates that no other one beats, of which any may be taken."""
    standings = [(_standing(candidate), candidate) for candidate in candidates]
    least = min([standing.price for standing, _ in standings])
    cheapest = {standing for standing, _ in standings if standing.price == least}  # most are alike
    ages = {standing: _age(standing, now) for standing in cheapest}
    youngest = min(ages.values())
    return [candidate for standing, candidate in standings if ages.get(standing) == youngest]


def cost_of(candidate: Eviction, now: float) -> Cost:
    """What a candidate costs."""
    standing = _standing(candidate)
    return Cost(*standing.price, _age(standing, now))


class _Standing(NamedTuple):
    """What does not depend on the time: all of `Cost` but the age, when the oldest of the most important ones started
    (infinite if none of them has), and whether any of these has not."""

    price: tuple[int, int, int, int]
    oldest: float
    idle: bool


@lru_cache(maxsize=8192)
def _standing(candidate: Eviction) -> _Standing:
    """The next attempts ask the same again."""
    victims = candidate.victims
    highest = max(pod.priority for pod in victims)
    starts = [pod.start_time for pod in victims if pod.priority == highest]
    oldest = min((start for start in starts if start is not None), default=math.inf)
    total = sum(pod.priority + _OFFSET for pod in victims)
    return _Standing((candidate.violations, victims[0].priority, total, len(victims)), oldest, None in starts)


def _age(standing: _Standing, now: float) -> float:
    return -min(standing.oldest, now) if standing.idle else -standing.oldest


def _started(pod: PodInfo, now: float) -> float:
    """A pod that has not started counts as started now (GetPodStartTime in pkg/scheduler/util/utils.go)."""
    return now if pod.start_time is None else pod.start_time
