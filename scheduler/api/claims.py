"""What claims and volumes say of each other: classes, binding, and the claims of a pod's volumes.

Source: k8s.io/component-helpers/storage/volume/{helpers,pv_helpers}.go and storage/ephemeral/ephemeral.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.api.owners import controller_of

if TYPE_CHECKING:
    from scheduler.api.storage import PersistentVolume, PersistentVolumeClaim
    from scheduler.api.volumes import Volume

BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER: Final = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
BETA_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
WAIT_FOR_FIRST_CONSUMER: Final = "WaitForFirstConsumer"
STORAGE: Final = "storage"


def class_of_claim(claim: PersistentVolumeClaim) -> str:
    """The name of the claim's StorageClass, "" if it has none; the beta annotation goes first."""
    annotated = claim.metadata.annotations.get(BETA_CLASS)
    return annotated if annotated is not None else claim.spec.storage_class_name or ""


def class_of_volume(volume: PersistentVolume) -> str:
    """The name of the volume's StorageClass, "" if it has none; the beta annotation goes first."""
    annotated = volume.metadata.annotations.get(BETA_CLASS)
    return annotated if annotated is not None else volume.spec.storage_class_name


def is_fully_bound(claim: PersistentVolumeClaim) -> bool:
    """Whether the claim has a volume and its binding is complete."""
    return claim.spec.volume_name != "" and BIND_COMPLETED in claim.metadata.annotations


def is_bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether the volume is bound to, or reserved for, the claim."""
    reference, meta = volume.spec.claim_ref, claim.metadata
    if reference is None or (reference.name, reference.namespace) != (meta.name, meta.namespace):
        return False
    return reference.uid in ("", meta.uid)


def claim_name(volume: Volume, pod_name: str) -> str | None:
    """The name of the claim behind a volume of a pod; None if there is no claim behind it."""
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    if volume.ephemeral is not None:
        return f"{pod_name}-{volume.name}"
    return None


def ownership_problem(claim: PersistentVolumeClaim, namespace: str, pod_name: str, pod_uid: str) -> str:
    """Why the claim of a generic ephemeral volume is not the pod's own; "" if it is."""
    meta = claim.metadata
    controller = controller_of(meta)
    if meta.namespace == namespace and controller is not None and controller.uid == pod_uid:
        return ""
    return f"PVC {meta.namespace}/{meta.name} was not created for pod {namespace}/{pod_name} (pod is not owner)"


def claim_not_found(name: str) -> str:
    """The words for a claim that does not exist."""
    return f'persistentvolumeclaim "{name}" not found'
