"""What all structs have in common, and names that camel case alone would get wrong."""

from __future__ import annotations

import msgspec
import pytest

from scheduler.api import objects
from scheduler.api.decode import decode_as
from scheduler.api.objects import (
    AWSElasticBlockStoreVolumeSource,
    AzureDiskVolumeSource,
    ContainerPort,
    CSINodeDriver,
    Model,
    NodeSpec,
    Pod,
    PodSpec,
    Volume,
    VsphereVirtualDiskVolumeSource,
)

STRUCTS = [getattr(objects, name) for name in objects.__all__ if isinstance(getattr(objects, name), type)]


@pytest.mark.parametrize("struct", STRUCTS, ids=lambda struct: struct.__name__)
def test_every_struct_is_immutable_and_can_be_empty(struct: type[Model]) -> None:
    empty = struct()
    assert decode_as(struct, b"{}") == empty
    for name in struct.__struct_fields__:
        with pytest.raises(AttributeError):
            setattr(empty, name, None)


@pytest.mark.parametrize(
    ("struct", "name", "json_name"),
    [
        (NodeSpec, "provider_id", "providerID"),
        (ContainerPort, "host_ip", "hostIP"),
        (CSINodeDriver, "node_id", "nodeID"),
        (AWSElasticBlockStoreVolumeSource, "volume_id", "volumeID"),
        (AzureDiskVolumeSource, "disk_uri", "diskURI"),
        (VsphereVirtualDiskVolumeSource, "storage_policy_id", "storagePolicyID"),
        (Volume, "gce_persistent_disk", "gcePersistentDisk"),
        (Volume, "aws_elastic_block_store", "awsElasticBlockStore"),
        (PodSpec, "topology_spread_constraints", "topologySpreadConstraints"),
    ],
)
def test_fields_have_kubernetes_json_names(struct: type[Model], name: str, json_name: str) -> None:
    assert struct.__struct_encode_fields__[struct.__struct_fields__.index(name)] == json_name


def test_decoded_objects_do_not_share_their_empty_maps() -> None:
    one, other = (decode_as(Pod, b'{"metadata": {}}') for _ in range(2))
    assert one.metadata.labels is not other.metadata.labels


def test_the_bytes_of_equal_structs_are_equal_whatever_the_order_of_their_maps() -> None:
    one = decode_as(PodSpec, b'{"nodeSelector": {"a": "1", "b": "2"}}')
    other = decode_as(PodSpec, b'{"nodeSelector": {"b": "2", "a": "1"}}')
    assert msgspec.msgpack.encode(one, order="deterministic") == msgspec.msgpack.encode(other, order="deterministic")
