"""Claims that do not exist, and claims that should have been bound before the pod is placed."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from scheduler.api.claims import (
    BIND_COMPLETED,
    NO_PROVISIONER,
    STORAGE,
    WAIT_FOR_FIRST_CONSUMER,
    class_of_claim,
    is_fully_bound,
)
from scheduler.api.meta import ObjectMeta, ObjectReference, ResourceRequirements
from scheduler.api.objects import PersistentVolume, PersistentVolumeClaim
from scheduler.api.storage import CSIPersistentVolumeSource, PersistentVolumeSpec, PersistentVolumeStatus
from scheduler.api.volumes import PersistentVolumeClaimSpec
from scheduler.explain.whynot.change import Change, Option
from scheduler.explain.whynot.volumes import claims_of
from scheduler.explain.whynot.wording import listed, open_, opens
from scheduler.framework.names import VOLUME_BINDING, VOLUME_RESTRICTIONS, VOLUME_ZONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scheduler.api.objects import StorageClass
    from scheduler.cache.objects import ObjectStore
    from scheduler.explain.whynot.survey import Survey

_CREATE: Final = 15
_BIND: Final = 30
_IN_TREE: Final = "kubernetes.io/"
_SOLVES: Final = frozenset((VOLUME_BINDING, VOLUME_RESTRICTIONS, VOLUME_ZONE))
_DEFAULT: Final = "storageclass.kubernetes.io/is-default-class"
_SIZE: Final = {STORAGE: "1Gi"}
"""What a claim is tried with that nobody knows the size of."""


def options(survey: Survey) -> Iterator[Option]:
    """Where claims keep the pod from being looked at: those that are missing made, those that are not bound, bound."""
    if survey.refusal is None:
        return
    objects = survey.state.objects
    missing = [one.name for one in claims_of(survey) if one.claim is None and not one.ephemeral]
    if missing:
        default = _default_class(objects)
        if default is not None and default.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER:
            made = [_claim(survey, name, default.metadata.name) for name in missing]
            objects_made = [("PersistentVolumeClaim", claim) for claim in made]
            yield (_create("creating", missing, survey.pod.namespace, objects_made),)
        bound = [pair for name in missing for pair in _bound(_claim(survey, name, ""), objects)]
        yield (_create("creating and binding", missing, survey.pod.namespace, bound),)
        return
    unbound = [one.claim for one in claims_of(survey) if one.claim and _should_be_bound(one.claim, objects)]
    if unbound:
        yield (_bind(unbound, [pair for claim in unbound for pair in _bound(claim, objects)]),)


def _should_be_bound(claim: PersistentVolumeClaim, objects: ObjectStore) -> bool:
    name = class_of_claim(claim)
    storage_class: StorageClass | None = objects.get("StorageClass", "", name) if name else None
    waits = storage_class is not None and storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER
    return not is_fully_bound(claim) and not (waits and not claim.spec.volume_name)


def _create(doing: str, names: Sequence[str], namespace: str, objects: Sequence[tuple[str, Any]]) -> Change:
    kind = "PersistentVolumeClaim" if len(names) == 1 else "PersistentVolumeClaims"
    return Change(
        kind="createClaim",
        details={"claims": ",".join(names), "namespace": namespace},
        cost=_CREATE,
        what=lambda _: f"{doing} the {kind} {listed(names)} in namespace {namespace}",
        solves=_SOLVES,
        objects=tuple(objects),
    )


def _bind(claims: Sequence[PersistentVolumeClaim], objects: Sequence[tuple[str, Any]]) -> Change:
    wishes = []
    for claim in claims:
        name, size = class_of_claim(claim), claim.spec.resources.requests.get(STORAGE, "")
        what = " of ".join(filter(None, ("a volume", size, f"StorageClass {name}" if name else "")))
        wishes.append(f"{what} bound to claim {claim.metadata.name}")
    return Change(
        kind="bindClaim",
        details={"claims": ",".join(claim.metadata.name for claim in claims)},
        cost=_BIND,
        what=lambda _: listed(wishes),
        effect=opens if len(wishes) == 1 else open_,
        solves=_SOLVES,
        objects=tuple(objects),
    )


def _claim(survey: Survey, name: str, storage_class: str) -> PersistentVolumeClaim:
    return PersistentVolumeClaim(
        metadata=ObjectMeta(name=name, namespace=survey.pod.namespace, uid=f"new-{uuid.uuid4().hex[:8]}"),
        spec=PersistentVolumeClaimSpec(
            access_modes=("ReadWriteOnce",),
            storage_class_name=storage_class,
            resources=ResourceRequirements(requests=_SIZE),
        ),
    )


def _bound(claim: PersistentVolumeClaim, objects: ObjectStore) -> list[tuple[str, Any]]:
    """The claim with a volume that can be reached from everywhere."""
    meta, name = claim.metadata, f"new-{uuid.uuid4().hex[:8]}"
    reference = ObjectReference(
        api_version="v1", kind="PersistentVolumeClaim", namespace=meta.namespace, name=meta.name, uid=meta.uid
    )
    storage_class: StorageClass | None = objects.get("StorageClass", "", class_of_claim(claim))
    driver = storage_class.provisioner if storage_class is not None else ""
    csi = None
    if driver not in ("", NO_PROVISIONER) and not driver.startswith(_IN_TREE):
        csi = CSIPersistentVolumeSource(driver=driver, volume_handle=name)
    volume = PersistentVolume(
        metadata=ObjectMeta(name=name, uid=name),
        spec=PersistentVolumeSpec(
            capacity=dict(claim.spec.resources.requests),
            access_modes=claim.spec.access_modes,
            claim_ref=reference,
            storage_class_name=class_of_claim(claim),
            csi=csi,
        ),
        status=PersistentVolumeStatus(phase="Bound"),
    )
    annotations = {**meta.annotations, BIND_COMPLETED: "yes"}
    bound = replace(claim, metadata=replace(meta, annotations=annotations), spec=replace(claim.spec, volume_name=name))
    return [("PersistentVolume", volume), ("PersistentVolumeClaim", bound)]


def _default_class(objects: ObjectStore) -> StorageClass | None:
    """The StorageClass that a claim gets which names none; the API server takes the newest of several."""
    found = [one for one in objects.all("StorageClass") if one.metadata.annotations.get(_DEFAULT) == "true"]
    return max(found, key=lambda one: (one.metadata.creation_timestamp or "", one.metadata.name), default=None)
