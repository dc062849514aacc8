"""In-tree volumes as volumes of the CSI drivers that replace them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from scheduler.api.csi_migration import (
    MigrationError,
    in_tree_by_name,
    in_tree_of,
    inline_handle,
    translated,
)
from scheduler.api.objects import PersistentVolume, Volume
from scheduler.api.topology_labels import BETA_REGION_LABEL, BETA_ZONE_LABEL, REGION_LABEL, ZONE_LABEL

EBS_ZONE = "topology.ebs.csi.aws.com/zone"
EBS = {"awsElasticBlockStore": {"volumeID": "vol-1"}}
DRIVERS = [
    ({"gcePersistentDisk": {"pdName": "d"}}, "kubernetes.io/gce-pd", "pd.csi.storage.gke.io"),
    (EBS, "kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
    ({"cinder": {"volumeID": "d"}}, "kubernetes.io/cinder", "cinder.csi.openstack.org"),
    ({"azureDisk": {"diskURI": "d"}}, "kubernetes.io/azure-disk", "disk.csi.azure.com"),
    ({"portworxVolume": {"volumeID": "d"}}, "kubernetes.io/portworx-volume", "pxd.portworx.com"),
    ({"azureFile": {}}, "kubernetes.io/azure-file", "file.csi.azure.com"),
    ({"vsphereVolume": {}}, "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"),
]


def inline(**source: Any) -> Volume:
    return msgspec.convert({"name": "v", **source}, Volume)


def volume(labels: dict[str, str] | None = None, **spec: Any) -> PersistentVolume:
    return msgspec.convert({"metadata": {"name": "v", "labels": labels or {}}, "spec": spec}, PersistentVolume)


def requirement(key: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": list(values)}


def affinity(*terms: list[dict[str, Any]]) -> dict[str, Any]:
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}}


def moved(labels: dict[str, str] | None = None, node_affinity: Any = None, **source: Any) -> Any:
    """The node affinity of a volume once translated, as lists of (key, values) for each term."""
    old = volume(labels, nodeAffinity=node_affinity, **(source or EBS))
    plugin = in_tree_of(old.spec)
    assert plugin is not None
    found = translated(old, plugin).spec.node_affinity
    if found is None or found.required is None:
        return None
    return [[(each.key, each.values) for each in t.match_expressions] for t in found.required.node_selector_terms]


def handle(**source: Any) -> str:
    one = inline(**source)
    plugin = in_tree_of(one)
    assert plugin is not None
    return inline_handle(one, plugin)


@pytest.mark.parametrize(
    ("source", "name", "driver"), DRIVERS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_each_in_tree_plugin_has_a_driver(source: dict[str, Any], name: str, driver: str) -> None:
    found = in_tree_of(inline(**source))
    assert found is not None
    assert (found.plugin, found.driver) == (name, driver)
    assert in_tree_of(volume(**source).spec) is found is in_tree_by_name(name)
    assert found.migrated is (name not in ("kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"))


def test_other_volumes_have_none() -> None:
    assert in_tree_of(inline(iscsi={})) is None
    assert in_tree_by_name("csi.example.com") is None


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"gcePersistentDisk": {"pdName": "d"}}, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"),
        (EBS, "vol-1"),
        ({"awsElasticBlockStore": {"volumeID": "aws://zone/vol-1"}}, "vol-1"),
        ({"awsElasticBlockStore": {"volumeID": "aws:///vol-1"}}, "vol-1"),
        ({"cinder": {"volumeID": "d"}}, "d"),
        ({"portworxVolume": {"volumeID": "d"}}, "d"),
        ({"azureDisk": {"diskURI": "d", "kind": "MANAGED"}}, "d"),
    ],
)
def test_handles(source: dict[str, Any], expected: str) -> None:
    assert handle(**source) == expected


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (
            {"awsElasticBlockStore": {"volumeID": "aws://zone/disk"}},
            "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://zone/disk)",
        ),
        ({"azureDisk": {"diskURI": "d", "kind": "Dedicated"}}, "kind(Dedicated) is not supported in csi migration"),
    ],
)
def test_what_can_not_be_translated(source: dict[str, Any], problem: str) -> None:
    with pytest.raises(MigrationError) as caught:
        handle(**source)
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({}, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"),
        ({ZONE_LABEL: "z"}, "projects/UNSPECIFIED/zones/z/disks/d"),
        ({ZONE_LABEL: "z", BETA_ZONE_LABEL: "beta"}, "projects/UNSPECIFIED/zones/beta/disks/d"),
        ({ZONE_LABEL: "us-east1-a__us-east1-b"}, "projects/UNSPECIFIED/regions/us-east1/disks/d"),
    ],
)
def test_a_gce_disk_is_named_after_its_zone_or_region(labels: dict[str, str], expected: str) -> None:
    old = volume(labels, gcePersistentDisk={"pdName": "d"})
    plugin = in_tree_of(old.spec)
    assert plugin is not None
    csi = translated(old, plugin).spec.csi
    assert csi is not None
    assert (csi.driver, csi.volume_handle) == ("pd.csi.storage.gke.io", expected)


@pytest.mark.parametrize("zones", ["a__b", "us-east1-a__us-west1-a"])
def test_zones_of_no_common_region_are_an_error(zones: str) -> None:
    with pytest.raises(MigrationError, match="failed to get region from zones"):
        moved({ZONE_LABEL: zones}, gcePersistentDisk={"pdName": "d"})


class TestTopology:
    def test_zones_move_to_the_drivers_key(self) -> None:
        terms = affinity([requirement(ZONE_LABEL, "a"), requirement("other", "x")], [requirement(ZONE_LABEL, "b")])
        assert moved(None, terms) == [[(EBS_ZONE, ("a",)), ("other", ("x",))], [(EBS_ZONE, ("b",))]]

    def test_beta_zones_move_too_and_beta_regions_become_general(self) -> None:
        terms = affinity([requirement(BETA_ZONE_LABEL, "a"), requirement(BETA_REGION_LABEL, "r")])
        assert moved(None, terms) == [[(EBS_ZONE, ("a",)), (REGION_LABEL, ("r",))]]

    def test_without_a_zone_in_the_affinity_the_label_is_added_to_each_term(self) -> None:
        assert moved({ZONE_LABEL: "b__a__ "}) == [[(EBS_ZONE, ("a", "b"))]]
        terms = affinity([requirement("other", "x")], [requirement("more", "y")])
        zone = (EBS_ZONE, ("z",))
        assert moved({BETA_ZONE_LABEL: "z"}, terms) == [[("other", ("x",)), zone], [("more", ("y",)), zone]]

    def test_a_zone_in_the_affinity_wins_over_the_label(self) -> None:
        assert moved({ZONE_LABEL: "label"}, affinity([requirement(ZONE_LABEL, "a")])) == [[(EBS_ZONE, ("a",))]]

    def test_without_any_zone_nothing_is_added(self) -> None:
        assert moved() is None
        assert moved({ZONE_LABEL: " "}) is None

    def test_azure_disks_keep_theirs(self) -> None:
        terms = affinity([requirement(ZONE_LABEL, "a")])
        assert moved({ZONE_LABEL: "z"}, terms, azureDisk={"diskURI": "d"}) == [[(ZONE_LABEL, ("a",))]]
