"""Which events may help a pod that NodeVolumeLimits rejected (nodevolumelimits/csi.go, isSchedulableAfter*)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.api.claims import claim_name
from scheduler.api.csi_migration import in_tree_of, inline_handle
from scheduler.framework.events import ActionType, EventHint, EventResource, QueueingHint

if TYPE_CHECKING:
    from scheduler.api.objects import CSINode, PersistentVolumeClaim, Volume, VolumeAttachment
    from scheduler.cache.pods import PodInfo


def after_csi_node_update(pod: PodInfo, old: CSINode, new: CSINode) -> QueueingHint:
    """The node takes more volumes of some driver than before."""
    del pod
    before = _limits(old)
    return _queue_if(any(limit > before.get(driver, 0) for driver, limit in _limits(new).items()))


def after_pod_deletion(pod: PodInfo, old: PodInfo, new: PodInfo | None) -> QueueingHint:
    """The pod that went had a node, or was about to get one, and volumes that count."""
    del pod, new
    needs = old.shape.volumes
    if needs is None or not (old.node_name or old.nominated_node_name):
        return QueueingHint.SKIP
    return _queue_if(bool(needs.claims or needs.ephemeral or needs.migratable))


def after_claim_added(pod: PodInfo, old: object, new: PersistentVolumeClaim) -> QueueingHint:
    """The claim is one of the pod's, be it that of an ephemeral volume."""
    del old
    meta = new.metadata
    if pod.shape.volumes is None or meta.namespace != pod.namespace:
        return QueueingHint.SKIP
    return _queue_if(any(claim_name(volume, pod.name) == meta.name for volume in pod.shape.pod.spec.volumes))


def after_attachment_deletion(pod: PodInfo, old: VolumeAttachment, new: object) -> QueueingHint:
    """The pod has a claim, or a volume of the driver that detached one."""
    del new
    for volume in pod.shape.pod.spec.volumes:
        if volume.persistent_volume_claim is not None or _driver_of(volume) == old.spec.attacher:
            return QueueingHint.QUEUE
    return QueueingHint.SKIP


EVENTS: Final = (
    EventHint(EventResource.CSI_NODE, ActionType.ADD),
    EventHint(EventResource.CSI_NODE, ActionType.UPDATE, after_csi_node_update),
    EventHint(EventResource.ASSIGNED_POD, ActionType.DELETE, after_pod_deletion),
    EventHint(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD, after_claim_added),
    EventHint(EventResource.VOLUME_ATTACHMENT, ActionType.DELETE, after_attachment_deletion),
)


def _limits(csi_node: CSINode) -> dict[str, int]:
    """Limits by driver; none counts as 0 here."""
    return {
        driver.name: (driver.allocatable.count or 0) if driver.allocatable is not None else 0
        for driver in csi_node.spec.drivers
    }


def _driver_of(volume: Volume) -> str | None:
    """The CSI driver of a volume that is written into a pod. Raises MigrationError, which counts as worth a try."""
    plugin = in_tree_of(volume)
    if plugin is None:
        return None
    if plugin.migrated:
        inline_handle(volume, plugin)
    return plugin.driver


def _queue_if(condition: bool) -> QueueingHint:
    return QueueingHint.QUEUE if condition else QueueingHint.SKIP
