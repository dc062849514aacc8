"""Who has the highest score, kept from one pod to the next."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.cache.changes import Change
from scheduler.cache.nodes import NodeView
from scheduler.framework.cycle import Cycle
from scheduler.framework.filtering import Selection
from scheduler.framework.interface import ScorePlugin
from scheduler.framework.shape_cache import ShapeCache
from scheduler.framework.standing import Leaders
from tests.builders import info, node, pod, state


class Told(ScorePlugin):
    """A score for each node as a test says; a pod that comes to a node makes it known."""

    name = "Told"
    depends = Change.PODS
    bounded = True

    def __init__(self, scores):
        self.scores = np.array(scores, np.int64)

    def score(self, cycle, nodes):
        return self.scores[nodes.rows].copy()

    def score_at(self, cycle, row):
        return self.scores.item(row)


class Fixture:
    def __init__(self, scores, feasible=None):
        self.cluster = state([node(f"n{row}") for row in range(len(scores))])
        self.plugin = Told(scores)
        self.cache = ShapeCache()
        self.pairs = [(self.plugin, 1)]
        self.cache.static_total(self.pairs, self.cycle())
        self.leaders = Leaders(self.cache.sum_of(self.pairs, [self.cache.score_cache(self.plugin.name)]))
        self.choose(range(len(scores)) if feasible is None else feasible)

    def choose(self, feasible):
        self.selection = Selection([], np.array(sorted(feasible), np.intp), [])

    def change(self, *scores):
        """Give nodes another score, one after the other, and nobody asks meanwhile."""
        for row, score in scores:
            self.plugin.scores[row] = score
            self.cluster.nodes.log.append(row, int(Change.PODS))

    def cycle(self):
        return Cycle(info(pod("p"), self.cluster), self.cluster, "p")

    def standing(self, added=0):
        static = self.cache.static_total(self.pairs, self.cycle())
        view = NodeView(self.cluster.nodes, self.selection.feasible)
        return self.leaders.standing(self.selection, static, added, view)

    def best(self):
        return self.standing().best().tolist()


def test_those_with_the_highest_score_lead_in_the_order_of_rows():
    assert Fixture([1, 5, 3, 5]).best() == [1, 3]


@pytest.mark.parametrize(
    ("change", "best"),
    [
        ((1, 4), [3]),
        ((1, 6), [1]),
        ((2, 5), [1, 2, 3]),
        ((2, 6), [2]),
        ((2, 4), [1, 3]),
        ((0, 1), [1, 3]),
    ],
)
def test_one_node_with_another_score_takes_its_place(change, best):
    fixture = Fixture([1, 5, 3, 5])
    fixture.best()
    fixture.change(change)
    assert fixture.best() == best


def test_when_the_last_leader_falls_back_the_next_best_lead():
    fixture = Fixture([1, 5, 3, 3])
    fixture.best()
    fixture.change((1, 2))
    assert fixture.best() == [2, 3]


def test_a_node_that_does_not_fit_never_leads():
    fixture = Fixture([1, 5, 3, 5], feasible=[0, 1])
    fixture.best()
    fixture.change((3, 9))
    assert fixture.best() == [1]
    fixture.change((2, 5))
    assert fixture.best() == [1]


def test_other_nodes_that_fit_are_looked_at_anew():
    fixture = Fixture([1, 5, 3, 5])
    fixture.best()
    fixture.choose([0, 2])
    assert fixture.best() == [2]


def test_totals_have_what_all_nodes_get_besides():
    fixture = Fixture([1, 5, 3, 5], feasible=[1, 2])
    assert fixture.standing(added=10).totals().tolist() == [15, 13]


def test_the_standing_of_an_earlier_decision_can_not_be_asked_for_any_more():
    fixture = Fixture([1, 5, 3, 5])
    earlier = fixture.standing()
    fixture.change((2, 4))
    fixture.standing()
    for ask in (earlier.best, earlier.totals):
        with pytest.raises(RuntimeError, match="another decision has been taken since"):
            ask()


SCORES = st.integers(0, 3)


@given(
    st.lists(SCORES, min_size=4, max_size=8),
    st.lists(
        st.one_of(
            st.lists(st.tuples(st.integers(0, 3), SCORES), min_size=1, max_size=3),
            st.sets(st.integers(0, 3), min_size=1),
        ),
        max_size=12,
    ),
)
def test_whatever_changes_the_best_are_those_with_the_highest_score(scores, history):
    fixture = Fixture(scores)
    for step in history:
        if isinstance(step, set):
            fixture.choose(step)
        else:
            fixture.change(*step)
        totals = {row: fixture.plugin.scores.item(row) for row in fixture.selection.feasible.tolist()}
        assert fixture.best() == [row for row, total in totals.items() if total == max(totals.values())]
