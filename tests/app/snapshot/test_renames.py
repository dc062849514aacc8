"""Which fields hold names, and of what."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.app.snapshot.pseudonyms import Collected
from scheduler.app.snapshot.renames import Renames
from scheduler.app.snapshot.trimming import Trimmer
from tests.app.whatif.worlds import read
from tests.builders import PodBuilder, expression, node, pod, term


def renamed(*items: Any) -> list[Any]:
    """The objects (builders, or what is in a file) as JSON values with pseudonyms."""
    built = [read(item) if isinstance(item, dict) else item.build() for item in items]
    collected = Collected()
    found = []
    for names in (collected, None):
        renames = Renames(names or collected.pseudonyms())
        trimmer = Trimmer(renames.table())
        found = []
        for item in built:
            renames.kind = type(item).__name__
            if renames.kind == "Pod":
                renames.pod(item)
            found.append(trimmer.value(item))
    return found


def volume_of(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": spec}


class TestLabels:
    @pytest.mark.parametrize(
        ("key", "value", "written"),
        [
            ("team", "blue", {"key-1": "value-1"}),
            ("example.com/team", "blue", {"key-1": "value-1"}),
            ("node.kubernetes.io/instance-type", "m5", {"node.kubernetes.io/instance-type": "value-1"}),
            ("team", "", {"key-1": ""}),
            ("spot", "true", {"key-1": "true"}),
            ("kubernetes.io/os", "linux", {"kubernetes.io/os": "linux"}),
            ("topology.kubernetes.io/zone", "a", {"topology.kubernetes.io/zone": "zone1"}),
            ("topology.kubernetes.io/region", "eu", {"topology.kubernetes.io/region": "region-1"}),
            ("topology.kubernetes.io/zone", "eu-west1-b", {"topology.kubernetes.io/zone": "region-1-zonepart1"}),
        ],
    )
    def test_keys_and_values(self, key: str, value: str, written: dict[str, str]) -> None:
        (found,) = renamed(pod("p").label({key: value}))
        assert found["metadata"]["labels"] == written

    def test_a_host_name_is_that_of_its_node(self) -> None:
        (found,) = renamed(node("n1"))
        assert found["metadata"]["labels"]["kubernetes.io/hostname"] == found["metadata"]["name"] == "node-1"

    def test_zones_of_a_volume_are_those_of_the_nodes(self) -> None:
        key = "topology.kubernetes.io/zone"
        first, second, volume = renamed(
            node("n1").zone("a"),
            node("n2").zone("b"),
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": "pv", "labels": {key: "a__b"}},
                "spec": {},
            },
        )
        zones = [item["metadata"]["labels"][key] for item in (first, second)]
        assert volume["metadata"]["labels"][key] == "__".join(zones)

    def test_selectors_have_the_same_pseudonyms(self) -> None:
        wanted = term(expression("disk", "In", "ssd"), fields=[expression("metadata.name", "In", "n1")])
        written, found = renamed(node("n1").label(disk="ssd"), pod("p").requires_node(wanted))
        (one,) = found["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
            "nodeSelectorTerms"
        ]
        (key,) = [key for key in written["metadata"]["labels"] if key.startswith("key")]
        assert one["matchExpressions"] == [
            {"key": key, "operator": "In", "values": [written["metadata"]["labels"][key]]}
        ]
        assert one["matchFields"] == [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]

    def test_numbers_that_are_compared_stay_and_others_do_not(self) -> None:
        more = pod("p").requires_node(term(expression("generation", "Gt", "3")))
        written, _ = renamed(node("n").label(generation="7", rack="7"), more)
        assert sorted(written["metadata"]["labels"].values()) == ["7", "node-1", "value-2"]

    def test_numbers_that_taints_are_compared_by_stay(self) -> None:
        written, found = renamed(node("n").taint("sla", "950"), pod("p").tolerates("sla", operator="Gt", value="900"))
        assert written["spec"]["taints"][0]["value"] == "950"
        assert found["spec"]["tolerations"][0]["value"] == "900"


class TestPods:
    def owned(self, name: str, owner: str) -> PodBuilder:
        return pod(name).owned_by("StatefulSet", owner)

    def test_a_stateful_sets_pods_keep_their_numbers_and_claims(self) -> None:
        claims = {"persistentVolumeClaim": {"claimName": "data-db-1"}}
        (found,) = renamed(self.owned("db-1", "db").volume("data", **claims))
        assert found["metadata"]["name"] == "statefulset-1-1"
        assert found["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] == "claimtemplate-1-statefulset-1-1"

    def test_claims_of_generic_ephemeral_volumes_keep_to_their_pods(self) -> None:
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "web-tmp"}, "spec": {}}
        found, written = renamed(pod("web").volume("tmp", ephemeral={"volumeClaimTemplate": {"spec": {}}}), claim)
        assert written["metadata"]["name"] == f"{found['metadata']['name']}-{found['spec']['volumes'][0]['name']}"

    def test_images_are_the_same_with_and_without_the_tag_that_is_meant(self) -> None:
        first, second = renamed(pod("a").image("app"), pod("b").image("app:latest"))
        assert first["spec"]["containers"][0]["image"] == second["spec"]["containers"][0]["image"] == "image-1:1"

    def test_addresses_that_mean_all_of_them_stay(self) -> None:
        (found,) = renamed(pod("a").host_port(80).host_port(81, address="0.0.0.0").host_port(82, address="10.1.2.3"))
        ports = [c["ports"][0] for c in found["spec"]["containers"] if "ports" in c]
        assert [port.get("hostIP") for port in ports] == [None, "0.0.0.0", "address-1"]

    def test_priority_classes_of_the_system_stay(self) -> None:
        first, second = renamed(
            pod("a").set("spec.priorityClassName", "system-node-critical"),
            pod("b").set("spec.priorityClassName", "gold"),
        )
        assert first["spec"]["priorityClassName"] == "system-node-critical"
        assert second["spec"]["priorityClassName"] == "priorityclass-1"


class TestVolumes:
    @pytest.mark.parametrize(
        ("spec", "handle"),
        [
            ({"csi": {"driver": "d", "volumeHandle": "vol-0abc"}}, "vol-1"),
            (
                {"csi": {"driver": "d", "volumeHandle": "projects/p/zones/a/disks/x"}},
                "projects/vol-1/zones/zone1/disks/vol-2",
            ),
        ],
    )
    def test_handles(self, spec: dict[str, Any], handle: str) -> None:
        (found,) = renamed(volume_of(**spec))
        assert found["spec"]["csi"] == {"driver": "d", "volumeHandle": handle}

    def test_a_volume_is_the_same_in_tree_and_out(self) -> None:
        first, second = renamed(
            volume_of(awsElasticBlockStore={"volumeID": "aws://us-east-1a/vol-0abc"}),
            volume_of(csi={"driver": "ebs.csi.aws.com", "volumeHandle": "vol-0abc"}),
        )
        before, _, last = first["spec"]["awsElasticBlockStore"]["volumeID"].rpartition("/")
        assert before == "aws://region-1-zonepart1"
        assert last == second["spec"]["csi"]["volumeHandle"] == "vol-1"

    def test_the_name_of_a_csi_node_is_its_nodes_and_drivers_keep_theirs(self) -> None:
        csi = {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSINode",
            "metadata": {"name": "n1"},
            "spec": {"drivers": [{"name": "d.example.com", "nodeID": "secret", "topologyKeys": ["rack"]}]},
        }
        _, found = renamed(node("n1"), csi)
        assert found["metadata"]["name"] == "node-1"
        assert found["spec"]["drivers"] == [{"name": "d.example.com", "topologyKeys": ["key-1"]}]

    def test_the_node_that_was_selected_for_a_claim(self) -> None:
        annotations = {"volume.kubernetes.io/selected-node": "n1", "example.com/other": "n1"}
        claim = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "c", "annotations": annotations},
            "spec": {},
        }
        _, found = renamed(node("n1"), claim)
        assert found["metadata"]["annotations"] == {"volume.kubernetes.io/selected-node": "node-1"}
