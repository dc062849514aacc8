"""Whom to evict from a node, one node at a time and many at once."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.framework.interface import Eviction
from scheduler.framework.status import error
from scheduler.plugins.defaultpreemption.budgets import Budgets
from scheduler.plugins.defaultpreemption.columns import select_victims_by_columns
from scheduler.plugins.defaultpreemption.filters import DryRunFilters
from scheduler.plugins.defaultpreemption.orders import KnownOrders
from scheduler.plugins.defaultpreemption.victims import NO_VICTIMS, Order, select_victims
from tests.builders import info, pod_term, state
from tests.plugins.defaultpreemption.attempts import NO_BUDGETS, NOW, budget, rejected, small, there, wanting

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
WEB = {"matchLabels": {"app": "web"}}


def one_by_one(cycle, rejections, budgets):
    filters = DryRunFilters(cycle, rejections)
    return {row: select_victims(cycle, filters, row, budgets, NOW) for row in cycle.state.nodes.rows.values()}


def all_at_once(cycle, rejections, budgets):
    filters = DryRunFilters(cycle, rejections)
    assert filters.columns_only
    state = cycle.state
    rows = np.array(list(state.nodes.rows.values()), np.intp)
    orders = KnownOrders(state).of(cycle, rows, budgets, NOW)
    rivals = state.nominations.rivals(cycle.pod, state.nodes, state.pods)
    return select_victims_by_columns(cycle, filters, rows, orders, rivals)


def told(outcome):
    if isinstance(outcome, Eviction):
        return [pod.name for pod in outcome.victims], outcome.violations
    return outcome.reasons


@pytest.fixture(params=[one_by_one, all_at_once], ids=["one by one", "all at once"])
def select(request):
    def ask(incoming, *pods, budgets=NO_BUDGETS, nodes=("n",)):
        cluster = state([small(name) for name in nodes], pods)
        before = snapshot(cluster)
        outcomes = request.param(*rejected(cluster, incoming), budgets)
        assert snapshot(cluster) == before
        return told(outcomes[0])

    return ask


def snapshot(cluster):
    table = cluster.nodes
    amounts = [column.tolist() for column in (table.requested[:, : table.size], table.nonzero, table.pod_count)]
    return amounts, {uid.uid: uid.row for uid in cluster.pods}, cluster.counters.snapshot()


def test_as_few_and_as_unimportant_pods_as_possible_go(select):
    pods = there("a", "n", cpu="500m", priority=5), there("b", "n", priority=1), there("c", "n", cpu="500m")
    assert select(wanting("1"), *pods) == (["b"], 0)
    assert select(wanting("500m"), *pods) == (["c"], 0)
    assert select(wanting("2"), *pods) == (["a", "b", "c"], 0)


def test_of_pods_that_matter_as_much_the_younger_goes(select):
    assert select(wanting("1"), there("old", "n", started=1), there("young", "n", started=2)) == (["young"], 0)


def test_pods_that_break_a_budget_are_put_back_first(select):
    pods = there("dear", "n", priority=50), there("guarded", "n").label(app="web")
    assert select(wanting("1"), *pods, budgets=Budgets([budget("b", WEB)])) == (["dear"], 0)


def test_budgets_broken_by_those_who_must_go_are_counted(select):
    pods = (
        there("other", "n", priority=50),
        *(there(f"web{i}", "n", cpu="500m", started=i).label(app="web") for i in range(2)),
    )
    assert select(wanting("2"), *pods, budgets=Budgets([budget("b", WEB, 1)])) == (["other", "web0", "web1"], 1)


def test_pods_that_matter_as_much_are_no_victims(select):
    assert select(wanting(priority=5), there("a", "n", cpu="2", priority=5)) == NO_VICTIMS.reasons


def test_where_even_all_victims_are_not_enough_the_reason_is_told(select):
    pods = there("important", "n", priority=200), there("victim", "n")
    assert select(wanting(), *pods) == ("Insufficient cpu",)


def test_too_many_pods_are_a_reason_to_evict_one(select):
    full = small("n").capacity(cpu="2", pods="2")
    cluster = state([full], [there("a", "n", cpu="0"), there("b", "n", cpu="0", priority=1)])
    cycle, rejections = rejected(cluster, wanting("1"))
    for way in (one_by_one, all_at_once):
        assert told(way(cycle, rejections, NO_BUDGETS)[0]) == (["a"], 0)


def test_pods_nominated_to_the_node_take_their_room():
    cluster = state([small("n")], [there("victim", "n", cpu="1"), there("other", "n", cpu="1", started=1)])
    rival = info(wanting("1", priority=100).uid("rival").nominated("n"), cluster)
    cluster.nominations.add(rival, "n")
    assert told(one_by_one(*rejected(cluster, wanting("1")), NO_BUDGETS)[0]) == (["victim", "other"], 0)
    cluster.nominations.add(msgspec.structs.replace(rival, priority=99), "n")
    assert told(one_by_one(*rejected(cluster, wanting("1")), NO_BUDGETS)[0]) == (["other"], 0)


def test_affinity_is_heeded_while_victims_are_tried():
    pods = there("web", "n", cpu="100m").label(app="web"), there("db", "n", cpu="100m").label(app="db")
    incoming = wanting("100m").requires_pods(pod_term(HOST, {"app": "web"}), anti=True)
    cycle, rejections = rejected(state([small("n")], pods), incoming)
    assert not DryRunFilters(cycle, rejections).columns_only
    assert told(one_by_one(cycle, rejections, NO_BUDGETS)[0]) == (["web"], 0)


def test_pods_are_evicted_for_the_sake_of_spreading():
    pods = there("web", "a", cpu="0").label(app="web"), there("db", "a", cpu="0").label(app="db")
    nodes = small("a").zone("a"), small("b").zone("b").unschedulable()
    incoming = wanting("1").label(app="web").spreads(ZONE, 1, labelSelector=WEB)
    cluster = state(nodes, pods)
    outcome = one_by_one(*rejected(cluster, incoming), NO_BUDGETS)[cluster.nodes.rows["a"]]
    assert told(outcome) == (["web"], 0)


def test_a_terminating_victim_lowers_the_spread_though_it_was_never_counted():
    """As in kube-scheduler: taking it away makes room that is not there."""
    counted = [there(name, "a", cpu="0", priority=200).label(app="web") for name in ("w1", "w2")]
    leaving = there("leaving", "a", cpu="0").label(app="web").terminating()
    incoming = wanting("0").label(app="web").spreads(HOST, 1, labelSelector=WEB)
    cluster = state(
        [small("a"), small("b").label({HOST: "b"})], [*counted, leaving, there("x", "b", cpu="2", priority=9)]
    )
    cluster.set_pod(info(there("w3", "b", cpu="0", priority=300).label(app="web"), cluster))
    cycle, rejections = rejected(cluster, incoming.cpu("1"))
    outcome = one_by_one(cycle, rejections, NO_BUDGETS)[cluster.nodes.rows["a"]]
    assert told(outcome) == (["leaving"], 0)


def test_a_host_port_is_free_once_one_of_its_holders_goes():
    """As in kube-scheduler, where two pods on one node hold a port only once."""
    pods = there("a", "n", priority=200, cpu="0").host_port(80), there("b", "n", cpu="0").host_port(80)
    outcome = one_by_one(*rejected(state([small("n")], pods), wanting("1").host_port(80)), NO_BUDGETS)[0]
    assert told(outcome) == (["b"], 0)


def test_if_all_pods_fit_again_something_is_wrong():
    order = Order([info(there("a", "n"))], NO_BUDGETS, NOW)
    assert order.eviction("n", []) == error('expected at least one victim pod on node "n"')


amounts = st.integers(0, 8).map(lambda quarters: f"{quarters * 250}m")
placed = st.lists(
    st.tuples(st.integers(0, 3), amounts, st.integers(-1, 3), st.integers(0, 50), st.sampled_from(["web", "db"])),
    max_size=20,
)


nominated = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["250m", "500m", "1"]), st.integers(0, 4)), max_size=4
)


@given(
    pods=placed,
    nominated=nominated,
    cpu=st.sampled_from(["1500m", "2"]),
    priority=st.integers(0, 4),
    allowed=st.integers(0, 3),
)
def test_many_at_once_come_out_as_each_alone(pods, nominated, cpu, priority, allowed):
    nodes = [small(f"n{i}").capacity(cpu="2", memory="8Gi", pods="4") for i in range(4)]
    made = [
        there(f"p{i}", f"n{on}", cpu=size, priority=rank, started=50 * i + age).label(app=app)
        for i, (on, size, rank, age, app) in enumerate(pods)
    ]
    budgets = Budgets([budget("b", WEB, allowed)])
    # Every node is too full, by a pod of the least priority, so that every one is tried.
    made += [there(f"filler{i}", f"n{i}", cpu="750m", priority=-2) for i in range(4)]
    cluster = state(nodes, made)
    for i, (on, size, rank) in enumerate(nominated):
        cluster.nominations.add(info(there(f"q{i}", "", cpu=size, priority=rank), cluster), f"n{on}")
    attempt = rejected(cluster, wanting(cpu, priority))
    assert all_at_once(*attempt, budgets) == one_by_one(*attempt, budgets)
