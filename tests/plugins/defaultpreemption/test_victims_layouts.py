"""Nodes with pods of several sizes, priorities and ages: who goes, and how many budgets that breaks."""

from __future__ import annotations

import pytest

from scheduler.plugins.defaultpreemption.budgets import Budgets
from scheduler.plugins.defaultpreemption.victims import NO_VICTIMS
from tests.builders import state
from tests.plugins.defaultpreemption.attempts import NO_BUDGETS, budget, rejected, there, wanting
from tests.plugins.defaultpreemption.attempts import small as node
from tests.plugins.defaultpreemption.test_victims import all_at_once, one_by_one, told

LOW, MID, HIGH, TOP = 0, 100, 1000, 10000
WEB = {"matchLabels": {"app": "web"}}


def small(name, priority, **more):
    return there(name, "n", cpu="1", priority=priority, **more)


def medium(name, priority, **more):
    return there(name, "n", cpu="2", priority=priority, **more)


def large(name, priority, **more):
    return there(name, "n", cpu="3", priority=priority, **more)


def web(maker, name, priority):
    return maker(name, priority).label(app="web")


def select(incoming, pods, budgets=NO_BUDGETS):
    """Victims by name, in no order, and broken budgets; or reasons. The node has five CPUs."""
    cluster = state([node("n").capacity(cpu="5", memory="8Gi")], pods)
    attempt = rejected(cluster, incoming)
    answers = [told(way(*attempt, budgets)[0]) for way in (one_by_one, all_at_once)]
    assert answers[0] == answers[1]
    if answers[0] == NO_VICTIMS.reasons:
        return answers[0]
    victims, violations = answers[0]
    return set(victims), violations


@pytest.mark.parametrize(
    ("incoming", "pods", "victims"),
    [
        (wanting("3", HIGH), [large("v", LOW)], {"v"}),
        (wanting("3", HIGH), [small("high", HIGH), small("mid", MID), small("low", LOW)], {"low"}),
        (wanting("3", HIGH), [small("low", LOW), large("mid", MID)], {"mid"}),
        (
            wanting("3", HIGH),
            [small("mid1", MID), small("low", LOW), medium("mid2", MID), small("high", HIGH)],
            {"low", "mid2"},
        ),
        (
            wanting("3", HIGH),
            [
                small("low1", LOW, started=5),
                small("low2", LOW, started=4),
                medium("mid", MID, started=3),
                small("high", HIGH, started=2),
            ],
            {"low1", "mid"},
        ),
    ],
    ids=[
        "the only one",
        "the least of them",
        "one that matters more, for the lesser one is too small",
        "as few as are needed",
        "the younger of two that matter as much",
    ],
)
def test_who_goes(incoming, pods, victims):
    assert select(incoming, pods) == (victims, 0)


@pytest.mark.parametrize(
    ("incoming", "pods"),
    [(wanting("3", MID), [large("v", HIGH)]), (wanting("3", LOW), [large("v", MID)])],
)
def test_pods_that_matter_more_stay(incoming, pods):
    assert select(incoming, pods) == NO_VICTIMS.reasons


@pytest.mark.parametrize(
    ("incoming", "pods", "limits", "expected"),
    [
        (
            wanting("3", HIGH),
            [web(medium, "guarded", LOW), medium("free", MID)],
            budget("b", WEB),
            ({"free"}, 0),
        ),
        (
            wanting("3", HIGH),
            [web(medium, "low", LOW), web(medium, "mid", MID)],
            budget("b", WEB),
            ({"low"}, 1),
        ),
        (wanting("5", HIGH), [web(medium, name, MID) for name in "ab"], budget("b", WEB, 1), ({"a", "b"}, 1)),
        (
            wanting("5", HIGH),
            [web(medium, name, MID) for name in "ab"],
            budget("b", WEB, 1, disrupted=("other",)),
            ({"a", "b"}, 1),
        ),
        (
            wanting("5", HIGH),
            [web(medium, name, MID) for name in "ab"],
            budget("b", WEB, 1, disrupted=("b",)),
            ({"a", "b"}, 0),
        ),
        (
            wanting("5", HIGH),
            [web(small, name, MID) for name in "abc"],
            budget("b", WEB, 1, disrupted=("c",)),
            ({"a", "b", "c"}, 1),
        ),
    ],
    ids=[
        "a pod without a budget before a lesser one with",
        "the lesser one where all have one",
        "one allowed, two go",
        "another pod is being disrupted",
        "one of them is being disrupted",
        "one of three is being disrupted",
    ],
)
def test_budgets(incoming, pods, limits, expected):
    assert select(incoming, pods, Budgets([limits])) == expected


def test_a_node_without_pods_has_no_victims():
    cluster = state([node("n"), node("m").capacity(cpu="1")], [there("v", "n", cpu="2")])
    attempt = rejected(cluster, wanting("2", MID))
    for way in (one_by_one, all_at_once):
        assert told(way(*attempt, NO_BUDGETS)[cluster.nodes.rows["m"]]) == NO_VICTIMS.reasons
