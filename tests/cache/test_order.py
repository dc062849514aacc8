"""The order in which kube-scheduler looks at nodes."""

from __future__ import annotations

import pytest

from scheduler.cache.order import zone_key
from tests.builders import node, state


def order(cluster) -> list[str]:
    return [cluster.nodes.name(row) for row in cluster.nodes.order.rows().tolist()]


def test_takes_a_node_of_each_zone_in_turn():
    zones = {"a": "z1", "b": "z1", "c": "z1", "d": "z2", "e": "z3", "f": "z2"}
    assert order(state([node(name).zone(zone) for name, zone in zones.items()])) == ["a", "d", "e", "b", "f", "c"]


def test_follows_nodes_that_go_and_that_move_to_another_zone():
    cluster = state([node("a").zone("z1"), node("b").zone("z1"), node("c").zone("z2")])
    cluster.set_node(node("a").zone("z2").build())
    assert order(cluster) == ["b", "c", "a"]
    cluster.remove_node("b")
    assert order(cluster) == ["c", "a"]


def test_a_change_of_something_else_keeps_the_place():
    cluster = state([node("a").zone("z1"), node("b").zone("z1")])
    cluster.set_node(node("a").zone("z1").taint("x").build())
    assert order(cluster) == ["a", "b"]


@pytest.mark.parametrize(
    ("labels", "key"),
    [
        ({}, ("", "")),
        ({"topology.kubernetes.io/zone": "z"}, ("", "z")),
        ({"topology.kubernetes.io/region": "r", "topology.kubernetes.io/zone": "z"}, ("r", "z")),
        ({"topology.kubernetes.io/zone": "z", "failure-domain.beta.kubernetes.io/zone": "old"}, ("", "old")),
    ],
)
def test_zones_are_told_apart_by_region_and_zone_with_the_old_labels_first(labels, key):
    assert zone_key(node("a").label(labels).build()) == key
