"""Which events may make room for a pod that NodeResourcesFit rejected.

Source: pkg/scheduler/framework/plugins/noderesources/fit.go, isSchedulableAfter*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.api.quantity import milli_value, value
from scheduler.api.resource_names import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from scheduler.framework import device_classes
from scheduler.framework.events import ActionType, EventHint, EventResource, QueueingHint
from scheduler.plugins.noderesources.resource_allocation import requests_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.api.objects import DeviceClass, Node
    from scheduler.cache.objects import ObjectStore
    from scheduler.cache.pods import PodInfo

_NATIVE: Final = (CPU, MEMORY, EPHEMERAL_STORAGE)


def allocatable(node: Node, resource: str) -> int:
    """What a node has of a resource: milli-CPU, bytes or a count."""
    text = node.status.allocatable.get(resource)
    if text is None:
        return 0
    return milli_value(text) if resource == CPU else value(text)


def positive_requests(pod: PodInfo) -> Iterator[tuple[str, int]]:
    """The resources that a pod asks for more than nothing of."""
    return ((name, amount) for name, amount in requests_of(pod.shape).items() if amount > 0)


class FitHints:
    """The hints; `objects` has the device classes that stand for extended resources."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects

    def events(self) -> list[EventHint]:
        """All events of interest."""
        return [
            EventHint(EventResource.ASSIGNED_POD, ActionType.DELETE, self.after_pod_deletion),
            EventHint(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE, self.after_node_change),
            EventHint(EventResource.DEVICE_CLASS, ActionType.ADD | ActionType.UPDATE, self.after_device_class_change),
            EventHint(EventResource.ASSIGNED_POD, ActionType.UPDATE_POD_SCALE_DOWN, self.after_pod_scale_down),
            EventHint(EventResource.TARGET_POD, ActionType.UPDATE_POD_SCALE_DOWN, self.after_own_scale_down),
        ]

    def after_pod_deletion(self, pod: PodInfo, old: PodInfo, new: PodInfo | None) -> QueueingHint:
        """The pod that went had a node, or was about to get one."""
        del pod, new
        return _queue_if(bool(old.node_name or old.nominated_node_name))

    def after_node_change(self, pod: PodInfo, old: Node | None, new: Node) -> QueueingHint:
        """The pod would fit on the node if it were empty, and the node has more than before of what it asks for."""
        if not self._fits_empty(pod, new):
            return QueueingHint.SKIP
        return _queue_if(old is None or self._has_grown(pod, old, new))

    def after_device_class_change(self, pod: PodInfo, old: DeviceClass | None, new: DeviceClass) -> QueueingHint:
        """The class newly stands for a resource that the pod asks for."""
        requests = requests_of(pod.shape)
        resource = new.spec.extended_resource_name or ""
        if old is not None:
            if (old.spec.extended_resource_name or "") == resource:
                return QueueingHint.SKIP
        elif device_classes.IMPLICIT_PREFIX + new.metadata.name in requests:
            return QueueingHint.QUEUE
        return _queue_if(resource in requests)

    def after_pod_scale_down(self, pod: PodInfo, old: PodInfo, new: PodInfo) -> QueueingHint:
        """The other pod has a node, and takes less than before of something that this one asks for, or would be taken
        to take by its status."""
        if not new.node_name:
            return QueueingHint.SKIP
        before, after = old.usage.requests, new.usage.requests
        asked = (name for name, amount in pod.usage.requests.items() if amount)
        return _queue_if(any(before.get(name, 0) > after.get(name, 0) for name in asked))

    def after_own_scale_down(self, pod: PodInfo, old: PodInfo | None, new: PodInfo) -> QueueingHint:
        """The pod asks for less than before."""
        del pod, old, new
        return QueueingHint.QUEUE

    def _fits_empty(self, pod: PodInfo, node: Node) -> bool:
        """Whether the node has room without any pod; ignored resources are not ignored here."""
        return allocatable(node, PODS) >= 1 and all(
            amount <= allocatable(node, name) or self._is_elsewhere(name, node)
            for name, amount in positive_requests(pod)
        )

    def _has_grown(self, pod: PodInfo, old: Node, new: Node) -> bool:
        if allocatable(new, PODS) > allocatable(old, PODS):
            return True
        return any(
            allocatable(new, name) > allocatable(old, name) or self._is_elsewhere(name, new)
            for name, _ in positive_requests(pod)
        )

    def _is_elsewhere(self, resource: str, node: Node) -> bool:
        """Whether the node has none of the resource and a DeviceClass stands for it."""
        if resource in _NATIVE or allocatable(node, resource) > 0:
            return False
        return device_classes.is_backed(resource, self._objects)


def _queue_if(condition: bool) -> QueueingHint:
    return QueueingHint.QUEUE if condition else QueueingHint.SKIP
