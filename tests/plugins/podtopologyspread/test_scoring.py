"""The numbers of the score."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scheduler.cache.bare import BareNodeView
from scheduler.cache.nodes import NodeView
from scheduler.config.args.pod_topology_spread import PodTopologySpreadArgs
from scheduler.plugins.podtopologyspread.constraints import SCHEDULE_ANYWAY, compile_constraints
from scheduler.plugins.podtopologyspread.counts import SpreadCounts
from scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from scheduler.plugins.podtopologyspread.scoring import natural_logarithm, prepare
from tests.builders import info, node, pod, state
from tests.plugins.clusters import HOST, ZONE, Cluster, cycle_for, handle, node_scores

APP_A = {"matchLabels": {"app": "a"}}


def scores(nodes, pods, incoming, feasible=None):
    cluster = Cluster(state())
    cluster.apply([item.build() for item in (*nodes, *pods)])
    plugin = PodTopologySpread(PodTopologySpreadArgs(), handle(cluster.state))
    names = feasible or sorted(cluster.nodes)
    return node_scores(plugin, cluster, cycle_for(cluster, incoming.build()), names)


def on(name: str, count: int) -> list:
    return [pod(f"{name}-{i}").label(app="a").on(name) for i in range(count)]


def test_one_and_four_pods_give_100_and_16():
    incoming = pod("p").spreads(HOST, soft=True, labelSelector=APP_A)
    assert scores([node("a"), node("b")], [*on("a", 1), *on("b", 4)], incoming) == {"a": (1, 100), "b": (6, 16)}


def test_no_pods_at_all_give_everyone_100():
    incoming = pod("p").spreads(HOST, soft=True, labelSelector=APP_A)
    assert scores([node("a"), node("b")], [], incoming) == {"a": (0, 100), "b": (0, 100)}


def test_a_node_without_one_of_the_labels_gets_nothing():
    incoming = pod("p").spreads(ZONE, 2, soft=True, labelSelector=APP_A)
    assert scores([node("a").zone("z"), node("b")], [], incoming) == {"a": (1, 100), "b": (0, 0)}


def test_pods_on_nodes_that_are_not_feasible_count_in_their_zone_but_not_their_zone_for_the_weight():
    nodes = [node("a").zone("z1"), node("b").zone("z1"), node("c").zone("z2")]
    incoming = pod("p").spreads(ZONE, soft=True, labelSelector=APP_A)
    raw = round(2 * math.log(1 + 2))
    assert scores(nodes, [*on("b", 2), *on("c", 5)], incoming, ["a"]) == {"a": (raw, 100)}


def test_the_hostname_count_ignores_the_inclusion_policies():
    nodes = [node("a").taint("gpu"), node("b")]
    incoming = pod("p").spreads(HOST, soft=True, labelSelector=APP_A, nodeTaintsPolicy="Honor")
    assert scores(nodes, on("a", 3), incoming)["a"][0] == round(3 * math.log(2 + 2))


def test_what_was_found_for_some_nodes_holds_until_a_label_changes():
    incoming = pod("p").spreads(ZONE, soft=True, labelSelector=APP_A).build()
    cluster = Cluster(state())
    cluster.apply([item.build() for item in (node("a").zone("z1"), node("b").zone("z2"), node("c").zone("z3"))])
    cluster.apply([item.build() for item in on("a", 5)])
    plugin = PodTopologySpread(PodTopologySpreadArgs(), handle(cluster.state))

    def raw(names):
        found = node_scores(plugin, cluster, cycle_for(cluster, incoming), names)
        assert found is not None
        return [score for score, _ in found.values()]

    assert raw(["a", "b", "c"]) == [round(5 * math.log(3 + 2)), 0, 0]
    assert raw(["a", "b"]) == [round(5 * math.log(2 + 2)), 0]
    cluster.apply([node("b").zone("z1").build()])
    assert raw(["a", "b"]) == [round(5 * math.log(1 + 2))] * 2
    assert raw(["a", "b", "c"]) == [round(5 * math.log(2 + 2))] * 2 + [0]


@pytest.mark.parametrize("rows", [slice(0, 2), np.array([0, 1])])
def test_the_very_same_nodes_are_looked_at_once(rows):
    cluster = state([node("a").zone("z1"), node("b").zone("z2")])
    shape = info(pod("p").spreads(ZONE, soft=True, labelSelector=APP_A), cluster).shape
    constraints = compile_constraints(shape.pod.spec.topology_spread_constraints, shape.labels, SCHEDULE_ANYWAY)
    counts = SpreadCounts(cluster, shape, constraints, require_all=True)
    view = NodeView(cluster.nodes, None if isinstance(rows, slice) else rows)
    if isinstance(rows, np.ndarray):
        first = prepare(counts, view)
        assert prepare(counts, view).weights is not first.weights  # somebody may have written to the rows
        rows.flags.writeable = False
    first = prepare(counts, view)
    assert (
        prepare(counts, NodeView(cluster.nodes, view.rows if isinstance(rows, np.ndarray) else None)).weights
        is first.weights
    )
    cluster.set_node(node("b").zone("z1").build())
    assert prepare(counts, view).weights == [natural_logarithm(3.0)]


def test_no_pods_count_on_nodes_that_are_looked_at_without_them_but_those_of_their_zone_do():
    nodes = [node("a").zone("z"), node("b").zone("z")]
    incoming = pod("p").spreads(HOST, soft=True, labelSelector=APP_A).spreads(ZONE, soft=True, labelSelector=APP_A)
    cluster = Cluster(state())
    cluster.apply([item.build() for item in (*nodes, *on("a", 3))])
    plugin = PodTopologySpread(PodTopologySpreadArgs(), handle(cluster.state))
    cycle = cycle_for(cluster, incoming.build())
    bare = BareNodeView(cluster.state.nodes, np.array([cluster.state.nodes.rows[name] for name in "ab"], np.intp))
    cycle.feasible = bare.rows
    assert plugin.pre_score(cycle, bare) is None
    assert plugin.score(cycle, bare).tolist() == [round(3 * math.log(1 + 2))] * 2


@pytest.mark.parametrize("size", [2, 3, 14, 48, 5002])
def test_the_logarithm_is_within_one_unit_of_the_last_place(size):
    assert abs(natural_logarithm(float(size)) - math.log(size)) <= np.spacing(math.log(size))


@pytest.mark.parametrize(
    ("x", "bits"),
    [
        (1, "0000000000000000"),
        (2, "3fe62e42fefa39ef"),
        (3, "3ff193ea7aad030a"),
        (14, "40051cca16d7bba8"),
        (48, "400ef8383c50bb74"),
        (74, "4011375cd6fcab1c"),
        (176, "4014ae935b3cb89e"),
        (1002, "401ba3965d405f5f"),
    ],
)
def test_the_logarithm_has_the_bits_of_gos(x, bits):
    """Those from 3 to 176 are numbers for which the C library's may have another last bit."""
    assert np.float64(natural_logarithm(float(x))).view(np.uint64) == int(bits, 16)
