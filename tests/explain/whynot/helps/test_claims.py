"""Claims that are missing, or not bound: what to make, tried with the pod's own filters."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from tests.builders import node, pod
from tests.explain.whynot.cluster import Cluster
from tests.plugins.storage import claim, csi_node, storage_class, uses

NODES = (node("n1").capacity(cpu="2"), node("n2").capacity(cpu="2"))
WAITS = pod("a").cpu("1").set("spec.volumes", uses("data"))


def default(made: Any) -> Any:
    """The class that claims get which name none."""
    marked = {"storageclass.kubernetes.io/is-default-class": "true"}
    return replace(made, metadata=replace(made.metadata, annotations=marked))


def helps(objects: list[Any], waits: Any = WAITS, nodes: Any = NODES) -> list[str]:
    """What helps, each of it verified by the ordinary simulation."""
    cluster = Cluster(nodes, (), objects)
    for found in cluster.found(waits):
        assert asyncio.run(cluster.placed(waits.build(), found.change)).node is not None
    return [help_.sentence for help_ in cluster.why_not(waits).helps]


def test_a_claim_that_does_not_exist_is_named() -> None:
    told = "creating and binding the PersistentVolumeClaim data in namespace default opens n1 and n2"
    assert helps([]) == [told]


def test_all_that_do_not_exist_are_needed() -> None:
    waits = pod("a").set("spec.volumes", uses("data", "logs", "tmp"))
    assert helps([claim("logs"), storage_class()], waits) == [
        "creating and binding the PersistentVolumeClaims data and tmp in namespace default opens n1 and n2"
    ]


def test_with_a_default_class_that_waits_for_the_pod_it_need_not_be_bound() -> None:
    assert helps([default(storage_class())]) == [
        "creating the PersistentVolumeClaim data in namespace default opens n1 and n2"
    ]
    assert helps([default(storage_class(mode="Immediate"))])[0].startswith("creating and binding the Persistent")


def test_the_claim_of_an_ephemeral_volume_is_left_to_the_cluster() -> None:
    template: dict[str, Any] = {"volumeClaimTemplate": {"spec": {}}}
    assert helps([], pod("a").volume("scratch", ephemeral=template)) == []


@pytest.mark.parametrize(
    ("objects", "first"),
    [
        (
            [claim("data", "fast"), storage_class("fast", mode="Immediate")],
            "a volume of 5Gi of StorageClass fast bound to claim data opens n1 and n2",
        ),
        ([claim("data", "")], "a volume of 5Gi bound to claim data opens n1 and n2"),
        ([claim("data", "gone")], "a volume of 5Gi of StorageClass gone bound to claim data opens n1 and n2"),
    ],
)
def test_a_claim_that_binds_immediately_wants_a_volume(objects: list[Any], first: str) -> None:
    assert helps(objects)[0] == first


def test_two_claims_want_two() -> None:
    waits = pod("a").set("spec.volumes", uses("data", "logs"))
    assert helps([claim("data", ""), claim("logs", "", "1Gi")], waits) == [
        "a volume of 5Gi bound to claim data and a volume of 1Gi bound to claim logs open n1 and n2"
    ]


def test_a_volume_counts_on_nodes_that_take_no_more_of_its_driver() -> None:
    objects = [claim("data", "fast"), storage_class("fast", mode="Immediate"), csi_node("n1", {"csi.example.com": 0})]
    assert helps(objects)[0].endswith("bound to claim data opens n2")


def test_what_is_in_the_way_behind_a_missing_claim_is_found_as_well() -> None:
    told = helps([], nodes=[node("n1").capacity(cpu="2").taint("x")])
    assert told[0] == (
        "creating and binding the PersistentVolumeClaim data in namespace default and a toleration for x:NoSchedule "
        "together open n1"
    )
