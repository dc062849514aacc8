"""A stand-in for the volume controllers of a real cluster, for clusters in memory.

It does what kube-controller-manager's PersistentVolume binder and a CSI driver's provisioner would do about decisions
of the scheduler, and nothing else: volumes that are free become Available, a volume that was reserved for a claim is
bound to it, and a claim for which a node was selected gets a volume that can be reached from there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from scheduler.api.claims import BIND_COMPLETED, BOUND_BY_CONTROLLER, SELECTED_NODE, class_of_claim
from scheduler.api.objects import (
    CSIPersistentVolumeSource,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    VolumeNodeAffinity,
)
from scheduler.client.kinds import CSI_NODES, NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES

if TYPE_CHECKING:
    from scheduler.api.objects import PersistentVolumeClaim
    from scheduler.client.memory import MemoryCluster

_NEW: Final = ("", "Pending")


class VolumeControllerStandIn:
    """Follows the volumes and claims of a cluster; to be made before the cluster delivers anything."""

    def __init__(self, cluster: MemoryCluster) -> None:
        self._cluster = cluster
        # Nobody hears of these changes yet: they are part of what will be delivered.
        for volume in cluster.list(PERSISTENT_VOLUMES):
            self._volume_changed(None, volume)
        for claim in cluster.list(PERSISTENT_VOLUME_CLAIMS):
            self._claim_changed(None, claim)
        cluster.informer(PERSISTENT_VOLUMES).add_handler(self._volume_changed)
        cluster.informer(PERSISTENT_VOLUME_CLAIMS).add_handler(self._claim_changed)

    def _volume_changed(self, _old: PersistentVolume | None, new: PersistentVolume | None) -> None:
        if new is None:
            return
        reference = new.spec.claim_ref
        if reference is None:
            if new.status.phase in _NEW:
                self._cluster.put(replace(new, status=replace(new.status, phase="Available")))
            return
        claim = self._cluster.get(PERSISTENT_VOLUME_CLAIMS, reference.namespace, reference.name)
        if claim is not None and claim.metadata.uid == reference.uid and not claim.spec.volume_name:
            self._bind(claim, new)

    def _claim_changed(self, _old: PersistentVolumeClaim | None, new: PersistentVolumeClaim | None) -> None:
        if new is None or new.spec.volume_name:
            return
        node = new.metadata.annotations.get(SELECTED_NODE)
        if node is not None:
            self._provision(new, node)

    def _bind(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> None:
        self._cluster.put(replace(volume, status=replace(volume.status, phase="Bound")))
        annotations = {**claim.metadata.annotations, BIND_COMPLETED: "yes", BOUND_BY_CONTROLLER: "yes"}
        status = replace(
            claim.status, phase="Bound", access_modes=volume.spec.access_modes, capacity=volume.spec.capacity
        )
        self._cluster.put(
            replace(
                claim,
                metadata=replace(claim.metadata, annotations=annotations),
                spec=replace(claim.spec, volume_name=volume.metadata.name),
                status=status,
            )
        )

    def _provision(self, claim: PersistentVolumeClaim, node: str) -> None:
        """Make a volume and bind it."""
        meta = claim.metadata
        storage_class = self._cluster.get(STORAGE_CLASSES, "", class_of_claim(claim))
        driver = "" if storage_class is None else storage_class.provisioner
        name = f"pvc-{meta.uid}"
        made = self._cluster.put(
            PersistentVolume(
                metadata=ObjectMeta(name=name),
                spec=PersistentVolumeSpec(
                    capacity=claim.spec.resources.requests,
                    access_modes=claim.spec.access_modes,
                    volume_mode=claim.spec.volume_mode,
                    storage_class_name=class_of_claim(claim),
                    volume_attributes_class_name=claim.spec.volume_attributes_class_name,
                    claim_ref=ObjectReference(
                        api_version="v1",
                        kind="PersistentVolumeClaim",
                        namespace=meta.namespace,
                        name=meta.name,
                        uid=meta.uid,
                    ),
                    csi=CSIPersistentVolumeSource(driver=driver, volume_handle=name),
                    node_affinity=self._reach(driver, node),
                ),
                status=PersistentVolumeStatus(phase="Bound"),
            )
        )
        self._volume_changed(None, made)

    def _reach(self, driver: str, node: str) -> VolumeNodeAffinity | None:
        """The segment of the driver's topology that the node is in, as its CSINode tells."""
        csi_node = self._cluster.get(CSI_NODES, "", node)
        found = self._cluster.get(NODES, "", node)
        if csi_node is None or found is None:
            return None
        labels = found.metadata.labels
        keys = [key for each in csi_node.spec.drivers if each.name == driver for key in each.topology_keys]
        here = tuple(
            NodeSelectorRequirement(key=key, operator="In", values=(labels[key],)) for key in keys if key in labels
        )
        if not here:
            return None
        return VolumeNodeAffinity(
            required=NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=here),))
        )
