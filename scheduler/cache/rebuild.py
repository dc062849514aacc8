"""A state from scratch that ought to equal one kept by events: to check the latter."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from scheduler.api.meta import ObjectMeta
from scheduler.api.objects import Namespace
from scheduler.cache.assumed import OutOfSyncError
from scheduler.cache.pods import NO_ROW
from scheduler.cache.state import ClusterState

if TYPE_CHECKING:
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.shapes import ShapeTable


def rebuild(state: ClusterState) -> ClusterState:
    """The same cluster in columns, counters and shapes of its own; rows may differ.

    What can't be known from the objects is taken over: the order of nodes, the order of pods, which pods and
    objects are assumed, nominations, and the sizes of images as they were first seen.
    """
    twin = ClusterState()
    for name, labels in state.namespaces.items():
        twin.set_namespace(Namespace(metadata=ObjectMeta(name=name, labels=dict(labels))))
    for kind in state.objects.kinds():
        for item in state.objects.all(kind):
            twin.set_object(kind, item)
    for kind, item in state.assumed_objects:
        with suppress(OutOfSyncError):  # overridden by a newer version
            twin.assumed_objects.assume(kind, item)
    for row in state.nodes.order.rows().tolist():
        twin.set_node(state.nodes.node(row))
    twin.nodes.order.restore(state.nodes.order.names())
    for name, image in state.nodes.images.states.items():
        twin.nodes.images.states[name].size = image.size
    for pod in state.pods:
        record = copy_pod(pod, twin.shapes)
        if state.is_assumed(pod.uid):
            twin.assume(record, pod.node_name)
        else:
            twin.set_pod(record)
    copies = {pod.uid: pod for pod in twin.pods}
    for name in {pod.node_name for pod in state.pods}:
        twin.pods.arrange(name, [copies[pod.uid] for pod in state.pods.on_node(name)])
    for name in state.nominations.nodes():
        for pod in state.nominations.on_node(name):
            twin.nominations.add(copy_pod(pod, twin.shapes), name)
    return twin


def copy_pod(pod: PodInfo, shapes: ShapeTable) -> PodInfo:
    """The same pod, not counted anywhere, with its shape interned among `shapes`."""
    shape = shapes.shape(pod.shape.pod)
    usage = shape.usage if pod.usage is pod.shape.usage else pod.usage
    copied: PodInfo = msgspec.structs.replace(pod, shape=shape, usage=usage, row=NO_ROW)
    return copied
