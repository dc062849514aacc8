"""Which victims break a PodDisruptionBudget."""

from __future__ import annotations

import pytest

from scheduler.cache.objects import ObjectStore
from scheduler.plugins.defaultpreemption.budgets import KIND, Budgets, BudgetSource
from tests.builders import info, pod
from tests.plugins.defaultpreemption.attempts import budget

WEB = {"matchLabels": {"app": "web"}}


def victims(*pods):
    return [info(made) for made in pods]


def web(name):
    return pod(name).label(app="web")


def violating(budgets, *pods):
    return Budgets(budgets).violating(victims(*pods))


def test_a_budget_is_charged_in_order_until_it_is_exhausted():
    assert violating([budget("b", WEB, 2)], web("a"), web("b"), web("c"), web("d")) == [False, False, True, True]


@pytest.mark.parametrize(
    ("limits", "victim"),
    [
        (budget("b", WEB), pod("p").label(app="db")),
        (budget("b", WEB, namespace="other"), web("p")),
        (budget("b", {}), web("p")),
        (budget("b", {}), pod("p")),
        (budget("b", None), web("p")),
        (budget("b", {"matchExpressions": [{"key": "app", "operator": "Odd", "values": []}]}), web("p")),
        (budget("b", {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}), pod("p")),
        (budget("b", WEB, disrupted=("p",)), web("p")),
    ],
    ids=[
        "other labels",
        "other namespace",
        "empty selector",
        "empty selector, no labels",
        "no selector",
        "selector that does not parse",
        "pod without labels",
        "being disrupted already",
    ],
)
def test_a_budget_does_not_protect(limits, victim):
    assert violating([limits], victim) == [False]


def test_the_first_exhausted_budget_ends_the_charging_of_a_pod():
    budgets = [budget("none", {"matchLabels": {"tier": "a"}}), budget("one", WEB, 1)]
    both, only_web = web("both").label(tier="a"), web("only-web")
    assert violating(budgets, both, only_web, web("late")) == [True, False, True]


def test_each_call_begins_with_full_budgets():
    budgets = Budgets([budget("b", WEB, 1)])
    assert budgets.violating(victims(web("a"))) == budgets.violating(victims(web("b"))) == [False]


def test_budgets_about_nothing_are_no_budgets():
    assert not Budgets([budget("b", {})])
    assert Budgets([budget("b", WEB)])


def test_a_changed_budget_is_heeded():
    objects = ObjectStore()
    source = BudgetSource(objects)
    assert source.current().violating(victims(web("a"))) == [False]
    objects.set(KIND, budget("b", WEB, 0))
    assert source.current().violating(victims(web("a"))) == [True]
    objects.set(KIND, budget("b", WEB, 1))
    assert source.current().violating(victims(web("a"))) == [False]
