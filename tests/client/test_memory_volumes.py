"""Volumes and claims of the in-process cluster are written as the API server would write them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from scheduler.api.objects import ObjectReference, PersistentVolume, PersistentVolumeClaim
from scheduler.client.errors import ApiError
from scheduler.client.kinds import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from scheduler.client.memory import MemoryCluster, MemoryWriter


def annotated(item: Any, **annotations: str) -> Any:
    return replace(item, metadata=replace(item.metadata, annotations=annotations))


@pytest.fixture
def cluster() -> MemoryCluster:
    volume = {"metadata": {"name": "v", "annotations": {"kept": "1"}}, "status": {"phase": "Available"}}
    claim = {"metadata": {"name": "c", "namespace": "ns"}}
    return MemoryCluster([msgspec.convert(volume, PersistentVolume), msgspec.convert(claim, PersistentVolumeClaim)])


async def test_a_volume_gets_its_reference_and_annotations(cluster: MemoryCluster) -> None:
    (before,) = cluster.list(PERSISTENT_VOLUMES)
    reference = ObjectReference(namespace="ns", name="c", uid="u")
    wanted = annotated(replace(before, spec=replace(before.spec, claim_ref=reference)), more="2")
    after = await MemoryWriter(cluster).update_volume(wanted)
    assert after == cluster.get(PERSISTENT_VOLUMES, "", "v")
    assert after.spec.claim_ref == reference
    assert after.metadata.annotations == {"kept": "1", "more": "2"}
    assert after.metadata.resource_version != before.metadata.resource_version


async def test_a_claim_gets_its_annotations(cluster: MemoryCluster) -> None:
    (before,) = cluster.list(PERSISTENT_VOLUME_CLAIMS)
    after = await MemoryWriter(cluster).update_claim(annotated(before, more="2"))
    assert after.metadata.annotations == {"more": "2"}


async def test_another_version_is_a_conflict(cluster: MemoryCluster) -> None:
    (before,) = cluster.list(PERSISTENT_VOLUMES)
    cluster.put(before)
    with pytest.raises(ApiError) as caught:
        await MemoryWriter(cluster).update_volume(before)
    assert caught.value.is_conflict
    assert str(caught.value) == (
        'Operation cannot be fulfilled on persistentvolumes "v": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )


async def test_what_is_gone_is_not_found(cluster: MemoryCluster) -> None:
    (claim,) = cluster.list(PERSISTENT_VOLUME_CLAIMS)
    cluster.delete(PERSISTENT_VOLUME_CLAIMS, "ns", "c")
    with pytest.raises(ApiError, match='persistentvolumeclaims "c" not found') as caught:
        await MemoryWriter(cluster).update_claim(claim)
    assert caught.value.is_not_found
