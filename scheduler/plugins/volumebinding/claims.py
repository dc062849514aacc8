"""A pod's claims before any node is looked at: which are bound, which follow the pod, which should be bound by now.

Source: pkg/scheduler/framework/plugins/volumebinding/{volume_binding,binder}.go, podHasPVCs and GetPodVolumeClaims.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from scheduler.api.claims import (
    WAIT_FOR_FIRST_CONSUMER,
    claim_name,
    claim_not_found,
    class_of_claim,
    is_fully_bound,
    ownership_problem,
)
from scheduler.api.objects import PersistentVolumeClaim  # noqa: TC001 - msgspec resolves annotations at run time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.api.objects import StorageClass, Volume
    from scheduler.cache.objects import ObjectStore
    from scheduler.cache.pods import PodInfo
    from scheduler.plugins.volumebinding.assumed import AssumedVolumes


class ClassError(ValueError):
    """A StorageClass does not say how its claims are bound."""


class PodClaims(msgspec.Struct, frozen=True):
    """The claims of a pod, each kind in the order of the pod's volumes.

    `delayed` are those that are bound when the pod is placed, `immediate` those that should have been bound before.
    """

    bound: tuple[PersistentVolumeClaim, ...]
    delayed: tuple[PersistentVolumeClaim, ...]
    immediate: tuple[PersistentVolumeClaim, ...]


def problem_of(pod: PodInfo, objects: ObjectStore) -> str:
    """Why the pod's claims keep it from being placed anywhere; "" if they don't."""
    for volume, name in claim_names(pod):
        claim: PersistentVolumeClaim | None = objects.get("PersistentVolumeClaim", pod.namespace, name)
        if claim is None:
            if volume.ephemeral is None:
                return claim_not_found(name)
            return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
        if claim.status.phase == "Lost":
            volume_name = claim.spec.volume_name
            return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{volume_name}"'
        if claim.metadata.deletion_timestamp is not None:
            return f'persistentvolumeclaim "{name}" is being deleted'
        if volume.ephemeral is not None:
            problem = ownership_problem(claim, pod.namespace, pod.name, pod.uid)
            if problem:
                return problem
    return ""


def pod_claims(pod: PodInfo, volumes: AssumedVolumes, objects: ObjectStore) -> PodClaims:
    """The claims of a pod for which `problem_of` has found no problem. Raises ClassError."""
    bound, delayed, immediate = [], [], []
    for _, name in claim_names(pod):
        claim = volumes.claim(pod.namespace, name)
        assert claim is not None
        if is_fully_bound(claim):
            bound.append(claim)
        elif _waits(claim, objects) and not claim.spec.volume_name:
            delayed.append(claim)
        else:
            immediate.append(claim)
    return PodClaims(tuple(bound), tuple(delayed), tuple(immediate))


def claim_names(pod: PodInfo) -> Iterator[tuple[Volume, str]]:
    """Volumes with a claim behind them, and its name."""
    for volume in pod.shape.pod.spec.volumes:
        name = claim_name(volume, pod.name)
        if name is not None:
            yield volume, name


def _waits(claim: PersistentVolumeClaim, objects: ObjectStore) -> bool:
    """Whether the claim's class binds when the first pod is placed. A missing class binds at once."""
    name = class_of_claim(claim)
    storage_class: StorageClass | None = objects.get("StorageClass", "", name) if name else None
    if storage_class is None:
        return False
    if storage_class.volume_binding_mode is None:
        raise ClassError(f'VolumeBindingMode not set for StorageClass "{name}"')
    return storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER
