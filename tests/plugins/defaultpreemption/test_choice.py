"""Ranking pods by importance and candidates by what they cost."""

from __future__ import annotations

import pytest

from scheduler.framework.interface import Eviction
from scheduler.plugins.defaultpreemption.choice import best, by_importance, ranked
from tests.builders import info
from tests.plugins.defaultpreemption.attempts import NOW, there


def candidate(node, *victims, violations=0):
    """A candidate by (priority, second of its start) of its victims."""
    pods = [info(there(f"{node}-{i}", node, priority=p, started=s)) for i, (p, s) in enumerate(victims)]
    return Eviction(node, tuple(pods), violations)


def names(evictions):
    return [eviction.node for eviction in evictions]


def ordered(pods, now):
    return [one.pod.name for one in by_importance(ranked([info(pod) for pod in pods], now))]


def test_importance_is_priority_then_age():
    pods = [there("low", "n"), there("new", "n", priority=5, started=9), there("old", "n", priority=5, started=1)]
    assert ordered(pods, NOW) == ["old", "new", "low"]


def test_a_pod_that_has_not_started_counts_as_started_now():
    pods = [there("idle", "n", started=None), there("running", "n", started=50)]
    assert ordered(pods, NOW + 60) == ["running", "idle"]


def test_of_pods_that_have_not_started_the_first_counts_as_the_oldest():
    first, second = ranked([info(there(name, "n", started=None)) for name in ("b", "a")], NOW)
    assert by_importance([second, first]) == [first, second]


def test_of_many_pods_that_cannot_be_told_apart_the_first_need_not_stay_first():
    pods = [there(f"p{i:02}", "n", priority=i % 2) for i in range(14)]
    assert sorted(ordered(pods, NOW)[:7]) == [f"p{i:02}" for i in range(1, 14, 2)]
    assert ordered(pods, NOW) != sorted(ordered(pods, NOW), key=lambda name: (-(int(name[1:]) % 2), name))


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (candidate("a", (900, 0)), candidate("b", (1, 0), violations=1)),
        (candidate("a", (5, 0), (5, 0), (5, 0)), candidate("b", (6, 0))),
        (candidate("a", (5, 0), (1, 0)), candidate("b", (5, 0), (2, 0))),
        (candidate("a", (5, 0)), candidate("b", (5, 0), (-(2**31), 0))),
        (candidate("a", (5, 20)), candidate("b", (5, 10))),
        (candidate("a", (5, 20), (1, 0)), candidate("b", (5, 10), (1, 90))),
        (candidate("a", (5, None)), candidate("b", (5, 10))),
        (candidate("a", (5, 3), (5, 4)), candidate("b", (5, 1), (5, 9))),
        (candidate("a", (1, 0), (9, 0)), candidate("b", (5, 0), (5, 0))),
    ],
    ids=[
        "fewer broken budgets",
        "lower highest priority",
        "smaller sum of priorities",
        "fewer victims",
        "younger",
        "only the most important ones' age counts",
        "not started",
        "the oldest of the most important ones",
        "the first one's priority, in whatever order an extender named them",
    ],
)
def test_a_candidate_is_better_by(better, worse):
    assert names(best([worse, better], NOW + 60)) == ["a"]


def test_more_pods_of_negative_priority_are_not_cheaper():
    assert names(best([candidate("many", (-5, 0), (-5, 0)), candidate("one", (-5, 0))], NOW)) == ["one"]


def test_what_cannot_be_told_apart_ties():
    assert names(best([candidate("a", (5, 1)), candidate("b", (5, 1)), candidate("c", (5, 0))], NOW)) == ["a", "b"]
