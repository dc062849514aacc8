"""The order of a node's possible victims is kept until something about them changes."""

from __future__ import annotations

import numpy as np

from scheduler.framework.cycle import Cycle
from scheduler.plugins.defaultpreemption.budgets import Budgets
from scheduler.plugins.defaultpreemption.columns import NOBODY
from scheduler.plugins.defaultpreemption.orders import KnownOrders
from tests.builders import info, state
from tests.plugins.defaultpreemption.attempts import NO_BUDGETS, NOW, small, there, wanting

START_OF_YEAR = NOW


class Asking:
    """A cluster of two nodes, and what is known of the orders there."""

    def __init__(self, *pods):
        self.cluster = state([small("n0"), small("n1")], pods)
        self.known = KnownOrders(self.cluster)

    def orders(self, priority=100, budgets=NO_BUDGETS, now=NOW + 3600):
        cycle = Cycle(info(wanting(priority=priority), self.cluster), self.cluster, "p")
        return self.known.of(cycle, np.array([0, 1]), budgets, now)

    def order(self, row=0, **how):
        return self.orders(**how).by_row[row]

    def names(self, row=0, **how):
        order = self.order(row, **how)
        return order and [pod.name for pod in order.pods]

    def put(self, pod):
        self.cluster.set_pod(info(pod, self.cluster))


def test_only_pods_that_matter_less_are_possible_victims():
    asking = Asking(there("a", "n0"), there("b", "n0", priority=50), there("c", "n0", priority=100))
    assert asking.names() == ["b", "a"]
    assert asking.names(priority=50) == ["a"]
    assert asking.names(row=1) is None


def test_what_they_take_is_told_by_place():
    asking = Asking(there("a", "n0", cpu="1"), there("b", "n0", cpu="2", priority=5), there("c", "n1", cpu="2"))
    orders = asking.orders()
    named = [
        [NOBODY if i == NOBODY else orders.usages[i].requests["cpu"] for i in row] for row in orders.taken.tolist()
    ]
    assert named == [[2000, 1000], [2000, NOBODY]]


def test_an_order_is_kept_while_nothing_changes():
    asking = Asking(there("a", "n0"), there("b", "n1"))
    first = asking.order()
    asking.put(there("c", "n1"))
    assert asking.order() is first


def test_a_pod_that_comes_goes_or_changes_makes_for_another_order():
    asking = Asking(there("a", "n0"), there("b", "n0", started=5))
    assert asking.names() == ["a", "b"]
    asking.put(there("c", "n0", started=1))
    assert asking.names() == ["a", "c", "b"]
    asking.put(there("c", "n0", started=9))
    assert asking.names() == ["a", "b", "c"]
    asking.cluster.remove_pod(info(there("a", "n0")).uid)
    assert asking.names() == ["b", "c"]


def test_what_was_only_tried_leaves_the_order_as_it_was():
    asking = Asking(there("a", "n0"), there("b", "n0"))
    before = asking.names()
    with asking.cluster.what_if() as trial:
        trial.remove(asking.cluster.pods.on_node("n0")[0])
    assert asking.names() == before


def test_orders_for_other_priorities_are_kept_beside_it():
    asking = Asking(there("a", "n0"), there("b", "n0", priority=50))
    first, other = asking.order(), asking.order(priority=50)
    assert (asking.order(), asking.order(priority=50)) == (first, other)
    asking.put(there("c", "n0"))
    assert (len(asking.names()), len(asking.names(priority=50))) == (3, 2)


def test_orders_for_many_priorities_are_not_kept():
    asking = Asking(there("a", "n0"))
    first = asking.order()
    for priority in range(1, 10):
        asking.order(priority=priority)
    assert asking.order() is not first


def test_other_budgets_make_for_other_orders():
    asking = Asking(there("a", "n0"))
    first = asking.order()
    assert asking.order(budgets=Budgets(())) is not first


def test_a_node_that_takes_the_row_of_another_has_an_order_of_its_own():
    asking = Asking(there("a", "n0"))
    assert asking.names() == ["a"]
    asking.cluster.remove_node("n0")
    asking.cluster.set_node(small("n2").build())
    asking.put(there("b", "n2"))
    assert asking.names() == ["b"]


def test_the_place_of_a_pod_that_has_not_started_may_change_with_time():
    asking = Asking(there("idle", "n0", started=None), there("later", "n0", started=60))
    assert asking.names(now=START_OF_YEAR + 30) == ["idle", "later"]
    assert asking.names(now=START_OF_YEAR + 90) == ["later", "idle"]


def test_what_becomes_of_the_same_victims_is_worked_out_once():
    asking = Asking(there("a", "n0"), there("b", "n0"))
    order = asking.order()
    assert order.eviction("n0", [True, False]) is order.eviction("n0", [True, False])
    assert [pod.name for pod in order.eviction("n0", [False, True]).victims] == ["b"]
