"""Binding what was decided: write it, and wait until the volume controllers have done their part.

Source: pkg/scheduler/framework/plugins/volumebinding/binder.go, BindPodVolumes.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from scheduler.api.claims import SELECTED_NODE, is_fully_bound
from scheduler.api.csi_migration import MigrationError, in_tree_of, translated
from scheduler.api.nodeaffinity import compile_node_selector
from scheduler.plugins.volumebinding.topology import is_migrated

if TYPE_CHECKING:
    from scheduler.api.objects import Node, PersistentVolume, PersistentVolumeClaim
    from scheduler.cache.objects import Name
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.state import ClusterState
    from scheduler.framework.handle import VolumeWriter
    from scheduler.framework.object_changes import ObjectChanges
    from scheduler.plugins.volumebinding.assumed import AssumedVolumes

_LONGEST_NAP: Final = 1.0
"""Seconds after which everything is checked though no volume or claim has changed: the pod or node may be gone."""


class BindError(Exception):
    """Volumes could not be bound; the pod must be scheduled anew."""


class Reservation:
    """What was assumed for a pod: volumes with the claims that they are reserved for, and claims to be provisioned."""

    __slots__ = ("claims", "volumes")

    def __init__(self) -> None:
        self.volumes: list[tuple[PersistentVolumeClaim, PersistentVolume]] = []
        self.claims: list[PersistentVolumeClaim] = []

    def revert(self, assumed: AssumedVolumes) -> None:
        """Take it back."""
        assumed.revert((volume for _, volume in self.volumes), self.claims)


class VolumeBinding:
    """The binding of one pod's volumes for one node."""

    def __init__(
        self,
        pod: PodInfo,
        node: str,
        reservation: Reservation,
        *,
        state: ClusterState,
        volumes: AssumedVolumes,
        writer: VolumeWriter,
    ) -> None:
        self._pod = pod
        self._node = node
        self._reservation = reservation
        self._state = state
        self._volumes = volumes
        self._writer = writer

    async def run(self, changes: ObjectChanges, within: float) -> None:
        """Bind, `within` so many seconds. Raises BindError, or what the writer raises."""
        await self._write()
        deadline = time.monotonic() + within
        while not self._is_done():
            left = deadline - time.monotonic()
            if left <= 0:
                raise BindError("binding volumes: context deadline exceeded")
            await changes.wait(min(left, _LONGEST_NAP), self._names())

    def _names(self) -> set[Name]:
        """The claims and volumes that matter, those included that claims have been bound to meanwhile."""
        reserved = self._reservation
        claims = [*(claim for claim, _ in reserved.volumes), *reserved.claims]
        names = {(claim.metadata.namespace, claim.metadata.name) for claim in claims}
        names |= {("", volume.metadata.name) for _, volume in reserved.volumes}
        stored = (self._volumes.stored_claim(*name) for name in names.copy())
        return names | {("", claim.spec.volume_name) for claim in stored if claim is not None}

    async def _write(self) -> None:
        """Write volumes, then claims. What was not written is no longer assumed; what was stays written."""
        reservation = self._reservation
        volumes, claims = reservation.volumes, reservation.claims
        written_volumes = written_claims = 0
        try:
            for index, (claim, volume) in enumerate(volumes):
                volumes[index] = (claim, await self._writer.update_volume(volume))
                written_volumes += 1
            for index, claim in enumerate(claims):
                claims[index] = await self._writer.update_claim(claim)
                written_claims += 1
        finally:
            self._volumes.revert((volume for _, volume in volumes[written_volumes:]), claims[written_claims:])

    def _is_done(self) -> bool:
        """Whether all is bound; looks at what the API server has. Raises BindError if it never will be."""
        row = self._state.nodes.rows.get(self._node)
        if row is None:
            raise _failed(f'failed to get node "{self._node}": node "{self._node}" not found')
        if self._state.pods.get(self._pod.uid) is None:
            raise _failed(f'pod does not exist any more: pod "{self._pod.name}" not found')
        node = self._state.nodes.node(row)
        return all(self._is_bound(claim, volume, node) for claim, volume in self._reservation.volumes) and all(
            self._is_provisioned(claim, node) for claim in self._reservation.claims
        )

    def _is_bound(self, claim: PersistentVolumeClaim, volume: PersistentVolume, node: Node) -> bool:
        stored = self._volumes.stored_volume(volume.metadata.name)
        if stored is None:
            raise _failed(f'failed to check binding: persistentvolumes "{volume.metadata.name}" not found')
        stored_claim = self._volumes.stored_claim(claim.metadata.namespace, claim.metadata.name)
        if stored_claim is None:
            raise _failed(f'failed to check binding: persistentvolumeclaims "{_key(claim)}" not found')
        if _is_older(stored, volume):
            return False
        self._check_reach(stored, node, "failed to translate pv to csi: ")
        reference = stored.spec.claim_ref
        if reference is None or not reference.uid:
            raise _failed(f'ClaimRef got reset for pv "{stored.metadata.name}"')
        return is_fully_bound(stored_claim)

    def _is_provisioned(self, claim: PersistentVolumeClaim, node: Node) -> bool:
        stored = self._volumes.stored_claim(claim.metadata.namespace, claim.metadata.name)
        if stored is None:
            raise _failed(f'failed to check provisioning pvc: persistentvolumeclaims "{_key(claim)}" not found')
        if _is_older(stored, claim):
            return False
        name = stored.metadata.name
        if not stored.metadata.annotations:
            raise _failed(f'selectedNode annotation reset for PVC "{name}"')
        if stored.metadata.annotations.get(SELECTED_NODE) != self._node:
            raise _failed(f'provisioning failed for PVC "{name}"')
        if stored.spec.volume_name:
            volume = self._volumes.stored_volume(stored.spec.volume_name)
            if volume is None:
                return False  # not heard of yet
            self._check_reach(volume, node, "")
        return is_fully_bound(stored)

    def _check_reach(self, volume: PersistentVolume, node: Node, words: str) -> None:
        """The node's labels may have changed, or a volume have been made elsewhere."""
        plugin = in_tree_of(volume.spec)
        csi_node = self._state.objects.get("CSINode", "", self._node)
        if plugin is not None and plugin.migrated and is_migrated(plugin.plugin, csi_node):
            try:
                volume = translated(volume, plugin)
            except MigrationError as problem:
                raise _failed(f"{words}could not translate pv: {problem}") from problem
        affinity = volume.spec.node_affinity
        if affinity is None or affinity.required is None:
            return
        if not compile_node_selector(affinity.required).matches(node.metadata.labels, ""):
            where = f'pv "{volume.metadata.name}" node affinity doesn\'t match node "{self._node}"'
            raise _failed(f"{where}: no matching NodeSelectorTerms")


def _failed(text: str) -> BindError:
    return BindError(f"binding volumes: {text}")


def _key(claim: PersistentVolumeClaim) -> str:
    return f"{claim.metadata.namespace}/{claim.metadata.name}"


def _is_older(
    stored: PersistentVolume | PersistentVolumeClaim, written: PersistentVolume | PersistentVolumeClaim
) -> bool:
    """Whether what was written has not come back yet; resource versions are numbers that grow."""
    return int(stored.metadata.resource_version or 0) < int(written.metadata.resource_version or 0)
