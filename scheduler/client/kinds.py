"""The resources that are read from the API server: paths, types, and what of them is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast
from urllib.parse import quote

from scheduler.api import objects
from scheduler.api.conditions import is_terminal
from scheduler.api.resources import resource_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "CSI_DRIVERS",
    "CSI_NODES",
    "CSI_STORAGE_CAPACITIES",
    "DEVICE_CLASSES",
    "NAMESPACES",
    "NODES",
    "PERSISTENT_VOLUMES",
    "PERSISTENT_VOLUME_CLAIMS",
    "PODS",
    "POD_DISRUPTION_BUDGETS",
    "PRIORITY_CLASSES",
    "REPLICATION_CONTROLLERS",
    "REPLICA_SETS",
    "RESOURCE_CLAIMS",
    "RESOURCE_SLICES",
    "SERVICES",
    "STATEFUL_SETS",
    "STORAGE_CLASSES",
    "UNFINISHED_PODS",
    "VOLUME_ATTACHMENTS",
    "Key",
    "KubernetesObject",
    "Resource",
    "Selection",
    "resource",
]

#: Namespace (empty for cluster-wide objects) and name.
Key = tuple[str, str]


class KubernetesObject(Protocol):
    """Anything with metadata: all that the client needs to know of an object."""

    @property
    def metadata(self) -> objects.ObjectMeta:
        """Name, namespace, uid and resource version."""


T = TypeVar("T", bound=KubernetesObject)


@dataclass(frozen=True, slots=True)
class Resource(Generic[T]):
    """One resource of the API: where it is served and the struct that its objects are decoded into."""

    type: type[T]
    kind: str
    plural: str
    group: str
    version: str
    namespaced: bool

    @property
    def api_version(self) -> str:
        """The apiVersion as objects state it: "v1", "apps/v1"."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The path of the collection, of one object, or of its subresource; names are escaped."""
        if not (namespace or name or subresource):
            return _collection(self.group, self.version, self.plural)
        parts = ["/apis", self.group, self.version] if self.group else ["/api", self.version]
        if namespace and self.namespaced:
            parts += ["namespaces", _escaped(namespace)]
        parts.append(self.plural)
        if name:
            parts.append(_escaped(name))
        if subresource:
            parts.append(subresource)
        return "/".join(parts)

    def key(self, obj: T) -> Key:
        """The object's place in a store."""
        return (obj.metadata.namespace, obj.metadata.name)


def _escaped(name: str) -> str:
    """A name as a part of a path. Nearly all are plain, which is told in a tenth of the time that quoting takes."""
    plain = name.replace("-", "").replace(".", "")
    return name if plain.isascii() and plain.isalnum() else quote(name, safe="")


@cache
def _collection(group: str, version: str, plural: str) -> str:
    return f"/apis/{group}/{version}/{plural}" if group else f"/api/{version}/{plural}"


def resource(type_: type[T]) -> Resource[T]:
    """The resource whose objects have this type. Raises KeyError for types that are no objects."""
    return cast("Resource[T]", _resource(cast("type[objects.Model]", type_)))


@cache
def _resource(type_: type[objects.Model]) -> Resource[Any]:
    names = resource_of(type_)
    return Resource(type_, names.kind, names.plural, names.group, names.version, names.namespaced)


@dataclass(frozen=True, slots=True)
class Selection(Generic[T]):
    """A part of a resource: selectors for the API server, a predicate for the in-process cluster."""

    field: str = ""
    label: str = ""
    matches: Callable[[T], bool] | None = None


def _unfinished(pod: objects.Pod) -> bool:
    return not is_terminal(pod)


#: The pods that may occupy a node, as kube-scheduler's informer asks for them (pkg/scheduler/scheduler.go).
UNFINISHED_PODS: Selection[objects.Pod] = Selection(
    field="status.phase!=Succeeded,status.phase!=Failed", matches=_unfinished
)


PODS = resource(objects.Pod)
NODES = resource(objects.Node)
NAMESPACES = resource(objects.Namespace)
SERVICES = resource(objects.Service)
REPLICATION_CONTROLLERS = resource(objects.ReplicationController)
REPLICA_SETS = resource(objects.ReplicaSet)
STATEFUL_SETS = resource(objects.StatefulSet)
POD_DISRUPTION_BUDGETS = resource(objects.PodDisruptionBudget)
PRIORITY_CLASSES = resource(objects.PriorityClass)
PERSISTENT_VOLUMES = resource(objects.PersistentVolume)
PERSISTENT_VOLUME_CLAIMS = resource(objects.PersistentVolumeClaim)
STORAGE_CLASSES = resource(objects.StorageClass)
CSI_NODES = resource(objects.CSINode)
CSI_DRIVERS = resource(objects.CSIDriver)
CSI_STORAGE_CAPACITIES = resource(objects.CSIStorageCapacity)
VOLUME_ATTACHMENTS = resource(objects.VolumeAttachment)
RESOURCE_CLAIMS = resource(objects.ResourceClaim)
RESOURCE_SLICES = resource(objects.ResourceSlice)
DEVICE_CLASSES = resource(objects.DeviceClass)
