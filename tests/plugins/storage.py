"""Builders of claims, volumes and classes for tests of the volume plugins; dictionaries have JSON names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from scheduler.api.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from scheduler.framework.handle import Handle
from tests.plugins.harness import UnusedBinder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.cache.state import ClusterState

DRIVER = "csi.example.com"
HOST = "kubernetes.io/hostname"
COMPLETED = {"pv.kubernetes.io/bind-completed": "yes"}
GATES = ("StorageCapacityScoring", "VolumeLimitScaling")


def claim(
    name: str,
    storage_class: str | None = "wait",
    size: str = "5Gi",
    *,
    volume: str = "",
    annotations: Mapping[str, str] | None = None,
    phase: str = "",
    owner: str = "",
    deleted: bool = False,
    namespace: str = "default",
    version: str = "1",
    **spec: Any,
) -> PersistentVolumeClaim:
    """A claim that reads and writes once; with `volume` it is fully bound."""
    meta: dict[str, Any] = {"name": name, "namespace": namespace, "uid": f"uid-{name}", "resourceVersion": version}
    meta["annotations"] = {**(COMPLETED if volume else {}), **(annotations or {})}
    if owner:
        meta["ownerReferences"] = [{"uid": owner, "controller": True}]
    if deleted:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    document = {
        "metadata": meta,
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class,
            "resources": {"requests": {"storage": size}},
            "volumeName": volume,
            **spec,
        },
        "status": {"phase": phase},
    }
    return msgspec.convert(document, PersistentVolumeClaim)


def volume(
    name: str,
    storage_class: str = "wait",
    size: str = "10Gi",
    *,
    node: str = "",
    reserved: str = "",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    phase: str = "Available",
    deleted: bool = False,
    version: str = "1",
    **spec: Any,
) -> PersistentVolume:
    """A free volume that reads and writes once; `node` is the only one that reaches it, `reserved` a claim's name."""
    meta: dict[str, Any] = {"name": name, "uid": f"uid-{name}", "resourceVersion": version}
    meta |= {"labels": labels or {}, "annotations": annotations or {}}
    if deleted:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    fields: dict[str, Any] = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        **spec,
    }
    if node:
        fields["nodeAffinity"] = affinity(HOST, node)
    if reserved:
        fields["claimRef"] = {"namespace": "default", "name": reserved}
    return msgspec.convert({"metadata": meta, "spec": fields, "status": {"phase": phase}}, PersistentVolume)


def affinity(key: str, *values: str) -> dict[str, Any]:
    """A volume's node affinity."""
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}
    return {"required": {"nodeSelectorTerms": [term]}}


def storage_class(
    name: str = "wait",
    provisioner: str = DRIVER,
    mode: str | None = "WaitForFirstConsumer",
    topologies: Mapping[str, list[str]] | None = None,
) -> StorageClass:
    """A class; `topologies` are the values of label keys that are allowed together."""
    document: dict[str, Any] = {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode}
    if topologies is not None:
        expressions = [{"key": key, "values": values} for key, values in topologies.items()]
        document["allowedTopologies"] = [{"matchLabelExpressions": expressions}]
    return msgspec.convert(document, StorageClass)


def csi_node(
    name: str, limits: Mapping[str, int | None] | None = None, *, migrated: str = "", driver: str = DRIVER
) -> CSINode:
    """A CSINode with these drivers, None for one without a limit; without `limits` with one such driver."""
    drivers = [
        {"name": each, "nodeID": name, "allocatable": None if limit is None else {"count": limit}}
        for each, limit in ({driver: None} if limits is None else limits).items()
    ]
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": migrated} if migrated else {}
    document = {"metadata": {"name": name, "annotations": annotations}, "spec": {"drivers": drivers}}
    return msgspec.convert(document, CSINode)


def csi_driver(name: str = DRIVER, *, capacity: bool | None = None, needed: bool | None = None) -> CSIDriver:
    """A CSIDriver; `needed` keeps pods off nodes that lack it."""
    spec = {"storageCapacity": capacity, "preventPodSchedulingIfMissing": needed}
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, CSIDriver)


def capacity(
    name: str, free: str | None, *, most: str | None = None, storage_class: str = "wait", **labels: str
) -> CSIStorageCapacity:
    """Free space for nodes with these labels (underscores stand for the slash and dots of the hostname label)."""
    selector = {HOST if key == "host" else key: value for key, value in labels.items()}
    document = {
        "metadata": {"name": name, "namespace": "kube-system"},
        "storageClassName": storage_class,
        "nodeTopology": {"matchLabels": selector},
        "capacity": free,
        "maximumVolumeSize": most,
    }
    return msgspec.convert(document, CSIStorageCapacity)


def attachment(name: str, node: str, volume_name: str | None, attacher: str = DRIVER) -> VolumeAttachment:
    """A volume that is attached to a node."""
    spec = {"attacher": attacher, "nodeName": node, "source": {"persistentVolumeName": volume_name}}
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, VolumeAttachment)


def put(cluster: ClusterState, *objects: Any) -> ClusterState:
    """Store objects by their kinds."""
    for item in objects:
        cluster.set_object(type(item).__name__, item)
    return cluster


def handle(cluster: ClusterState, **fields: Any) -> Handle:
    """A handle with the gates of the volume plugins on."""
    return Handle(state=cluster, binder=UnusedBinder(), feature_enabled=GATES.__contains__, **fields)


def uses(*claims: str) -> list[dict[str, Any]]:
    """Volumes of a pod, for `set("spec.volumes", ...)`."""
    return [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": name}} for i, name in enumerate(claims)]
