"""Free storage as CSI drivers publish it: what is told of claims that find none."""

from __future__ import annotations

from typing import Any

from scheduler.api.claims import SELECTED_NODE
from scheduler.explain.whynot.storage import lacks_room, zones_with_room
from scheduler.explain.whynot.survey import Survey
from tests.builders import node, pod
from tests.explain.whynot.cluster import Cluster
from tests.plugins.storage import capacity, claim, csi_driver, storage_class, uses

ZONE = "topology.kubernetes.io/zone"
IN_A, IN_B, IN_C = ({ZONE: f"zone-{zone}"} for zone in "abc")
NODES = tuple(node(f"{zone}{number}").capacity(cpu="2").zone(f"zone-{zone}") for zone in "ab" for number in (1, 2))
WAITS = pod("x").cpu("1").set("spec.volumes", uses("data"))
CLASS = (storage_class(), csi_driver(capacity=True))
BIG = claim("data", size="10Gi")


def facts(*objects: Any, pods: Any = ()) -> tuple[str, ...]:
    """What is told of the claims besides that they are not bound."""
    return Cluster(NODES, pods, [*CLASS, *objects]).why_not(WAITS).facts[1:]


def surveyed(*objects: Any, waits: Any = WAITS) -> Survey:
    """What the filters say."""
    cluster = Cluster(NODES, (), [*CLASS, *objects])
    return Survey(cluster.state, cluster.profile, cluster.info(waits))


def test_the_most_there_is() -> None:
    assert facts(BIG, capacity("a", "5Gi", **IN_A), capacity("b", "8Gi", host="b2")) == (
        "claim data wants 10Gi of StorageClass wait; the most that is free in one piece is 8Gi, on b2",
    )


def test_what_keeps_the_pod_off_the_nodes_that_have_enough() -> None:
    full = [pod(f"p{number}").cpu("2").on(f"b{number}") for number in (1, 2)]
    assert facts(BIG, capacity("a", "5Gi", **IN_A), capacity("b", "20Gi", **IN_B), pods=full) == (
        "claim data wants 10Gi of StorageClass wait, which is free in zone-b; the 2 nodes there lack CPU",
    )


def test_there_is_no_node_where_there_is_enough() -> None:
    assert facts(BIG, capacity("c", "20Gi", **IN_C)) == (
        "claim data wants 10Gi of StorageClass wait, which is free in zone-c; no node is there",
    )


def test_nobody_tells() -> None:
    assert facts(BIG) == (
        "claim data wants 10Gi of StorageClass wait; no CSIStorageCapacity tells of any that is free",
    )


def test_a_claim_that_finds_room_is_not_told_of_where_another_one_finds_none() -> None:
    waits = pod("x").set("spec.volumes", uses("data", "logs"))
    objects = (BIG, claim("logs", size="1Gi"), capacity("a", "5Gi", **IN_A))
    told = Cluster(NODES, (), [*CLASS, *objects]).why_not(waits).facts[2:]
    assert told == ("claim data wants 10Gi of StorageClass wait; the most that is free in one piece is 5Gi, in zone-a",)


def test_places_are_named_by_what_the_driver_goes_by() -> None:
    odd = capacity("odd", "1Gi", **{"example.com/rack": "7"})
    assert facts(BIG, odd)[0].endswith("is 1Gi, in example.com/rack 7")
    assert facts(BIG, capacity("all", "1Gi"))[0].endswith("is 1Gi, everywhere")


def test_a_volume_that_is_being_made_is_waited_for() -> None:
    made = claim("data", size="10Gi", annotations={SELECTED_NODE: "a1"})
    assert facts(made, capacity("a", "5Gi", **IN_A)) == ()


def test_zones_must_have_room_for_all_claims() -> None:
    waits = pod("x").set("spec.volumes", uses("data", "logs"))
    objects = (BIG, claim("logs", size="3Gi"), capacity("a", "5Gi", **IN_A), capacity("b", "20Gi", **IN_B))
    assert zones_with_room(surveyed(*objects, waits=waits)) == ["zone-b"]
    assert zones_with_room(surveyed(BIG)) == []


def test_rows_without_room_are_known() -> None:
    survey = surveyed(BIG, capacity("a", "20Gi", **IN_A))
    rows = survey.live.nonzero()[0]
    names = survey.state.nodes.name
    assert [names(row) for row in rows[lacks_room(survey, rows)].tolist()] == ["b1", "b2"]
