"""The stand-in for volume controllers, and simulations that need it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from scheduler.app.simulation import Simulation
from scheduler.app.volume_controller import VolumeControllerStandIn
from scheduler.client.kinds import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from scheduler.client.memory import MemoryCluster
from scheduler.config.features import FeatureGates
from scheduler.config.load import default_config
from scheduler.plugins.registry import IN_TREE
from tests.builders import node, pod
from tests.plugins.storage import DRIVER, claim, csi_node, storage_class, uses, volume

SELECTED = "volume.kubernetes.io/selected-node"
ZONE = "topology.kubernetes.io/zone"


def cluster_of(*objects: Any) -> MemoryCluster:
    cluster = MemoryCluster(objects)
    VolumeControllerStandIn(cluster)
    cluster.sync()
    return cluster


def claim_in(cluster: MemoryCluster, name: str = "c") -> Any:
    return cluster.get(PERSISTENT_VOLUME_CLAIMS, "default", name)


def test_free_volumes_become_available() -> None:
    cluster = cluster_of(volume("new", phase="Pending"), volume("old", phase="Released"))
    assert {v.metadata.name: v.status.phase for v in cluster.list(PERSISTENT_VOLUMES)} == {
        "new": "Available",
        "old": "Released",
    }


def test_a_volume_that_is_reserved_for_a_claim_is_bound_to_it() -> None:
    cluster = cluster_of(claim("c"), volume("v"))
    found = cluster.get(PERSISTENT_VOLUMES, "", "v")
    assert found is not None
    reference = volume("v", claimRef={"namespace": "default", "name": "c", "uid": "uid-c"}).spec.claim_ref
    cluster.update_volume(replace(found, spec=replace(found.spec, claim_ref=reference)))
    bound = claim_in(cluster)
    assert (bound.spec.volume_name, bound.status.phase) == ("v", "Bound")
    assert bound.metadata.annotations["pv.kubernetes.io/bind-completed"] == "yes"
    stored = cluster.get(PERSISTENT_VOLUMES, "", "v")
    assert stored is not None
    assert stored.status.phase == "Bound"


@pytest.mark.parametrize("uid", ["", "another"])
def test_a_volume_for_another_claim_of_that_name_is_not(uid: str) -> None:
    reference = {"namespace": "default", "name": "c", "uid": uid}
    assert claim_in(cluster_of(claim("c"), volume("v", claimRef=reference))).spec.volume_name == ""


class TestProvisioning:
    node = node("n").zone("z").build()

    def made(self, *objects: Any) -> Any:
        cluster = cluster_of(self.node, storage_class(), *objects)
        cluster.put(claim("c", annotations={SELECTED: "n"}))
        name = claim_in(cluster).spec.volume_name
        return cluster.get(PERSISTENT_VOLUMES, "", name)

    def test_a_claim_with_a_selected_node_gets_a_volume(self) -> None:
        found = self.made()
        assert found.metadata.name == "pvc-uid-c"
        assert (found.spec.storage_class_name, found.spec.capacity) == ("wait", {"storage": "5Gi"})
        assert (found.spec.csi.driver, found.spec.node_affinity) == (DRIVER, None)
        assert found.status.phase == "Bound"

    def test_which_is_in_the_drivers_segment_of_that_node(self) -> None:
        csi = csi_node("n")
        drivers = tuple(replace(each, topology_keys=(ZONE, "missing")) for each in csi.spec.drivers)
        found = self.made(replace(csi, spec=replace(csi.spec, drivers=drivers)))
        (term,) = found.spec.node_affinity.required.node_selector_terms
        assert [(each.key, each.values) for each in term.match_expressions] == [(ZONE, ("z",))]

    def test_a_claim_without_one_waits(self) -> None:
        cluster = cluster_of(self.node, storage_class(), claim("c"))
        assert cluster.list(PERSISTENT_VOLUMES) == []


async def simulate(*objects: Any) -> dict[str, str | None]:
    gates = FeatureGates()
    simulation = Simulation(
        objects, default_config(feature_gates=gates), registry=IN_TREE, gates=gates, takes_all=True, seed=0
    )
    return {decision.pod: decision.node for decision in await simulation.run()}


async def test_a_simulation_goes_on_with_the_volumes_that_are_left() -> None:
    nodes = [node(name).build() for name in "ab"]
    volumes = [volume(f"v-{name}", node=name, phase="") for name in "ab"]
    claims = [claim(f"c{number}", version="") for number in range(3)]
    pods = [pod(f"p{number}").set("spec.volumes", uses(f"c{number}")).build() for number in range(3)]
    local = storage_class(provisioner="kubernetes.io/no-provisioner")
    found = await simulate(*nodes, *volumes, *claims, local, *pods)
    assert sorted(map(str, found.values())) == ["None", "a", "b"]


async def test_pods_of_one_claim_stay_together_once_it_is_provisioned() -> None:
    csi = [csi_node(name) for name in "ab"]
    keyed = [
        replace(
            each, spec=replace(each.spec, drivers=tuple(replace(d, topology_keys=(ZONE,)) for d in each.spec.drivers))
        )
        for each in csi
    ]
    nodes = [node(name).zone(f"zone-{name}").build() for name in "ab"]
    pods = [pod(f"p{number}").set("spec.volumes", uses("c")).build() for number in range(4)]
    found = await simulate(*nodes, *keyed, storage_class(), claim("c", version=""), *pods)
    assert len(set(found.values())) == 1
    assert None not in found.values()
