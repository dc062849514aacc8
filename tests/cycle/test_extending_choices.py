"""Which node a pod gets with one extender or several, and how many nodes were looked at."""

from __future__ import annotations

import pytest

from scheduler.client.extender.interface import ExtenderError, HostScore
from scheduler.cycle.algorithm import FitError
from scheduler.framework.status import PluginError
from tests.cycle.test_algorithm import Bench
from tests.framework.stubs import Filter, Score, StubExtender, passing

BROKEN = ExtenderError("broken")


def only(*nodes):
    """A filter that lets these nodes pass, of those it is asked about."""
    return lambda names: passing(*(name for name in names if name in nodes))


ALL, NONE, FIRST, SECOND = only("a", "b"), only(), only("a"), only("b")
EQUAL, PREFERS_B = Score("S", {"a": 1, "b": 1}), Score("S", {"a": 10, "b": 100})


def decided(*extenders, plugins=(), nodes="ab", weights=None):
    """The nodes that tie for the best, how many were looked at, and how many passed."""
    bench = Bench(Filter("A"), *plugins, extenders=extenders, nodes=nodes, weights=weights)
    decision = bench.decide()
    return bench.names(decision.best), decision.evaluated, len(decision.feasible)


def test_one_that_fails_fails_the_attempt():
    with pytest.raises(PluginError, match=r"^broken$"):
        decided(StubExtender(filter=ALL), StubExtender(filter=BROKEN))


@pytest.mark.parametrize("filters", [(ALL, NONE), (SECOND, FIRST)], ids=["none left", "none in common"])
def test_no_node_that_all_agree_on_is_a_misfit(filters):
    with pytest.raises(FitError):
        decided(*(StubExtender(filter=each) for each in filters))


@pytest.mark.parametrize("plugins", [(EQUAL,), ()], ids=["plugins that score", "none"])
def test_the_node_that_all_agree_on_is_taken(plugins):
    assert decided(StubExtender(filter=ALL), StubExtender(filter=FIRST), plugins=plugins) == (["a"], 2, 1)


@pytest.mark.parametrize("nodes", ["a", "ab"])
def test_one_that_fails_to_score_changes_nothing(nodes):
    answer = decided(StubExtender(filter=ALL, prioritize=BROKEN), nodes=nodes, plugins=(EQUAL,))
    assert answer == ([*nodes], len(nodes), len(nodes))


def test_the_weightier_opinion_wins():
    extenders = (
        StubExtender(filter=ALL, prioritize=[HostScore("a", 10), HostScore("b", 1)], weight=1),
        StubExtender(filter=ALL, prioritize=[HostScore("a", 1), HostScore("b", 10)], weight=5),
    )
    assert decided(*extenders) == (["b"], 2, 2)


def test_a_plugin_of_more_weight_wins():
    one = StubExtender(filter=ALL, prioritize=[HostScore("a", 10), HostScore("b", 1)], weight=1)
    assert decided(one, plugins=(PREFERS_B,), weights={"S": 20}) == (["b"], 2, 2)


def test_one_without_interest_is_not_asked_and_can_not_fail():
    bored = StubExtender(interested=False, filter=BROKEN, prioritize=BROKEN)
    assert decided(bored, plugins=(PREFERS_B,)) == (["b"], 2, 2)


def test_one_that_may_fail_is_passed_over():
    ignorable = StubExtender(filter=BROKEN, ignorable=True)
    assert decided(ignorable, StubExtender(filter=FIRST), plugins=(EQUAL,)) == (["a"], 2, 1)


def test_where_nobody_filters_or_scores_the_first_node_that_fits_will_do():
    assert decided(StubExtender(bind=None)) == (["a"], 1, 1)
