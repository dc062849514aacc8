"""Storage that is short: a smaller claim or more storage, tried with the pod's own filters."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.builders import node, pod
from tests.explain.whynot.cluster import Cluster
from tests.plugins.storage import capacity, claim, csi_driver, storage_class, uses

ZONE = "topology.kubernetes.io/zone"
IN_A, IN_B, IN_C = ({ZONE: f"zone-{zone}"} for zone in "abc")
NODES = tuple(node(f"{zone}{number}").capacity(cpu="2").zone(f"zone-{zone}") for zone in "ab" for number in (1, 2))
WAITS = pod("x").cpu("1").set("spec.volumes", uses("data"))
CLASS = (storage_class(), csi_driver(capacity=True))


def helps(*objects: Any, waits: Any = WAITS, pods: Any = ()) -> dict[str, str]:
    """What helps by kind, each of it verified by the ordinary simulation; the first of each."""
    cluster = Cluster(NODES, pods, [*CLASS, *objects])
    for found in cluster.found(waits):
        assert asyncio.run(cluster.placed(waits.build(), found.change)).node is not None, found.change.kind
    answer = cluster.why_not(waits)
    return {help_.kind: help_.sentence for help_ in reversed(answer.helps)}


BIG = claim("data", size="10Gi")


class TestSmallerClaim:
    def test_the_largest_that_there_is_room_for(self) -> None:
        told = helps(BIG, capacity("a", "5Gi", **IN_A), capacity("b", "3Gi", **IN_B))
        assert told["smallerClaim"] == "5Gi instead of 10Gi for claim data finds room on a1 or a2"

    def test_a_limit_to_one_volume_counts(self) -> None:
        told = helps(BIG, capacity("a", "50Gi", most="4Gi", **IN_A))
        assert told["smallerClaim"] == "4Gi instead of 10Gi for claim data finds room on a1 or a2"

    def test_odd_amounts_are_rounded_down(self) -> None:
        told = helps(BIG, capacity("a", str(5 * 2**30 + 12345), **IN_A))
        assert told["smallerClaim"].startswith("5120Mi instead of 10Gi")

    def test_not_to_nothing(self) -> None:
        assert "smallerClaim" not in helps(BIG, capacity("a", "0", **IN_A))

    def test_of_two_claims_the_one_that_finds_no_room(self) -> None:
        waits = pod("x").cpu("1").set("spec.volumes", uses("data", "logs"))
        told = helps(BIG, claim("logs", size="1Gi"), capacity("a", "5Gi", **IN_A), waits=waits)
        assert told["smallerClaim"] == "5Gi instead of 10Gi for claim data finds room on a1 or a2"


class TestMoreStorage:
    def test_where_there_is_some(self) -> None:
        on_a1, in_b = capacity("a", "5Gi", host="a1"), capacity("b", "3Gi", **IN_B)
        told = "10Gi free of StorageClass wait in zone-b (3Gi is there now) opens b1 and b2"
        assert helps(BIG, on_a1, in_b)["freeStorage"] == told
        told = "10Gi free of StorageClass wait on a1 (5Gi is there now) opens a1"
        assert helps(BIG, on_a1)["freeStorage"] == told

    def test_where_the_driver_tells_of_none(self) -> None:
        assert helps(BIG)["freeStorage"] == (
            "10Gi free of StorageClass wait on any of 4 nodes (a1, a2, b1, ...), "
            "of which no CSIStorageCapacity tells now"
        )

    def test_a_node_where_there_is_some(self) -> None:
        told = helps(BIG, capacity("a", "5Gi", **IN_A), capacity("c", "20Gi", **IN_C))
        assert told["addNode"] == "one more node like a1 but in zone-c"
