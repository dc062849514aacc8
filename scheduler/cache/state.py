"""The state of the cluster: the one thing that decisions read, kept live by events."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from scheduler.cache.assumed import AssumedObjects
from scheduler.cache.changes import Change
from scheduler.cache.counters import Counters
from scheduler.cache.nodes import CPU, MEMORY, NodeTable
from scheduler.cache.nominations import Nominations
from scheduler.cache.objects import ObjectStore
from scheduler.cache.pods import NO_ROW, PodInfo, PodTable, pod_info
from scheduler.cache.shapes import ShapeTable
from scheduler.cache.volumes import VolumeUse
from scheduler.cache.what_if import ColumnTrial, NodeTrial, WhatIf

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from scheduler.api.objects import Namespace, Node, Pod
    from scheduler.cache.shapes import Usage

_USE: Final = int(Change.REQUESTED | Change.PODS)
_POD: Final = int(Change.PODS)
_PORTS: Final = int(Change.PORTS)


class ClusterState:
    """Nodes, pods, counters and the other objects that plugins read.

    Since a cycle runs without interruption, the live state is its snapshot. All changes go through the methods here,
    which keep columns, counters and change logs in step.
    """

    def __init__(self) -> None:
        self.nodes = NodeTable()
        self.pods = PodTable()
        self.shapes = ShapeTable()
        self.counters = Counters(self.nodes)
        self.nominations = Nominations()
        self.objects = ObjectStore()
        self.assumed_objects = AssumedObjects(self.objects)
        self.volumes = VolumeUse()
        self._assumed: dict[str, PodInfo] = {}
        self._namespaces: dict[str, Mapping[str, str]] = {}
        self.counters.namespace_labels = self._namespaces

    # nodes

    def set_node(self, node: Node) -> Change:
        """Add or update a node; what changed. Pods that name it and were there before it are counted from now on."""
        is_new = node.metadata.name not in self.nodes
        row, changed = self.nodes.set(node)
        if is_new:
            for pod in self.pods.on_node(node.metadata.name):
                self._apply(pod, row, 1)
        return changed

    def remove_node(self, name: str) -> None:
        """Remove a node, if it is there. Its pods stay known, but count nowhere until it is back."""
        row = self.nodes.rows.get(name)
        if row is None:
            return
        for pod in self.pods.on_node(name):
            self._apply(pod, row, -1)
        self.nodes.remove(name)

    # pods

    def info(self, pod: Pod) -> PodInfo:
        """The record of a pod, its shape interned; it is not stored."""
        return pod_info(pod, self.shapes)

    def set_pod(self, pod: PodInfo) -> PodInfo | None:
        """Store an assigned pod, or a newer version of it; the version before, assumed ones included."""
        old = self.pods.get(pod.uid)
        self._assumed.pop(pod.uid, None)
        if old is not None and _uses_alike(old, pod):
            if old.shape is not pod.shape and old.row != NO_ROW:
                self.counters.recount(old, pod, old.row)
                self.nodes.log.append(old.row, _POD)
            self.pods.remove(old)
            pod.row = old.row
            self.pods.add(pod)
            return old
        if old is not None:
            self._take(old)
        self._put(pod)
        return old

    def remove_pod(self, uid: str) -> PodInfo | None:
        """Remove an assigned pod; the record it had, or None if there was none."""
        pod = self.pods.get(uid)
        if pod is not None:
            self._assumed.pop(uid, None)
            self._take(pod)
        return pod

    def assume(self, pod: PodInfo, node_name: str) -> PodInfo:
        """Count a pod on the node it was given, before it is bound; the record that stands for it there.

        Raises ValueError if the pod is on a node already.
        """
        if self.pods.get(pod.uid) is not None:
            raise ValueError(f"pod {pod.key} ({pod.uid}) is in the cache, so can't be assumed")
        placed = pod.on(node_name)
        self._put(placed)
        self._assumed[placed.uid] = placed
        return placed

    def forget(self, uid: str) -> PodInfo | None:
        """Take an assumption back; the record, or None if the pod was bound (or removed) in the meantime."""
        pod = self._assumed.pop(uid, None)
        if pod is not None:
            self._take(pod)
        return pod

    def is_assumed(self, uid: str) -> bool:
        """Whether a pod is counted on a node but not known to be bound."""
        return uid in self._assumed

    @property
    def assumed(self) -> Mapping[str, PodInfo]:
        """The assumed pods by uid."""
        return self._assumed

    def _put(self, pod: PodInfo) -> None:
        self.pods.add(pod)
        row = self.nodes.rows.get(pod.node_name)
        if row is not None:
            self._apply(pod, row, 1)

    def _take(self, pod: PodInfo) -> None:
        if pod.row != NO_ROW:
            self._apply(pod, pod.row, -1)
        self.pods.remove(pod)

    def _apply(self, pod: PodInfo, row: int, sign: int) -> None:
        """Count a pod in (sign 1) or out (-1) of a row, everywhere."""
        nodes, usage = self.nodes, pod.usage
        requested = nodes.requested
        for resource, amount in usage.requests.items():
            index = nodes.resources.get(resource)
            if index is None:
                index = nodes.resource(resource)
                requested = nodes.requested
            requested[index, row] += sign * amount
        nodes.nonzero[CPU, row] += sign * usage.nonzero_cpu
        nodes.nonzero[MEMORY, row] += sign * usage.nonzero_memory
        nodes.pod_count[row] += sign
        changed = _USE
        if usage.ports:
            nodes.ports.add(row, usage.ports, sign)
            changed |= _PORTS
        nodes.log.append(row, changed)
        self.counters.count(pod, row, sign)
        if pod.shape.volumes is not None:
            self.volumes.count(pod, pod.shape.volumes, row, sign)
        pod.row = row if sign > 0 else NO_ROW

    # what-if

    @contextmanager
    def what_if(self) -> Iterator[WhatIf]:
        """Try changes: whatever is done through the yielded object is undone on exit."""
        trial = WhatIf(self.pods, self._put, self._take)
        try:
            yield trial
        finally:
            trial.undo()

    @contextmanager
    def what_if_columns(self, rows: npt.NDArray[np.intp], usages: Sequence[Usage]) -> Iterator[ColumnTrial]:
        """Try pods with these usages on, or off, many (distinct) rows at once; see there for what may be asked then."""
        trial = ColumnTrial(self.nodes, rows, usages)
        try:
            yield trial
        finally:
            trial.undo()

    @contextmanager
    def what_if_nodes(self) -> Iterator[NodeTrial]:
        """Try other nodes: whatever is changed or added through the yielded object is undone on exit."""
        trial = NodeTrial(self.nodes, self.set_node, self.remove_node)
        try:
            yield trial
        finally:
            trial.undo()

    # everything else

    def set_namespace(self, namespace: Namespace) -> None:
        """Add or update a namespace: its labels are what namespace selectors look at."""
        name, labels = namespace.metadata.name, namespace.metadata.labels
        if self._namespaces.get(name) != labels:
            self._namespaces[name] = labels
            self.counters.namespaces_version += 1

    def remove_namespace(self, name: str) -> None:
        """Remove a namespace, if it is there."""
        if self._namespaces.pop(name, None) is not None:
            self.counters.namespaces_version += 1

    @property
    def namespaces(self) -> Mapping[str, Mapping[str, str]]:
        """The labels of all namespaces that have an object, by name."""
        return self._namespaces

    @property
    def namespaces_version(self) -> int:
        """Moves on when a namespace comes, goes or has other labels."""
        return self.counters.namespaces_version

    def set_object(self, kind: str, item: Any) -> None:
        """Store an object of another kind (Service, ReplicaSet, ...)."""
        self.objects.set(kind, item)

    def remove_object(self, kind: str, namespace: str, name: str) -> None:
        """Remove an object of another kind, if it is there."""
        self.objects.remove(kind, namespace, name)


def _uses_alike(old: PodInfo, new: PodInfo) -> bool:
    """Whether all that is counted of a pod by its node is the same, as of any pod that was assumed and is bound now.

    Its labels may differ: the API server gives those of the node's topology to each pod as it is bound (admission
    plugin PodTopologyLabels).
    """
    return (
        old.node_name == new.node_name
        and old.terminating == new.terminating
        and old.usage == new.usage
        and (old.shape is new.shape or (old.shape.volumes is None and new.shape.volumes is None))
    )
