"""The defaults that an API server gives to objects, for objects that come from files.

Objects of a cluster have them already. Only fields that scheduling reads are filled in. Defaults that a server
sets only when it creates an object (pod-level requests from those of the containers, priorities from priority
classes) are not among them.

Source: k8s.io/kubernetes pkg/apis/*/v1/defaults.go and zz_generated.defaults.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from scheduler.api.decode import DecodeError
from scheduler.api.quantity import QuantityError, rounded_to_milli

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json = dict[str, Any]


def apply_defaults(obj: Json) -> Json:
    """Return a copy of an object with the API server's defaults, and with a uid and resourceVersion if it has none.

    A uid is made up of kind, namespace and name, so that it stays the same when the file is read again.
    Objects of a kind without defaults are returned as they are otherwise. Fields of the wrong type are left alone
    for decoding to complain about. Raises DecodeError if a quantity doesn't parse or the object isn't JSON.
    """
    try:
        copy: Json = msgspec.json.decode(msgspec.json.encode(obj), type=dict)
    except (TypeError, ValueError, RecursionError) as error:
        raise DecodeError(f"the object can't be written as JSON: {error}") from error
    return default_in_place(copy)


def default_in_place(obj: Json) -> Json:
    """``apply_defaults`` on the object itself, which is returned; no part of it may be in it twice."""
    kind = obj.get("kind")
    metadata = _child(obj, "metadata")
    if not metadata.get("uid"):
        metadata["uid"] = f"{kind or ''}/{metadata.get('namespace') or ''}/{metadata.get('name') or ''}"
    if not metadata.get("resourceVersion"):
        metadata["resourceVersion"] = "1"
    default = _DEFAULTS.get((obj.get("apiVersion"), kind))
    if default is not None:
        default(obj)
    return obj


def _default_pod(pod: Json) -> None:
    spec, status = _child(pod, "spec"), _child(pod, "status")
    seconds = spec.get("terminationGracePeriodSeconds")
    if seconds is None:
        spec["terminationGracePeriodSeconds"] = 30
    elif isinstance(seconds, int) and seconds < 0:
        spec["terminationGracePeriodSeconds"] = 1
    _fill(spec, schedulerName="default-scheduler", restartPolicy="Always")
    for name in ("containers", "initContainers"):
        for index, container in _children(spec, name):
            _default_container(container, f"spec.{name}[{index}]", host_network=bool(spec.get("hostNetwork")))
    for index, volume in _children(spec, "volumes"):
        _default_volume(volume, f"spec.volumes[{index}]")
    _round(spec, "overhead", "spec")
    _round_resources(spec, "spec")
    for name in ("containerStatuses", "initContainerStatuses"):
        for index, container in _children(status, name):
            _round(container, "allocatedResources", f"status.{name}[{index}]")
            _round_resources(container, f"status.{name}[{index}]")
    _round(status, "allocatedResources", "status")
    _round_resources(status, "status")


def _default_container(container: Json, path: str, *, host_network: bool) -> None:
    resources = container.get("resources")
    if isinstance(resources, dict) and isinstance(resources.get("limits"), dict):
        requests = _child(resources, "requests")
        for name, limit in resources["limits"].items():
            requests.setdefault(name, limit)
    for _, port in _children(container, "ports"):
        _fill(port, protocol="TCP")
        if host_network and not port.get("hostPort"):
            port["hostPort"] = port.get("containerPort", 0)
    _round_resources(container, path)


def _default_volume(volume: Json, path: str) -> None:
    _default_disks(volume)
    ephemeral = volume.get("ephemeral")
    template = ephemeral.get("volumeClaimTemplate") if isinstance(ephemeral, dict) else None
    if isinstance(template, dict):
        spec = _child(template, "spec")
        _fill(spec, volumeMode="Filesystem")
        _round_resources(spec, f"{path}.ephemeral.volumeClaimTemplate.spec")


def _default_disks(source: Json) -> None:
    rbd, azure = source.get("rbd"), source.get("azureDisk")
    if isinstance(rbd, dict):
        _fill(rbd, pool="rbd")
    if isinstance(azure, dict):
        _fill(azure, kind="Shared", readOnly=False)


def _default_node(node: Json) -> None:
    status = _child(node, "status")
    if status.get("allocatable") is None and isinstance(status.get("capacity"), dict):
        status["allocatable"] = dict(status["capacity"])
    _round(status, "capacity", "status")
    _round(status, "allocatable", "status")


def _default_namespace(namespace: Json) -> None:
    metadata = _child(namespace, "metadata")
    if metadata.get("name"):
        _child(metadata, "labels")["kubernetes.io/metadata.name"] = metadata["name"]


def _default_replication_controller(controller: Json) -> None:
    spec, metadata = _child(controller, "spec"), _child(controller, "metadata")
    template = spec.get("template")
    labels = _child(_child(spec, "template"), "metadata").get("labels") if isinstance(template, dict) else None
    if isinstance(labels, dict):
        _fill(spec, selector=labels)
        _fill(metadata, labels=labels)


def _default_volume_object(volume: Json) -> None:
    spec = _child(volume, "spec")
    _fill(_child(volume, "status"), phase="Pending")
    _fill(spec, volumeMode="Filesystem")
    _default_disks(spec)
    _round(spec, "capacity", "spec")


def _default_claim(claim: Json) -> None:
    spec, status = _child(claim, "spec"), _child(claim, "status")
    _fill(status, phase="Pending")
    _fill(spec, volumeMode="Filesystem")
    _round_resources(spec, "spec")
    _round(status, "capacity", "status")


def _default_storage_class(storage_class: Json) -> None:
    _fill(storage_class, volumeBindingMode="Immediate")


def _default_csi_driver(driver: Json) -> None:
    _fill(_child(driver, "spec"), storageCapacity=False, preventPodSchedulingIfMissing=False)


def _default_attachment(attachment: Json) -> None:
    inline = _child(_child(attachment, "spec"), "source").get("inlineVolumeSpec")
    if isinstance(inline, dict):
        _default_disks(inline)
        _round(inline, "capacity", "spec.source.inlineVolumeSpec")


def _default_priority_class(priority_class: Json) -> None:
    _fill(priority_class, preemptionPolicy="PreemptLowerPriority")


_DEFAULTS: Final[dict[tuple[Any, Any], Callable[[Json], None]]] = {
    ("v1", "Pod"): _default_pod,
    ("v1", "Node"): _default_node,
    ("v1", "Namespace"): _default_namespace,
    ("v1", "ReplicationController"): _default_replication_controller,
    ("v1", "PersistentVolume"): _default_volume_object,
    ("v1", "PersistentVolumeClaim"): _default_claim,
    ("storage.k8s.io/v1", "StorageClass"): _default_storage_class,
    ("storage.k8s.io/v1", "CSIDriver"): _default_csi_driver,
    ("storage.k8s.io/v1", "VolumeAttachment"): _default_attachment,
    ("scheduling.k8s.io/v1", "PriorityClass"): _default_priority_class,
}


def _child(parent: Json, name: str) -> Json:
    """Return the object in a field, made there if the field is absent. Something else in it is not touched."""
    child = parent.get(name)
    if child is None:
        child = parent[name] = {}
    return child if isinstance(child, dict) else {}


def _children(parent: Json, name: str) -> Iterator[tuple[int, Json]]:
    items = parent.get(name)
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict):
            yield index, item


def _fill(parent: Json, **values: object) -> None:
    """Set the fields that are absent, null or empty text or maps; false and 0 are values."""
    for name, value in values.items():
        if parent.get(name) in (None, "", {}):
            parent[name] = value


def _round_resources(parent: Json, path: str) -> None:
    resources = parent.get("resources")
    if isinstance(resources, dict):
        _round(resources, "limits", f"{path}.resources")
        _round(resources, "requests", f"{path}.resources")


def _round(parent: Json, name: str, path: str) -> None:
    """Round the quantities of a resource list up to thousandths."""
    quantities = parent.get(name)
    if not isinstance(quantities, dict):
        return
    for resource, quantity in quantities.items():
        if isinstance(quantity, bool) or not isinstance(quantity, str | int | float | None):
            continue
        try:
            quantities[resource] = rounded_to_milli("0" if quantity is None else str(quantity))
        except QuantityError as error:
            raise DecodeError(str(error), f"{path}.{name}.{resource}") from error
