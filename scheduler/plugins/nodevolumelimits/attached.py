"""How many volumes of each CSI driver each node has and may have, kept up to date change by change.

kube-scheduler counts the volumes of all pods of all nodes in each cycle. Here a node is counted anew when one of its
pods, or an object that was looked up for them, has changed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from scheduler.cache.changes import Change
from scheduler.plugins.nodevolumelimits.volumes import VolumeError, Volumes, attachable

if TYPE_CHECKING:
    from scheduler.api.objects import CSINode, VolumeAttachment
    from scheduler.cache.objects import ObjectStore
    from scheduler.cache.state import ClusterState

Key = tuple[str, str, str]
Int64s = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

NO_LIMIT: Final = np.iinfo(np.int64).max
_ATTACHMENT: Final = "VolumeAttachment"
_KINDS: Final = ("CSINode", "PersistentVolumeClaim", "PersistentVolume", "StorageClass")


class _Driver:
    """One driver over rows: whether it is installed, how many volumes it may have there and how many it has."""

    __slots__ = ("installed", "limit", "used")

    def __init__(self, capacity: int) -> None:
        self.installed: Mask = np.zeros(capacity, np.bool_)
        self.limit: Int64s = np.full(capacity, NO_LIMIT, np.int64)
        self.used: Int64s = np.zeros(capacity, np.int64)

    def resize(self, capacity: int) -> None:
        """Make room for more rows."""
        more = capacity - len(self.used)
        self.installed = np.concatenate([self.installed, np.zeros(more, np.bool_)])
        self.limit = np.concatenate([self.limit, np.full(more, NO_LIMIT, np.int64)])
        self.used = np.concatenate([self.used, np.zeros(more, np.int64)])


class _Reader:
    """Looks objects up and notes which."""

    __slots__ = ("_objects", "keys")

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self.keys: set[Key] = set()

    def get(self, kind: str, namespace: str, name: str) -> Any | None:
        """An object, or None."""
        self.keys.add((kind, namespace, name))
        return self._objects.get(kind, namespace, name)


class AttachedVolumes:
    """The counts; `refresh` first, then read.

    - `has_csi_node`, `has_limits`: bool over rows.
    - `problems`: rows whose volumes can't be counted, and why.
    """

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._position = -1
        self._versions: dict[str, int] = {}
        self._drivers: dict[str, _Driver] = {}
        self._capacity = 0
        self._held: dict[int, Volumes] = {}
        self._holders: dict[tuple[str, str], set[int]] = defaultdict(set)
        self._touched: dict[int, set[str]] = {}
        self._read: dict[int, set[Key]] = {}
        self._readers: dict[Key, set[int]] = defaultdict(set)
        self._attachments = _Attachments(state.objects)
        self.has_csi_node: Mask = np.zeros(0, np.bool_)
        self.has_limits: Mask = np.zeros(0, np.bool_)
        self.problems: dict[int, str] = {}

    def driver(self, name: str) -> _Driver:
        """The columns of a driver."""
        found = self._drivers.get(name)
        if found is None:
            found = self._drivers[name] = _Driver(self._capacity)
        return found

    def holders(self, volume: tuple[str, str]) -> set[int]:
        """Rows whose pods hold a volume already."""
        return self._holders.get(volume, set())

    def refresh(self) -> None:
        """Follow what has changed since the last time."""
        table, objects = self._state.nodes, self._state.objects
        if table.capacity > self._capacity:
            self._grow(table.capacity)
        stale = self._stale_rows()
        self._position = table.log.end
        self._versions = {kind: objects.version(kind) for kind in _KINDS}
        for row in range(table.size) if stale is None else stale:
            self._forget(row)
            self._count(row)

    def _stale_rows(self) -> set[int] | None:
        """Rows to be counted anew; None for all of them."""
        table, objects = self._state.nodes, self._state.objects
        nodes = self._attachments.refresh()
        if self._position < 0:
            return None
        changed = table.log.rows(self._position, Change.NODE | Change.PODS)
        if changed is None:
            return None
        stale = set(changed.tolist())
        for kind in _KINDS:
            names = objects.changes(kind, self._versions[kind])
            if names is None:
                return None
            for namespace, name in names:
                stale |= self._readers.get((kind, namespace, name), set())
        stale.update(table.rows[node] for node in nodes if node in table.rows)
        return stale

    def _grow(self, capacity: int) -> None:
        more = np.zeros(capacity - self._capacity, np.bool_)
        self.has_csi_node = np.concatenate([self.has_csi_node, more])
        self.has_limits = np.concatenate([self.has_limits, more])
        self._capacity = capacity
        for driver in self._drivers.values():
            driver.resize(capacity)

    def _forget(self, row: int) -> None:
        self.has_csi_node[row] = self.has_limits[row] = False
        self.problems.pop(row, None)
        for name in self._touched.pop(row, ()):
            driver = self._drivers[name]
            driver.installed[row] = False
            driver.limit[row] = NO_LIMIT
            driver.used[row] = 0
        for volume in self._held.pop(row, ()):
            _discard(self._holders, volume, row)
        for key in self._read.pop(row, ()):
            _discard(self._readers, key, row)

    def _count(self, row: int) -> None:
        node = self._state.nodes.objects[row]
        if node is None:
            return
        name = node.metadata.name
        reader = _Reader(self._state.objects)
        csi_node: CSINode | None = reader.get("CSINode", "", name)
        if csi_node is not None:
            self._set_limits(row, csi_node)
            if self.has_limits[row]:
                self._count_volumes(row, name, reader)
        self._read[row] = reader.keys
        for key in reader.keys:
            self._readers[key].add(row)

    def _set_limits(self, row: int, csi_node: CSINode) -> None:
        self.has_csi_node[row] = True
        touched = self._touched[row] = set()
        for entry in csi_node.spec.drivers:
            driver = self.driver(entry.name)
            touched.add(entry.name)
            driver.installed[row] = True
            if entry.allocatable is not None and entry.allocatable.count is not None:
                driver.limit[row] = entry.allocatable.count
                self.has_limits[row] = True

    def _count_volumes(self, row: int, name: str, reader: _Reader) -> None:
        held: Volumes = {}
        try:
            for pod in self._state.volumes.on_row(row).values():
                held |= attachable(pod, reader, has_csi_node=True, is_new=False)
        except VolumeError as problem:
            self.problems[row] = str(problem)
            return
        attached = held | self._attachments.volumes(name, reader)
        for driver_name, count in Counter(attached.values()).items():
            self.driver(driver_name).used[row] = count
            self._touched[row].add(driver_name)
        self._held[row] = held
        for volume in held:
            self._holders[volume].add(row)


class _Attachments:
    """The VolumeAttachments of each node."""

    __slots__ = ("_by_node", "_nodes", "_objects", "_version")

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._version = 0
        self._nodes: dict[str, str] = {}
        self._by_node: dict[str, set[str]] = defaultdict(set)

    def refresh(self) -> set[str]:
        """The nodes whose attachments have changed since the last time."""
        changes = self._objects.changes(_ATTACHMENT, self._version)
        self._version = self._objects.version(_ATTACHMENT)
        names = {name for _, name in changes} if changes is not None else self._all()
        nodes = set()
        for name in names:
            before = self._nodes.pop(name, None)
            if before is not None:
                _discard(self._by_node, before, name)
                nodes.add(before)
            attachment: VolumeAttachment | None = self._objects.get(_ATTACHMENT, "", name)
            if attachment is not None:
                node = self._nodes[name] = attachment.spec.node_name
                self._by_node[node].add(name)
                nodes.add(node)
        return nodes

    def _all(self) -> set[str]:
        return {*self._nodes, *(item.metadata.name for item in self._objects.all(_ATTACHMENT))}

    def volumes(self, node: str, objects: _Reader) -> Volumes:
        """The CSI volumes that are attached to a node, or about to be."""
        found: Volumes = {}
        for name in self._by_node.get(node, ()):
            spec = self._objects.get(_ATTACHMENT, "", name).spec  # type: ignore[union-attr]
            volume_name = spec.source.persistent_volume_name
            if not spec.attacher or volume_name is None:
                continue
            volume = objects.get("PersistentVolume", "", volume_name)
            if volume is not None and volume.spec.csi is not None:
                found[spec.attacher, volume.spec.csi.volume_handle] = spec.attacher
        return found


def _discard(sets: dict[Any, set[Any]], key: Any, member: Any) -> None:
    members = sets.get(key)
    if members is not None:
        members.discard(member)
        if not members:
            del sets[key]
