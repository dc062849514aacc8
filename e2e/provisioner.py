"""A stand-in for a CSI driver's external provisioner: it makes volumes that exist as API objects only."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from e2e.beside import Beside
from e2e.controlplane.api import ApiError

if TYPE_CHECKING:
    from e2e.controlplane.api import ApiClient, Object

SELECTED_NODE = "volume.kubernetes.io/selected-node"
STORAGE_PROVISIONER = "volume.kubernetes.io/storage-provisioner"
_LOOK = 0.1


class ProvisionerStandIn(Beside):
    """While entered, each claim that the volume controller hands to ``driver`` gets a volume.

    A real provisioner would make it near the selected node; here it can be reached from that node's zone, or
    from everywhere if the node has none. ``gives_up_on`` are nodes for which no volume can be made: the selection
    is taken back, as a real provisioner does it, and the scheduler must choose anew.
    """

    def __init__(self, api: ApiClient, driver: str, *, gives_up_on: frozenset[str] = frozenset()) -> None:
        super().__init__("provisioner")
        self._api = api
        self._driver = driver
        self._gives_up_on = gives_up_on
        self.given_up: list[str] = []

    def work(self) -> None:
        """Look for claims again and again."""
        while not self.stop.wait(_LOOK):
            for claim in self._api.list("/api/v1/persistentvolumeclaims"):
                annotations = claim["metadata"].get("annotations") or {}
                node = annotations.get(SELECTED_NODE)
                if (
                    node
                    and annotations.get(STORAGE_PROVISIONER) == self._driver
                    and not claim["spec"].get("volumeName")
                ):
                    self._provision(claim, node)

    def _provision(self, claim: Object, node: str) -> None:
        if node in self._gives_up_on:
            self.given_up.append(node)
            meta = claim["metadata"]
            path = f"/api/v1/namespaces/{meta['namespace']}/persistentvolumeclaims/{meta['name']}"
            self._api.patch(path, {"metadata": {"annotations": {SELECTED_NODE: None}}}, kind="merge")
            return
        with contextlib.suppress(ApiError):  # it exists already, and the claim is about to be bound
            self._api.create(self._volume(claim, node))

    def _volume(self, claim: Object, node: str) -> Object:
        meta, spec = claim["metadata"], claim["spec"]
        name = f"pvc-{meta['uid']}"
        volume: Object = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name, "annotations": {"pv.kubernetes.io/provisioned-by": self._driver}},
            "spec": {
                "capacity": spec["resources"]["requests"],
                "accessModes": spec["accessModes"],
                "volumeMode": spec["volumeMode"],
                "storageClassName": spec["storageClassName"],
                "persistentVolumeReclaimPolicy": "Delete",
                "csi": {"driver": self._driver, "volumeHandle": name},
                "claimRef": {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "namespace": meta["namespace"],
                    "name": meta["name"],
                    "uid": meta["uid"],
                },
            },
        }
        zone = self._api.get(f"/api/v1/nodes/{node}")["metadata"]["labels"].get("topology.kubernetes.io/zone")
        if zone:
            here = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}
            volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}}
        return volume
