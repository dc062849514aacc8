"""The kinds and their places in the REST API."""

from __future__ import annotations

import pytest

from scheduler.api.objects import ContainerPort, CSIStorageCapacity, Node, Pod
from scheduler.api.resources import KINDS, RESOURCES, resource_of


def test_core_objects_are_below_api_and_others_below_apis() -> None:
    assert (resource_of(Pod).api_version, resource_of(Pod).prefix) == ("v1", "/api/v1")
    capacities = resource_of(CSIStorageCapacity)
    assert (capacities.api_version, capacities.prefix) == ("storage.k8s.io/v1", "/apis/storage.k8s.io/v1")
    assert capacities.plural == "csistoragecapacities"


def test_each_kind_is_found_by_its_api_version_and_name() -> None:
    assert KINDS["v1", "Node"] is Node
    assert len(KINDS) == len(RESOURCES)
    assert all(resource.kind == resource.type.__name__ for resource in RESOURCES)


def test_cluster_wide_kinds_have_no_namespace() -> None:
    assert {resource.kind for resource in RESOURCES if not resource.namespaced} == {
        "Node", "Namespace", "PersistentVolume", "PriorityClass", "StorageClass", "CSINode", "CSIDriver",
        "VolumeAttachment", "ResourceSlice", "DeviceClass",
    }  # fmt: skip


def test_a_part_of_an_object_is_no_resource() -> None:
    with pytest.raises(KeyError):
        resource_of(ContainerPort)
