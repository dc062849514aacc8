"""The selector for pods without constraints of their own: that of their services and of their controller.

Source: pkg/scheduler/framework/plugins/helper/spread.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.api.owners import controller_of
from scheduler.api.selectors import Selector, SelectorError, compile_label_selector, selector_from_set

if TYPE_CHECKING:
    from collections.abc import Hashable

    from scheduler.cache.objects import ObjectStore
    from scheduler.cache.shapes import PodShape

_REPLICATION_CONTROLLER: Final = ("v1", "ReplicationController")
_SELECTING: Final = {("apps/v1", "ReplicaSet"), ("apps/v1", "StatefulSet")}


def default_selector(shape: PodShape, objects: ObjectStore) -> Selector:
    """All labels that the services of the pod ask for, and what its controller asks for; empty if there is neither.

    Only ReplicationControllers, ReplicaSets and StatefulSets count as controllers (DefaultSelector).
    """
    namespace, labels = shape.namespace, shape.labels
    wanted: dict[str, str] = {}
    for service in objects.in_namespace("Service", namespace):
        selector = service.spec.selector
        if selector and selector_from_set(selector).matches(labels):
            wanted.update(selector)
    owner = controller_of(shape.pod.metadata)
    kind = (owner.api_version, owner.kind) if owner is not None else None
    controller = None
    if owner is not None and (kind == _REPLICATION_CONTROLLER or kind in _SELECTING):
        controller = objects.get(owner.kind, namespace, owner.name)
    if controller is None:
        return selector_from_set(wanted)
    if kind == _REPLICATION_CONTROLLER:
        return selector_from_set(wanted | controller.spec.selector)
    try:
        selector = compile_label_selector(controller.spec.selector)
    except SelectorError:
        return selector_from_set(wanted)
    return selector_from_set(wanted).with_requirements(selector.requirements)


def selector_version(shape: PodShape, objects: ObjectStore) -> Hashable:
    """A value that changes whenever the default selector of a shape may."""
    owner = controller_of(shape.pod.metadata)
    return objects.version("Service"), objects.version(owner.kind) if owner is not None else 0
