"""Which events may help a pod that VolumeBinding rejected (volumebinding/volume_binding.go, isSchedulableAfter*)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.api.csi_migration import MIGRATED_PLUGINS
from scheduler.framework.events import ActionType, EventHint, EventResource, QueueingHint
from scheduler.plugins.volumebinding.claims import claim_names
from scheduler.plugins.volumebinding.provisioning import limit

if TYPE_CHECKING:
    from scheduler.api.objects import CSIDriver, CSINode, CSIStorageCapacity, PersistentVolumeClaim, StorageClass
    from scheduler.cache.pods import PodInfo


def after_class_change(pod: PodInfo, old: StorageClass | None, new: StorageClass) -> QueueingHint:
    """The class is new, or allows other topologies."""
    del pod
    return _queue_if(old is None or old.allowed_topologies != new.allowed_topologies)


def after_claim_change(pod: PodInfo, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim) -> QueueingHint:
    """The claim is one of the pod's, be it that of an ephemeral volume."""
    del old
    if new.metadata.namespace != pod.namespace:
        return QueueingHint.SKIP
    return _queue_if(any(name == new.metadata.name for _, name in claim_names(pod)))


def after_csi_node_change(pod: PodInfo, old: CSINode | None, new: CSINode) -> QueueingHint:
    """The CSINode is new, or other in-tree plugins are migrated on the node."""
    del pod
    return _queue_if(old is None or _migrated(old) != _migrated(new))


def after_csi_driver_update(pod: PodInfo, old: CSIDriver, new: CSIDriver) -> QueueingHint:
    """The pod has an inline volume of the driver, whose capacity no longer counts."""
    stopped = bool(old.spec.storage_capacity) and not new.spec.storage_capacity
    if not stopped:
        return QueueingHint.SKIP
    volumes = pod.shape.pod.spec.volumes
    return _queue_if(any(each.csi is not None and each.csi.driver == new.metadata.name for each in volumes))


def after_capacity_change(pod: PodInfo, old: CSIStorageCapacity | None, new: CSIStorageCapacity) -> QueueingHint:
    """The capacity is new, or larger volumes fit than before."""
    del pod
    if old is None:
        return QueueingHint.QUEUE
    before, after = limit(old), limit(new)
    return _queue_if(after is not None and (before is None or after > before))


_CHANGES: Final = ActionType.ADD | ActionType.UPDATE

EVENTS: Final = (
    EventHint(EventResource.STORAGE_CLASS, _CHANGES, after_class_change),
    EventHint(EventResource.PERSISTENT_VOLUME_CLAIM, _CHANGES, after_claim_change),
    EventHint(EventResource.PERSISTENT_VOLUME, _CHANGES),
    EventHint(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),
    EventHint(EventResource.CSI_NODE, _CHANGES, after_csi_node_change),
    EventHint(EventResource.CSI_DRIVER, ActionType.UPDATE, after_csi_driver_update),
    EventHint(EventResource.CSI_STORAGE_CAPACITY, _CHANGES, after_capacity_change),
)


def _migrated(csi_node: CSINode) -> str:
    return csi_node.metadata.annotations.get(MIGRATED_PLUGINS, "")


def _queue_if(condition: bool) -> QueueingHint:
    return QueueingHint.QUEUE if condition else QueueingHint.SKIP
