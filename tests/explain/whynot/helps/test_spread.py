"""Spread constraints that ask for less, or count otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import PodBuilder, node, pod
from tests.explain.whynot.cluster import Cluster

ZONE = "topology.kubernetes.io/zone"
WEB = {"matchLabels": {"app": "web"}}


def small(name: str, zone: str) -> Any:
    return node(name).capacity(cpu="2", memory="8Gi", pods="10").zone(zone)


def web(number: int, on: str, **labels: str) -> PodBuilder:
    return pod(f"web-{number}").uid(f"web-{number}").on(on).label(app="web", **labels)


def waiting(**fields: Any) -> PodBuilder:
    return pod("new").label(app="web").spreads(ZONE, 1, labelSelector=WEB, **fields)


def changes(waits: PodBuilder, nodes: list[Any], *pods: PodBuilder) -> dict[str, Any]:
    """The changes of the constraint that help, by what they change."""
    return {
        one.change.kind.removeprefix("spread."): one
        for one in Cluster(nodes, pods).found(waits)
        if one.change.kind.startswith("spread.")
    }


def spread(change: Any, waits: PodBuilder) -> Any:
    (constraint,) = change.edited(waits.build()).spec.topology_spread_constraints
    return constraint


NODES = [small("a", "z1"), small("b", "z2").unschedulable()]
TAINTED = [small("a", "z1"), small("b", "z2").taint("gpu")]


def test_a_larger_skew_no_larger_than_it_takes() -> None:
    found = changes(waiting(), NODES, web(0, "a"), web(1, "a"))["maxSkew"]
    assert found.change.sentence(found.nodes) == "maxSkew: 3 instead of 1 on the zone spread opens a"
    assert spread(found.change, waiting()).max_skew == 3


def test_of_several_domains_the_one_that_takes_the_smallest_skew() -> None:
    nodes = [small("a", "z1"), small("b", "z2"), small("c", "z3").unschedulable()]
    pods = web(0, "a"), web(1, "a"), web(2, "a"), web(3, "b")
    found = changes(waiting(), nodes, *pods)["maxSkew"]
    assert found.change.sentence(found.nodes) == "maxSkew: 2 instead of 1 on the zone spread opens b"


def test_a_wish_in_place_of_a_condition() -> None:
    found = changes(waiting(minDomains=1), NODES, web(0, "a"))["whenUnsatisfiable"]
    made = spread(found.change, waiting(minDomains=1))
    assert (made.when_unsatisfiable, made.min_domains) == ("ScheduleAnyway", None)


def test_fewer_domains_where_there_are_not_so_many() -> None:
    nodes = [small("a", "z1"), small("b", "z2")]
    found = changes(waiting(minDomains=3), nodes, web(0, "a"), web(1, "b"))["minDomains"]
    assert found.change.sentence(found.nodes) == "minDomains: 2 instead of 3 on the zone spread opens a and b"


def test_domains_of_nodes_that_the_pod_does_not_tolerate_need_not_count() -> None:
    found = changes(waiting(), TAINTED, web(0, "a"))["nodeTaintsPolicy"]
    assert found.change.sentence(found.nodes) == (
        "nodeTaintsPolicy: Honor on the zone spread removes the empty domain z2 and opens a"
    )
    assert "nodeTaintsPolicy" not in changes(waiting(nodeTaintsPolicy="Honor"), TAINTED, web(0, "a"))


def test_those_of_nodes_that_it_does_not_select_need_not_either() -> None:
    waits = waiting(nodeAffinityPolicy="Ignore").node_selector(disk="ssd")
    nodes = [small("a", "z1").label(disk="ssd"), small("b", "z2")]
    assert "nodeAffinityPolicy" in changes(waits, nodes, web(0, "a"))
    assert "nodeAffinityPolicy" not in changes(waiting().node_selector(disk="ssd"), nodes, web(0, "a"), web(1, "a"))


@pytest.mark.parametrize("key", ["pod-template-hash", "controller-revision-hash"])
def test_pods_of_an_older_revision_need_not_count(key: str) -> None:
    waits = waiting().label({key: "new"})
    found = changes(waits, NODES, web(0, "a").label({key: "old"}))["matchLabelKeys"]
    assert found.change.details["matchLabelKeys"] == key
    assert spread(found.change, waits).match_label_keys == (key,)


def test_no_change_is_made_to_a_constraint_that_the_profile_gives() -> None:
    """The pod has none that could be otherwise."""
    assert changes(pod("new").label(app="web").cpu("9"), NODES) == {}


def test_only_the_constraint_that_is_in_the_way_is_changed() -> None:
    waits = waiting().spreads("kubernetes.io/hostname", 5, labelSelector=WEB)
    found = changes(waits, NODES, web(0, "a"))["maxSkew"].change
    first, second = found.edited(waits.build()).spec.topology_spread_constraints
    assert (first.max_skew, second.max_skew) == (2, 5)
    assert found.details["constraint"] == "0"
