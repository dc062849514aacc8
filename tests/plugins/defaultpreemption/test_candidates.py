"""How many nodes are tried, and what comes of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.config.args.default_preemption import DefaultPreemptionArgs
from scheduler.framework.interface import Eviction
from scheduler.framework.status import Code, error, unschedulable
from scheduler.plugins.defaultpreemption.budgets import Budgets
from scheduler.plugins.defaultpreemption.candidates import DryRun, candidates_wanted
from scheduler.plugins.defaultpreemption.outcomes import Tried
from tests.builders import info, state
from tests.framework.stubs import Filter
from tests.plugins.defaultpreemption.attempts import NO_BUDGETS, NOW, budget, rejected, small, there, wanting


@pytest.mark.parametrize(
    ("nodes", "percentage", "absolute", "wanted"),
    [
        (5000, 10, 100, 500),
        (500, 10, 100, 100),
        (50, 10, 100, 50),
        (999, 1, 0, 9),
        (10, 1, 0, 0),
        (5, 40, 1, 2),
        (5, 40, 2, 2),
    ],
)
def test_enough_is_a_share_of_the_nodes_but_some_at_least(nodes, percentage, absolute, wanted):
    args = DefaultPreemptionArgs(min_candidate_nodes_percentage=percentage, min_candidate_nodes_absolute=absolute)
    assert candidates_wanted(args, nodes) == wanted


def cluster_of(count, label="app"):
    nodes = [small(f"n{i}") for i in range(count)]
    return state(nodes, [there(f"p{i}", f"n{i}", cpu="2").label({label: f"a{i}"}) for i in range(count)])


def dry_run(cluster, rows, wanted, budgets=NO_BUDGETS):
    run = DryRun(*rejected(cluster, wanting()), budgets, NOW)
    run.run(np.array(rows, np.intp), wanted)
    return run


def nodes_of(run):
    return [candidate.node for candidate in run.candidates]


def test_nodes_are_tried_in_turn_until_there_are_enough_candidates():
    run = dry_run(cluster_of(5), [3, 4, 0, 1, 2], 2)
    assert (nodes_of(run), run.helped) == (["n3", "n4"], 2)


def test_the_search_goes_on_until_one_candidate_breaks_no_budget():
    protected = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a0", "a1", "a2"]}]}
    run = dry_run(cluster_of(5), [0, 1, 2, 3, 4], 2, Budgets([budget("b", protected)]))
    assert nodes_of(run) == ["n0", "n1", "n3"]


@pytest.mark.parametrize(("wanted", "kept"), [(0, []), (2, ["n1", "n2"]), (4, ["n1", "n2", "n3", "n0"])])
def test_of_candidates_that_all_break_budgets_as_many_as_are_wanted_are_kept(wanted, kept):
    budgets = Budgets([budget("b", {"matchExpressions": [{"key": "app", "operator": "Exists"}]})])
    assert nodes_of(dry_run(cluster_of(4), [1, 2, 3, 0], wanted, budgets)) == kept


def test_where_none_is_wanted_all_nodes_are_tried_and_none_is_kept():
    run = dry_run(cluster_of(3), [1, 2, 0], 0)
    assert (nodes_of(run), run.tried, run.errors) == ([], {}, [])


@pytest.mark.parametrize(
    ("rows", "kept"),
    [([4, 0, 1, 2, 3], ["n4", "n0"]), ([1, 2, 3, 4, 0], ["n1", "n2"]), ([3, 4, 0, 1, 2], ["n3", "n4"])],
)
def test_where_the_search_begins_decides_who_is_found(rows, kept):
    assert nodes_of(dry_run(cluster_of(5), rows, 2)) == kept


def test_nodes_that_do_not_help_do_not_count():
    nodes = [small(f"n{i}") for i in range(5)]
    pods = [there(f"p{i}", f"n{i}", cpu="2", priority=200 if i in (1, 4) else 0) for i in range(5)]
    assert nodes_of(dry_run(state(nodes, pods), [4, 0, 1, 2, 3], 2)) == ["n0", "n2"]


def test_nodes_that_do_not_help_are_counted_by_reason():
    pods = [there("a", "n0", cpu="2", priority=100), there("b", "n1", cpu="1500m", priority=100), there("c", "n1")]
    cluster = state([small("n0"), small("n1"), small("n2")], [*pods, there("d", "n2", cpu="2")])
    run = dry_run(cluster, [0, 1, 2], 3)
    assert nodes_of(run) == ["n2"]
    assert {status.reasons: count for status, count in run.tried.items()} == {
        ("No preemption victims found for incoming pod",): 1,
        ("Insufficient cpu",): 1,
    }
    assert run.errors == []


def test_a_contested_node_is_tried_with_its_nominated_pods():
    cluster = cluster_of(2)
    cluster.nominations.add(info(wanting().uid("rival").nominated("n0"), cluster), "n0")
    run = dry_run(cluster, [0, 1], 2)
    assert nodes_of(run) == ["n1"]
    assert {status.reasons: count for status, count in run.tried.items()} == {("Insufficient cpu",): 1}


def test_what_goes_wrong_on_a_node_is_kept():
    cluster = cluster_of(1)
    cycle, rejections = rejected(cluster, wanting())
    cycle.filters = [Filter("F", {"n0": error("boom")})]
    run = DryRun(cycle, rejections, NO_BUDGETS, NOW)
    run.run(np.array([0]), 1)
    assert (run.candidates, run.errors) == ([], ['running "F" filter plugin: boom'])


def test_an_error_on_one_node_does_not_spoil_the_others():
    cluster = cluster_of(2)
    cycle, rejections = rejected(cluster, wanting())
    cycle.filters = [*cycle.filters, Filter("F", {"n0": error("boom")})]
    run = DryRun(cycle, rejections, NO_BUDGETS, NOW)
    run.run(np.array([0, 1]), 2)
    assert nodes_of(run) == ["n1"]
    assert run.errors == ['running "F" filter plugin: boom']


BREAKS, WORKS = "breaks", "works"
KINDS = {
    WORKS: lambda place: Eviction(f"n{place}", (), 0),
    BREAKS: lambda place: Eviction(f"n{place}", (), 1),
    "full": lambda _: unschedulable("full"),
    "error": lambda place: error(f"boom {place}"),
}


class Prepared(DryRun):
    """A dry run that has been made before."""

    def __init__(self, outcomes):
        super().__init__(*rejected(cluster_of(1), wanting()), NO_BUDGETS, NOW)
        self.prepared = outcomes

    def _outcomes(self, rows):
        return Tried.of([self.prepared[row] for row in rows])


def one_by_one(kinds, wanted):
    """The nodes of the candidates, how many nodes help and how many do not, when they are looked at in turn."""
    kept, nodes, helped, refused = {WORKS: 0, BREAKS: 0}, [], 0, 0
    for place, kind in enumerate(kinds):
        if kind in kept:
            helped += 1
            if kept[kind] < wanted:
                kept[kind] += 1
                nodes.append(f"n{place}")
        else:
            refused += 1
        if kept[WORKS] and len(nodes) >= wanted:
            break
    return nodes, helped, refused


@given(st.lists(st.sampled_from([WORKS] * 4 + list(KINDS)), max_size=300), st.integers(0, 100))
def test_many_nodes_at_once_come_out_as_one_by_one(kinds, wanted):
    run = Prepared([KINDS[kind](place) for place, kind in enumerate(kinds)])
    run.run(np.arange(len(kinds)), wanted)
    nodes, helped, refused = one_by_one(kinds, wanted)
    assert (nodes_of(run), run.helped, sum(run.tried.values())) == (nodes, helped, refused)
    assert len(run.errors) == sum(number for status, number in run.tried.items() if status.code is Code.ERROR)
