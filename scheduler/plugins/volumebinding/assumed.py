"""Volumes and claims as they are, or as decisions that are under way have them.

Source: pkg/scheduler/framework/plugins/volumebinding/{assume_cache,binder}.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from scheduler.api.claims import BOUND_BY_CONTROLLER, SELECTED_NODE, class_of_volume, is_bound_to
from scheduler.api.objects import ObjectReference
from scheduler.api.quantity import ZERO, Quantity, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scheduler.api.objects import PersistentVolume, PersistentVolumeClaim
    from scheduler.cache.state import ClusterState

VOLUME: Final = "PersistentVolume"
CLAIM: Final = "PersistentVolumeClaim"


class AssumedVolumes:
    """The view of volumes and claims that decisions are made on."""

    def __init__(self, state: ClusterState) -> None:
        self._objects = state.objects
        self._assumed = state.assumed_objects
        self._version = -1
        self._by_class: dict[str, list[PersistentVolume]] = {}

    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None:
        """A claim, as assumed where it is."""
        found: PersistentVolumeClaim | None = self._assumed.get(CLAIM, namespace, name)
        return found

    def volume(self, name: str) -> PersistentVolume | None:
        """A volume, as assumed where it is."""
        found: PersistentVolume | None = self._assumed.get(VOLUME, "", name)
        return found

    def of_class(self, name: str) -> Iterable[PersistentVolume]:
        """The volumes of a StorageClass ("" for those without), the smallest first, as assumed where they are."""
        version = self._objects.version(VOLUME)
        if version != self._version:
            self._by_class = {}
            for volume in self._objects.all(VOLUME):
                self._by_class.setdefault(class_of_volume(volume), []).append(volume)
            for volumes in self._by_class.values():
                volumes.sort(key=capacity_of)
            self._version = version
        return (self._assumed.over(VOLUME, volume) for volume in self._by_class.get(name, ()))

    def stored_claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None:
        """A claim as the API server has it."""
        found: PersistentVolumeClaim | None = self._objects.get(CLAIM, namespace, name)
        return found

    def stored_volume(self, name: str) -> PersistentVolume | None:
        """A volume as the API server has it."""
        found: PersistentVolume | None = self._objects.get(VOLUME, "", name)
        return found

    def bind(self, volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolume:
        """Assume that the volume is reserved for the claim; the volume like that. Raises OutOfSyncError."""
        reserved = reserved_for(volume, claim)
        if reserved is not volume:
            self._assumed.assume(VOLUME, reserved)
        return reserved

    def provision(self, claim: PersistentVolumeClaim, node: str) -> PersistentVolumeClaim:
        """Assume that a volume for the claim is to be made for a node; the claim like that. Raises OutOfSyncError."""
        annotated = annotate(claim, {SELECTED_NODE: node})
        self._assumed.assume(CLAIM, annotated)
        return annotated

    def revert(self, volumes: Iterable[PersistentVolume], claims: Iterable[PersistentVolumeClaim]) -> None:
        """Take assumptions back."""
        for volume in volumes:
            self._assumed.restore(VOLUME, volume)
        for claim in claims:
            self._assumed.restore(CLAIM, claim)


def capacity_of(volume: PersistentVolume) -> Quantity:
    """How large a volume is."""
    text = volume.spec.capacity.get("storage")
    return ZERO if text is None else parse(text)


def request_of(claim: PersistentVolumeClaim) -> Quantity:
    """How much a claim asks for, 0 if it does not say."""
    text = claim.spec.resources.requests.get("storage")
    return ZERO if text is None else parse(text)


def reserved_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolume:
    """The volume with its reference to the claim (GetBindVolumeToClaim); itself if it has that already."""
    meta, reference = claim.metadata, volume.spec.claim_ref
    new = volume
    if reference is None or (reference.name, reference.namespace, reference.uid) != (
        meta.name,
        meta.namespace,
        meta.uid,
    ):
        reference = ObjectReference(
            api_version="v1",
            kind=CLAIM,
            namespace=meta.namespace,
            name=meta.name,
            uid=meta.uid,
            resource_version=meta.resource_version,
        )
        new = replace(new, spec=replace(new.spec, claim_ref=reference))
    if not is_bound_to(volume, claim) and BOUND_BY_CONTROLLER not in volume.metadata.annotations:
        annotations = {**new.metadata.annotations, BOUND_BY_CONTROLLER: "yes"}
        new = replace(new, metadata=replace(new.metadata, annotations=annotations))
    return new


def annotate(claim: PersistentVolumeClaim, annotations: Mapping[str, str]) -> PersistentVolumeClaim:
    """The claim with further annotations."""
    merged = {**claim.metadata.annotations, **annotations}
    return replace(claim, metadata=replace(claim.metadata, annotations=merged))
