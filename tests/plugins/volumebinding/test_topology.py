"""Selectors to rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scheduler.api.objects import LabelSelector, LabelSelectorRequirement
from scheduler.api.selectors import NOTHING, compile_label_selector
from scheduler.plugins.volumebinding.topology import Topology, is_migrated
from tests.builders import node, state
from tests.plugins.storage import HOST, affinity, csi_node, put, storage_class, volume

if TYPE_CHECKING:
    from scheduler.cache.state import ClusterState

NODES = [node("a").zone("x").label(disk="ssd"), node("b").zone("x"), node("c").zone("y"), node("d")]
ZONE = "topology.kubernetes.io/zone"


def topology(cluster: ClusterState | None = None) -> Topology:
    found = Topology(cluster or state(NODES))
    found.refresh()
    return found


def names(rows: Any, cluster: ClusterState | None = None) -> list[str]:
    return [(cluster or state(NODES)).nodes.name(row) for row in rows.tolist()]


def selector(operator: str, key: str, *values: str, **more: str) -> Any:
    expression = LabelSelectorRequirement(key=key, operator=operator, values=values)
    return compile_label_selector(LabelSelector(match_labels=more, match_expressions=(expression,)))


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (selector("In", HOST, "c"), "c"),
        (selector("In", ZONE, "x", "y", "nowhere"), "abc"),
        (selector("NotIn", ZONE, "x"), "cd"),
        (selector("Exists", ZONE), "abc"),
        (selector("DoesNotExist", ZONE), "d"),
        (selector("In", ZONE, "x", disk="ssd"), "a"),
        (selector("Exists", ZONE, disk="ssd"), "a"),
        (selector("In", ZONE, "nowhere"), ""),
        (compile_label_selector(LabelSelector()), "abcd"),
        (NOTHING, ""),
    ],
)
def test_label_selectors(wanted: Any, expected: str) -> None:
    assert names(topology().selected(wanted)) == list(expected)


def test_many_nodes_of_a_value_are_decided_at_once() -> None:
    cluster = state([node(f"n{i}").zone("x").label(odd=str(i % 2)) for i in range(40)])
    rows = topology(cluster).selected(selector("In", ZONE, "x", odd="1"))
    assert names(rows, cluster) == [f"n{i}" for i in range(1, 40, 2)]


class TestVolumes:
    def test_a_volume_without_affinity_can_be_reached_from_everywhere(self) -> None:
        assert topology().of_volume(volume("v")) is None
        assert topology().of_volume(volume("v", nodeAffinity={})) is None

    def test_terms_are_ored(self) -> None:
        terms = [
            {"matchExpressions": [{"key": HOST, "operator": "In", "values": ["d"]}]},
            {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["y"]}]},
        ]
        found = topology().of_volume(volume("v", nodeAffinity={"required": {"nodeSelectorTerms": terms}}))
        assert names(found) == ["c", "d"]

    @pytest.mark.parametrize(
        ("terms", "expected"),
        [
            ([[("zone", "p", "x"), ("disk", "ssd", "hdd")]], "a"),
            ([[("zone", "x"), ("room", "1", "2")]], ""),
            ([[("zone", "p", "q"), ("disk", "ssd")]], ""),
            ([[("room", "1")], [("disk", "hdd", "ssd")]], "a"),
            ([[("room", "1")], [("disk", "hdd")]], ""),
        ],
        ids=["both expressions", "a label that is not there", "a value that is not", "either term", "neither term"],
    )
    def test_expressions_of_a_term_are_anded(self, terms: Any, expected: str) -> None:
        keys = {"zone": ZONE, "disk": "disk", "room": "room"}
        written = [
            {"matchExpressions": [{"key": keys[key], "operator": "In", "values": values} for key, *values in term]}
            for term in terms
        ]
        found = topology().of_volume(volume("v", nodeAffinity={"required": {"nodeSelectorTerms": written}}))
        assert names(found) == list(expected)

    @pytest.mark.parametrize(
        "terms", [[], [{}], [{"matchExpressions": []}], [{"matchExpressions": [{"key": "k", "operator": "Bad"}]}]]
    )
    def test_no_term_that_says_anything_matches_nothing(self, terms: list[Any]) -> None:
        found = topology().of_volume(volume("v", nodeAffinity={"required": {"nodeSelectorTerms": terms}}))
        assert names(found) == []

    def test_fields_are_not_looked_at(self) -> None:
        fields = [{"key": "metadata.name", "operator": "In", "values": ["a"]}]
        term = {"matchFields": fields}
        found = topology().of_volume(volume("v", nodeAffinity={"required": {"nodeSelectorTerms": [term]}}))
        assert names(found) == list("abcd")

    def test_follows_the_labels_of_nodes_and_the_volume(self) -> None:
        cluster = state(NODES)
        found = topology(cluster)
        one = volume("v", nodeAffinity=affinity(ZONE, "y"))
        assert names(found.of_volume(one), cluster) == ["c"]
        cluster.set_node(node("d").zone("y").build())
        found.refresh()
        assert names(found.of_volume(one), cluster) == ["c", "d"]
        assert names(found.of_volume(volume("v", node="a")), cluster) == ["a"]


@pytest.mark.parametrize(
    ("topologies", "expected"),
    [({ZONE: ["x"]}, "ab"), ({ZONE: ["x"], "disk": ["ssd"]}, "a"), ({ZONE: []}, ""), ({}, "")],
)
def test_allowed_topologies(topologies: Any, expected: str) -> None:
    found = topology().allowed(storage_class(topologies=topologies).allowed_topologies)
    assert names(found) == list(expected)


def test_a_class_without_topologies_allows_all() -> None:
    assert topology().allowed(()) is None


def test_migrated_plugins_follow_csi_nodes() -> None:
    cluster = put(state(NODES), csi_node("b", migrated="p,q"), csi_node("gone", migrated="p"), csi_node("a"))
    found = topology(cluster)
    assert names(found.migrated("p"), cluster) == ["b"]
    put(cluster, csi_node("a", migrated="p"))
    assert names(found.migrated("p"), cluster) == ["a", "b"]
    assert not is_migrated("p", None)
