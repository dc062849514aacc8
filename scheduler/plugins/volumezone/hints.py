"""Which events may help a pod that VolumeZone rejected (volumezone/volume_zone.go, isSchedulableAfter*)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.api.claims import WAIT_FOR_FIRST_CONSUMER
from scheduler.framework.events import ActionType, EventHint, EventResource, QueueingHint
from scheduler.plugins.volumezone.topology import topologies

if TYPE_CHECKING:
    from scheduler.api.objects import PersistentVolume, PersistentVolumeClaim, StorageClass
    from scheduler.cache.pods import PodInfo


def after_class_added(pod: PodInfo, old: StorageClass | None, new: StorageClass) -> QueueingHint:
    """The class waits for the first consumer."""
    del pod, old
    return _queue_if(new.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER)


def after_claim_change(pod: PodInfo, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim) -> QueueingHint:
    """The claim is one of the pod's."""
    del old
    needs, meta = pod.shape.volumes, new.metadata
    return _queue_if(needs is not None and meta.namespace == pod.namespace and meta.name in needs.claims)


def after_volume_change(pod: PodInfo, old: PersistentVolume | None, new: PersistentVolume) -> QueueingHint:
    """The volume is new, or its labels name other zones."""
    del pod
    return _queue_if(old is None or topologies(old) != topologies(new))


EVENTS: Final = (
    EventHint(EventResource.STORAGE_CLASS, ActionType.ADD, after_class_added),
    EventHint(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),
    EventHint(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD | ActionType.UPDATE, after_claim_change),
    EventHint(EventResource.PERSISTENT_VOLUME, ActionType.ADD | ActionType.UPDATE, after_volume_change),
)


def _queue_if(condition: bool) -> QueueingHint:
    return QueueingHint.QUEUE if condition else QueueingHint.SKIP
