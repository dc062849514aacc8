"""Which CSI volumes a pod's volumes amount to (nodevolumelimits/csi.go, filterAttachableVolumes)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from scheduler.api.claims import claim_name, claim_not_found, class_of_claim, ownership_problem
from scheduler.api.csi_migration import MigrationError, in_tree_by_name, in_tree_of, inline_handle, translated

if TYPE_CHECKING:
    from scheduler.api.objects import PersistentVolume, PersistentVolumeClaim, StorageClass, Volume
    from scheduler.cache.pods import PodInfo

Volumes = dict[tuple[str, str], str]
"""(driver, handle) of distinct volumes -> driver."""

_UNBOUND: Final = "\0"
"""Begins the made-up handle of a volume that does not exist yet, which is no handle of any that does."""


class Objects(Protocol):
    """Where objects are looked up."""

    def get(self, kind: str, namespace: str, name: str) -> Any | None:
        """An object, or None."""


class VolumeError(Exception):
    """The volumes of a pod can't be counted. `missing`: for want of a claim, which may come."""

    def __init__(self, text: str, *, missing: bool = False) -> None:
        super().__init__(text)
        self.missing = missing


def attachable(pod: PodInfo, objects: Objects, *, has_csi_node: bool, is_new: bool) -> Volumes:
    """The CSI volumes of a pod on a node that has a CSINode object, or has none.

    Raises VolumeError; a claim that does not exist is one for a new pod only.
    """
    found: Volumes = {}
    for volume in pod.shape.pod.spec.volumes:
        name = claim_name(volume, pod.name)
        if name is None:
            csi = _inline(volume, has_csi_node=has_csi_node)
        elif not name:
            raise VolumeError("PersistentVolumeClaim had no name")
        else:
            claim: PersistentVolumeClaim | None = objects.get("PersistentVolumeClaim", pod.namespace, name)
            if claim is None:
                if is_new:
                    text = f"looking up PVC {pod.namespace}/{name}: {claim_not_found(name)}"
                    raise VolumeError(text, missing=True)
                continue
            if volume.ephemeral is not None:
                problem = ownership_problem(claim, pod.namespace, pod.name, pod.uid)
                if problem:
                    raise VolumeError(problem)
            csi = _of_claim(claim, objects, has_csi_node=has_csi_node)
        if csi is not None and all(csi):
            found[csi] = csi[0]
    return found


def _inline(volume: Volume, *, has_csi_node: bool) -> tuple[str, str] | None:
    plugin = in_tree_of(volume)
    if plugin is None or not (plugin.migrated and has_csi_node):
        return None
    try:
        return plugin.driver, inline_handle(volume, plugin)
    except MigrationError as problem:
        raise VolumeError(f"converting volume({volume.name}) from inline to csi: {problem}") from problem


def _of_claim(claim: PersistentVolumeClaim, objects: Objects, *, has_csi_node: bool) -> tuple[str, str] | None:
    """Driver and handle of a claim's volume, or what they will be as far as the class tells."""
    name = claim.spec.volume_name
    volume: PersistentVolume | None = objects.get("PersistentVolume", "", name) if name else None
    if volume is None:
        return _of_class(claim, objects, has_csi_node=has_csi_node)
    source = volume.spec.csi
    if source is None:
        plugin = in_tree_of(volume.spec)
        if plugin is None or not (plugin.migrated and has_csi_node):
            return None
        try:
            source = translated(volume, plugin).spec.csi
        except MigrationError:
            return None
    assert source is not None
    return source.driver, source.volume_handle


def _of_class(claim: PersistentVolumeClaim, objects: Objects, *, has_csi_node: bool) -> tuple[str, str] | None:
    class_name = class_of_claim(claim)
    storage_class: StorageClass | None = objects.get("StorageClass", "", class_name) if class_name else None
    if storage_class is None:
        return None
    driver = storage_class.provisioner
    plugin = in_tree_by_name(driver)
    if plugin is not None:
        if not (plugin.migrated and has_csi_node):
            return None
        driver = plugin.driver
    return driver, f"{_UNBOUND}{claim.metadata.namespace}/{claim.metadata.name}"
