"""The order in which kube-scheduler looks at nodes."""

from __future__ import annotations

import pytest

from scheduler.cache.order import zone_key
from scheduler.cache.rebuild import rebuild
from tests.builders import node, state

REGION, ZONE = "topology.kubernetes.io/region", "topology.kubernetes.io/zone"


def order(cluster) -> list[str]:
    return [cluster.nodes.name(row) for row in cluster.nodes.order.rows().tolist()]


def test_takes_a_node_of_each_zone_in_turn():
    zones = {"a": "z1", "b": "z1", "c": "z1", "d": "z2", "e": "z3", "f": "z2"}
    assert order(state([node(name).zone(zone) for name, zone in zones.items()])) == ["a", "d", "e", "b", "f", "c"]


NO_ZONE, REGION_ONLY, ZONE_ONLY = {}, {REGION: "1"}, {ZONE: "2"}
ONE_TWO, ONE_THREE, TWO_TWO = {REGION: "1", ZONE: "2"}, {REGION: "1", ZONE: "3"}, {REGION: "2", ZONE: "2"}
NINE = [NO_ZONE, REGION_ONLY, ZONE_ONLY, ONE_TWO, ONE_TWO, ONE_THREE, TWO_TWO, TWO_TWO, TWO_TWO]


def numbered(*labels: dict[str, str], first: int = 0) -> list:
    return [node(str(number)).label(each) for number, each in enumerate(labels, first)]


@pytest.mark.parametrize(
    ("count", "expected"), [(0, ""), (1, "0"), (4, "0 1 2 3"), (9, "0 1 2 3 5 6 4 7 8")], ids=["none", "1", "4", "9"]
)
def test_nodes_without_region_or_zone_are_zones_of_their_own(count, expected):
    assert order(state(numbered(*NINE[:count]))) == expected.split()


@pytest.mark.parametrize(
    ("gone", "expected"),
    [("0", "1 2 3 5 6 4 7 8"), ("1 2 3", "0 4 5 6 7 8"), ("0 1 2 3 4 5 6 7 8", ""), ("unknown", "0 1 2 3 5 6 4 7 8")],
    ids=["one", "a few", "all", "unknown"],
)
def test_zones_end_with_their_last_node(gone, expected):
    cluster = state(numbered(*NINE))
    for name in gone.split():
        cluster.remove_node(name)
    assert order(cluster) == expected.split()


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("+2 +3 +4 -2 -3 -4", ""),
        ("+2 +3 +4 -2", "3 4"),
        ("+2 +3 +4 -2 -3 -4 +5", "5"),
        ("+4 +5 +6 +7 +8 +3", "4 5 6 3 7 8"),
        ("+3 +4 -3 +6 +7 -4", "6 7"),
    ],
    ids=["all go", "one goes", "a new zone", "more in an old zone", "a zone goes and another comes"],
)
def test_follows_what_happens(steps, expected):
    cluster = state()
    nodes = numbered(*NINE)
    for step in steps.split():
        number = int(step[1:])
        if step[0] == "+":
            cluster.set_node(nodes[number].build())
        else:
            cluster.remove_node(str(number))
    assert order(cluster) == expected.split()


@pytest.mark.parametrize(
    ("count", "expected"), [(7, "1 2 3 5 6 4 0"), (1, "0")], ids=["to a zone that is there", "to a zone of its own"]
)
def test_a_node_that_gets_a_zone_comes_last_in_it(count, expected):
    cluster = state(numbered(*NINE[:count]))
    cluster.set_node(node("0").label(ONE_TWO).build())
    assert order(cluster) == expected.split()


def test_a_node_that_comes_twice_is_listed_once():
    assert order(state([node("a"), node("a")])) == ["a"]


@pytest.mark.parametrize(
    ("zones", "expected"),
    [("xy", "a b"), ("xxxxxy", "a f b c d e"), ("xxxxxyy", "a f b g c d e"), ("xyyxxxx", "a b d c e f g")],
)
def test_zones_of_unequal_size_take_turns_while_they_last(zones, expected):
    assert (
        order(state([node(name).zone(zone) for name, zone in zip("abcdefg", zones, strict=False)])) == expected.split()
    )


def test_follows_nodes_that_go_and_that_move_to_another_zone():
    cluster = state([node("a").zone("z1"), node("b").zone("z1"), node("c").zone("z2")])
    cluster.set_node(node("a").zone("z2").build())
    assert order(cluster) == ["b", "c", "a"]
    cluster.remove_node("b")
    assert order(cluster) == ["c", "a"]


MOVED = [node("a").zone("z1"), node("b").zone("z1"), node("c").zone("z2")]


class TestWhileTheSameNodesAreThere:
    """kube-scheduler lists them anew only when one comes or goes between two looks."""

    def test_a_node_that_moves_to_another_zone_keeps_its_place(self):
        cluster = state(MOVED)
        assert order(cluster) == ["a", "c", "b"]
        cluster.set_node(node("a").zone("z2").build())
        assert order(cluster) == ["a", "c", "b"]
        cluster.remove_node("b")
        assert order(cluster) == ["c", "a"]

    def test_so_does_one_that_goes_and_comes_back_unseen(self):
        cluster = state(MOVED)
        before = order(cluster)
        cluster.remove_node("a")
        cluster.set_node(node("d").build())
        cluster.set_node(node("a").zone("z1").build())
        cluster.remove_node("d")
        assert order(cluster) == before

    def test_one_whose_absence_was_seen_comes_last(self):
        cluster = state(MOVED)
        order(cluster)
        cluster.remove_node("a")
        assert order(cluster) == ["b", "c"]
        cluster.set_node(node("a").zone("z1").build())
        assert order(cluster) == ["b", "c", "a"]

    def test_so_does_the_one_that_another_takes_the_place_of(self):
        cluster = state(MOVED)
        order(cluster)
        cluster.remove_node("a")
        cluster.set_node(node("d").zone("z1").build())
        assert order(cluster) == ["b", "c", "d"]

    def test_a_trial_with_other_nodes_leaves_the_order_as_it_was(self):
        cluster = state(MOVED)
        order(cluster)
        cluster.set_node(node("a").zone("z2").build())
        with cluster.what_if_nodes() as trial:
            trial.set(node("e").zone("z1").build())
            assert order(cluster) == ["b", "c", "e", "a"]
        assert order(cluster) == ["a", "c", "b"]

    def test_a_state_that_is_rebuilt_has_the_same_order(self):
        cluster = state(MOVED)
        order(cluster)
        cluster.set_node(node("a").zone("z2").build())
        assert order(rebuild(cluster)) == order(cluster) == ["a", "c", "b"]


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
        ({"failure-domain.beta.kubernetes.io/region": "r", "failure-domain.beta.kubernetes.io/zone": "z"}, ("r", "z")),
    ],
)
def test_zones_are_told_apart_by_region_and_zone_with_the_old_labels_first(labels, key):
    assert zone_key(node("a").label(labels).build()) == key
