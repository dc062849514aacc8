"""Victims on many nodes at once, in columns.

That each node comes out as it does alone is held by the tests of victims; here is what is special about many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from scheduler.framework.status import Status
from scheduler.plugins.defaultpreemption.budgets import Budgets
from scheduler.plugins.defaultpreemption.columns import select_victims_by_columns
from scheduler.plugins.defaultpreemption.filters import DryRunFilters
from scheduler.plugins.defaultpreemption.orders import KnownOrders
from scheduler.plugins.defaultpreemption.victims import NO_VICTIMS
from tests.builders import info, state
from tests.plugins.defaultpreemption.attempts import NO_BUDGETS, NOW, budget, rejected, small, there, wanting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.cache.state import ClusterState
    from scheduler.framework.interface import Eviction
    from tests.builders import PodBuilder

WEB = {"matchLabels": {"app": "web"}}


class Counting(DryRunFilters):
    """Counts how often the nodes are looked at, and for how many at a time."""

    asked: list[int]

    def verdicts(self, rows: Any) -> Any:
        self.asked.append(len(rows))
        return super().verdicts(rows)

    def misfits(self, rows: Any) -> Any:
        self.asked.append(len(rows))
        return super().misfits(rows)


def select(
    cluster: ClusterState,
    incoming: PodBuilder | None = None,
    *,
    nodes: Sequence[str] | None = None,
    budgets: Budgets = NO_BUDGETS,
    known: KnownOrders | None = None,
    asked: list[int] | None = None,
) -> dict[str, Any]:
    """Victims and broken budgets by node, or the reasons why there is no use in it."""
    cycle, rejections = rejected(cluster, incoming or wanting())
    filters = Counting(cycle, rejections)
    filters.asked = [] if asked is None else asked
    rows = [cluster.nodes.rows[name] for name in nodes or cluster.nodes.rows]
    before = amounts(cluster)
    indices = np.array(rows, np.intp)
    orders = (known or KnownOrders(cluster)).of(cycle, indices, budgets, NOW)
    rivals = cluster.nominations.rivals(cycle.pod, cluster.nodes, cluster.pods)
    found = select_victims_by_columns(cycle, filters, indices, orders, rivals)
    assert amounts(cluster) == before
    return {cluster.nodes.name(row): told(outcome) for row, outcome in found.items()}


def told(outcome: Eviction | Status) -> Any:
    if isinstance(outcome, Status):
        return outcome.reasons
    return [pod.name for pod in outcome.victims], outcome.violations


def amounts(cluster: ClusterState) -> Any:
    table = cluster.nodes
    return table.requested.tolist(), table.nonzero.tolist(), table.pod_count.tolist(), table.log.end


def full(*names: str, **pod_fields: Any) -> ClusterState:
    """Nodes of two CPUs with two pods of one CPU each."""
    pods = [there(f"{name}{place}", name, started=place, **pod_fields) for name in names for place in range(2)]
    return state([small(name) for name in names], pods)


class TestWhichNodes:
    def test_each_that_was_asked_for_and_no_other(self) -> None:
        found = select(full("a", "b", "c"), nodes=["c", "a"])
        assert found == {"c": (["c0", "c1"], 0), "a": (["a0", "a1"], 0)}

    def test_none_of_them_with_anybody_who_matters_less(self) -> None:
        found = select(full("a", "b", priority=100))
        assert found == {"a": NO_VICTIMS.reasons, "b": NO_VICTIMS.reasons}

    def test_nobody_is_asked_where_there_is_no_victim(self) -> None:
        asked: list[int] = []
        select(full("a", "b", priority=100), asked=asked)
        assert asked == []

    def test_a_node_without_victims_does_not_hold_up_the_others(self) -> None:
        pods = there("dear", "a", cpu="2", priority=100), there("v", "b", cpu="2")
        assert select(state([small("a"), small("b")], pods)) == {"a": NO_VICTIMS.reasons, "b": (["v"], 0)}


class TestUnequalNodes:
    """Nodes with more possible victims than others, and of other sizes, are tried in the same steps."""

    def test_each_keeps_whom_it_can(self) -> None:
        pods = [
            *(there(f"a{place}", "a", cpu="500m", started=place) for place in range(4)),
            there("b0", "b", cpu="2"),
            there("c0", "c", cpu="1"),
            there("c1", "c", cpu="1", started=1, priority=100),
        ]
        cluster = state([small(name) for name in "abc"], pods)
        assert select(cluster, wanting("1")) == {"a": (["a2", "a3"], 0), "b": (["b0"], 0), "c": (["c0"], 0)}

    def test_one_that_finds_no_room_does_not_stand_in_the_way_of_the_next(self) -> None:
        pods = [
            there("a-large", "a", cpu="1500m", priority=5),
            there("a-small", "a", cpu="500m"),
            there("b0", "b", cpu="1"),
            there("b1", "b", cpu="1", started=1),
        ]
        found = select(state([small("a"), small("b")], pods), wanting("1"))
        assert found == {"a": (["a-large"], 0), "b": (["b1"], 0)}

    def test_a_reason_for_each_that_is_too_small_even_empty(self) -> None:
        tiny = small("tiny").capacity(cpu="1", memory="8Gi")
        cluster = state([tiny, small("a")], [there("t", "tiny", cpu="1"), there("v", "a", cpu="2")])
        assert select(cluster) == {"tiny": ("Insufficient cpu",), "a": (["v"], 0)}

    def test_budgets_count_on_each_node_for_itself(self) -> None:
        """As in kube-scheduler, which tries each node as if no other were."""
        pods = [there(f"{name}{place}", name, started=place).label(app="web") for name in "ab" for place in range(2)]
        cluster = state([small("a"), small("b")], pods)
        found = select(cluster, budgets=Budgets([budget("b", WEB, 1)]))
        assert found == {"a": (["a0", "a1"], 1), "b": (["b0", "b1"], 1)}


class TestRivals:
    """Pods that are nominated to a node and matter as much count on it while victims are tried."""

    def nominated(self, cluster: ClusterState, name: str, on: str, **fields: Any) -> None:
        rival = info(wanting("1", **{"priority": 100, **fields}).uid(name), cluster)
        cluster.nominations.add(rival, on)

    def test_on_their_node_only(self) -> None:
        cluster = full("a", "b")
        self.nominated(cluster, "rival", "b")
        assert select(cluster, wanting("1")) == {"a": (["a1"], 0), "b": (["b0", "b1"], 0)}

    def test_several_on_one_node_all_count(self) -> None:
        cluster = full("a", "b")
        self.nominated(cluster, "first", "b")
        self.nominated(cluster, "second", "b")
        assert select(cluster, wanting("1")) == {"a": (["a1"], 0), "b": ("Insufficient cpu",)}

    def test_those_that_matter_less_do_not(self) -> None:
        cluster = full("a")
        self.nominated(cluster, "lesser", "a", priority=99)
        assert select(cluster, wanting("1")) == {"a": (["a1"], 0)}

    def test_on_a_node_that_is_not_tried_they_change_nothing(self) -> None:
        cluster = full("a", "b")
        self.nominated(cluster, "rival", "b")
        assert select(cluster, wanting("1"), nodes=["a"]) == {"a": (["a1"], 0)}


def test_the_number_of_steps_is_that_of_the_victims_of_the_fullest_node() -> None:
    """Not that of the nodes: one look at them all when the victims are gone, and one for each that is put back."""
    for names in ("ab", "abcdefgh"):
        asked: list[int] = []
        select(full(*names), asked=asked)
        assert asked == [len(names)] * 3


@pytest.mark.parametrize("again", [False, True])
def test_orders_that_are_known_from_the_attempt_before_serve_again(again: bool) -> None:
    cluster = full("a", "b")
    known = KnownOrders(cluster)
    if again:
        select(cluster, known=known)
    assert select(cluster, wanting("1"), known=known) == {"a": (["a1"], 0), "b": (["b1"], 0)}
