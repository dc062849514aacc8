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

_STANDING: Final = "standing"
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
    standings: list[_Standing] = [candidate.memo.get(_STANDING) or _standing(candidate) for candidate in candidates]
    distinct = dict(zip(map(id, standings), standings, strict=True))
    if len(distinct) == 1:  # as most often
        return list(candidates)
    least = min(standing.price for standing in distinct.values())
    ages = {one: _age(standing, now) for one, standing in distinct.items() if standing.price == least}
    youngest = min(ages.values())
    return [
        candidate
        for candidate, standing in zip(candidates, standings, strict=True)
        if ages.get(id(standing)) == youngest
    ]


def cost_of(candidate: Eviction, now: float) -> Cost:
    """What a candidate costs."""
    standing: _Standing = candidate.memo.get(_STANDING) or _standing(candidate)
    return Cost(*standing.price, _age(standing, now))


class _Standing(NamedTuple):
    """What does not depend on the time: all of `Cost` but the age, when the oldest of the most important ones started
    (infinite if none of them has), and whether any of these has not."""

    price: tuple[int, int, int, int]
    oldest: float
    idle: bool


def _standing(candidate: Eviction) -> _Standing:
    """Found once for each candidate."""
    victims = candidate.victims
    highest = max(pod.priority for pod in victims)
    starts = [pod.start_time for pod in victims if pod.priority == highest]
    oldest = min((start for start in starts if start is not None), default=math.inf)
    total = sum(pod.priority + _OFFSET for pod in victims)
    standing = _Standing((candidate.violations, victims[0].priority, total, len(victims)), oldest, None in starts)
    candidate.memo[_STANDING] = standing = _one_of(standing)
    return standing


@lru_cache(maxsize=1024)
def _one_of(standing: _Standing) -> _Standing:
    """The same object for all that are equal, which are told apart more quickly then."""
    return standing


def _age(standing: _Standing, now: float) -> float:
    return -min(standing.oldest, now) if standing.idle else -standing.oldest


def _started(pod: PodInfo, now: float) -> float:
    """A pod that has not started counts as started now (GetPodStartTime in pkg/scheduler/util/utils.go)."""
    return now if pod.start_time is None else pod.start_time
