"""The kinds that scheduling reads, with what the REST API calls them."""

from __future__ import annotations

from typing import Final, NamedTuple

from scheduler.api import objects
from scheduler.api.meta import Model  # noqa: TC001 - a field of a NamedTuple


class Resource(NamedTuple):
    """One kind of object. ``group`` is "" for the core group, ``plural`` its name in URLs."""

    group: str
    version: str
    plural: str
    namespaced: bool
    kind: str
    type: type[Model]

    @property
    def api_version(self) -> str:
        """``apiVersion`` of the objects."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def prefix(self) -> str:
        """Path of the group's version on the API server, without a slash at the end."""
        return f"/apis/{self.api_version}" if self.group else f"/api/{self.version}"


def _core(plural: str, type_: type[Model], *, namespaced: bool) -> Resource:
    return Resource("", "v1", plural, namespaced, type_.__name__, type_)


def _in_group(group: str, plural: str, type_: type[Model], *, namespaced: bool) -> Resource:
    return Resource(group, "v1", plural, namespaced, type_.__name__, type_)


RESOURCES: Final = (
    _core("pods", objects.Pod, namespaced=True),
    _core("nodes", objects.Node, namespaced=False),
    _core("namespaces", objects.Namespace, namespaced=False),
    _core("services", objects.Service, namespaced=True),
    _core("replicationcontrollers", objects.ReplicationController, namespaced=True),
    _core("persistentvolumes", objects.PersistentVolume, namespaced=False),
    _core("persistentvolumeclaims", objects.PersistentVolumeClaim, namespaced=True),
    _in_group("apps", "replicasets", objects.ReplicaSet, namespaced=True),
    _in_group("apps", "statefulsets", objects.StatefulSet, namespaced=True),
    _in_group("policy", "poddisruptionbudgets", objects.PodDisruptionBudget, namespaced=True),
    _in_group("scheduling.k8s.io", "priorityclasses", objects.PriorityClass, namespaced=False),
    _in_group("storage.k8s.io", "storageclasses", objects.StorageClass, namespaced=False),
    _in_group("storage.k8s.io", "csinodes", objects.CSINode, namespaced=False),
    _in_group("storage.k8s.io", "csidrivers", objects.CSIDriver, namespaced=False),
    _in_group("storage.k8s.io", "csistoragecapacities", objects.CSIStorageCapacity, namespaced=True),
    _in_group("storage.k8s.io", "volumeattachments", objects.VolumeAttachment, namespaced=False),
    _in_group("resource.k8s.io", "resourceclaims", objects.ResourceClaim, namespaced=True),
    _in_group("resource.k8s.io", "resourceslices", objects.ResourceSlice, namespaced=False),
    _in_group("resource.k8s.io", "deviceclasses", objects.DeviceClass, namespaced=False),
    _in_group("coordination.k8s.io", "leases", objects.Lease, namespaced=True),
)

#: Type of the objects of an apiVersion and kind.
KINDS: Final[dict[tuple[str, str], type[Model]]] = {(r.api_version, r.kind): r.type for r in RESOURCES}

_BY_TYPE: Final = {resource.type: resource for resource in RESOURCES}


def resource_of(type_: type[Model]) -> Resource:
    """Return the resource whose objects have this type. Raises KeyError for types that aren't objects."""
    return _BY_TYPE[type_]
