"""The nodes of the cluster: a stable row each, and columns over the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec
import numpy as np
import numpy.typing as npt

from scheduler.api.quantity import milli_value, value
from scheduler.cache.changes import Change, ChangeLog
from scheduler.cache.images import ImageTable
from scheduler.cache.labels import LabelColumn
from scheduler.cache.order import NodeOrder
from scheduler.cache.ports import PortTable
from scheduler.cache.versions import Versioned

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from scheduler.api.objects import Node, Taint

Rows = slice | npt.NDArray[np.intp]
Int64s = npt.NDArray[np.int64]
Columns = tuple[Int64s, Int64s, Int64s, Int64s, Int64s]

CPU: Final = 0
MEMORY: Final = 1
EPHEMERAL_STORAGE: Final = 2
_FIRST_CAPACITY: Final = 16


class DistinctColumn:
    """Any hashable value a node, interned: decide once per distinct value, gather per node.

    `ids` is intp over rows, the type that arrays are indexed with; `values[id]` is the value. Id 0 is the value of rows
    without a node.
    """

    __slots__ = ("ids", "index", "values")

    def __init__(self, capacity: int, empty: Hashable) -> None:
        self.ids: npt.NDArray[np.intp] = np.zeros(capacity, np.intp)
        self.values: list[Hashable] = [empty]
        self.index: dict[Hashable, int] = {empty: 0}

    def set(self, row: int, item: Hashable) -> None:
        """Store a row's value."""
        identifier = self.index.get(item)
        if identifier is None:
            identifier = self.index[item] = len(self.values)
            self.values.append(item)
        self.ids[row] = identifier

    def resize(self, capacity: int) -> None:
        """Make room for more rows."""
        self.ids = np.concatenate([self.ids, np.zeros(capacity - len(self.ids), np.intp)])


class NodeTable:
    """Columns over node rows.

    A node keeps its row while it lives; the rows of removed nodes are masked in `live` and used again. Only the first
    `size` rows have ever been used; arrays may be longer.

    - `allocatable`, `requested`: int64[R, capacity], R resources in the order of `resources`: milli-CPU, bytes, counts.
    - `nonzero`: int64[2, capacity], CPU and memory requests with the scoring defaults for what is not requested.
    - `allowed_pods`, `pod_count`: int64[capacity].
    - `names`: object[capacity], None in a row without a node.
    - `taints`: distinct tuples of `api.Taint`; `features`: distinct frozensets of declared features.
    """

    def __init__(self) -> None:
        capacity = _FIRST_CAPACITY
        self.capacity = capacity
        self.size = 0
        self.count = 0
        self.rows: dict[str, int] = {}
        self.objects: list[Node | None] = []
        self.names = Versioned()
        self.names.vector = np.full(capacity, None, np.object_)
        self.resources: dict[str, int] = {
            "cpu": CPU,
            "memory": MEMORY,
            "ephemeral-storage": EPHEMERAL_STORAGE,
        }
        self.live: npt.NDArray[np.bool_] = np.zeros(capacity, np.bool_)
        self.unschedulable: npt.NDArray[np.bool_] = np.zeros(capacity, np.bool_)
        self.allocatable: Int64s = np.zeros((3, capacity), np.int64)
        self.requested: Int64s = np.zeros((3, capacity), np.int64)
        self.nonzero: Int64s = np.zeros((2, capacity), np.int64)
        self.allowed_pods: Int64s = np.zeros(capacity, np.int64)
        self.pod_count: Int64s = np.zeros(capacity, np.int64)
        self.taints = DistinctColumn(capacity, ())
        self.features = DistinctColumn(capacity, frozenset())
        self.ports = PortTable()
        self.images = ImageTable()
        self.order = NodeOrder()
        self.log = ChangeLog()
        self.version = 0
        """Moves on when a node comes or goes."""
        self._labels: dict[str, LabelColumn] = {}
        self._free: list[int] = []
        self._changed: dict[tuple[int, int], NodeView] = {}
        self._changed_at = -1
        self._columns: Columns | None = None

    def __len__(self) -> int:
        return self.count

    def __contains__(self, name: str) -> bool:
        return name in self.rows

    def __iter__(self) -> Iterator[Node]:
        """The nodes, by row."""
        return (node for node in self.objects if node is not None)

    def name(self, row: int) -> str:
        """The name of the node in a row in use."""
        node = self.objects[row]
        assert node is not None
        return node.metadata.name

    def node(self, row: int) -> Node:
        """The node in a row in use."""
        node = self.objects[row]
        assert node is not None
        return node

    @property
    def columns(self) -> Columns:
        """`allocatable`, `requested`, `nonzero`, `allowed_pods` and `pod_count`, as they are now."""
        columns = self._columns
        if columns is None:
            columns = self._columns = (
                self.allocatable,
                self.requested,
                self.nonzero,
                self.allowed_pods,
                self.pod_count,
            )
        return columns

    def changed(self, position: int, mask: int) -> NodeView | None:
        """The rows changed since a position of the log in what `mask` names; None if that is no longer known.

        It is the same view for all who ask the same until something changes, and keeps what they make of it.
        """
        end = self.log.end
        if end != self._changed_at:
            self._changed, self._changed_at = {}, end
        view = self._changed.get((position, mask))
        if view is None:
            rows = self.log.rows(position, mask)
            if rows is None:
                return None
            view = self._changed[position, mask] = NodeView(self, rows)
            view.kept = {}
        return view

    def resource(self, name: str) -> int:
        """The index of a resource in `allocatable` and `requested`, made on first sight."""
        index = self.resources.get(name)
        if index is None:
            index = self.resources[name] = len(self.resources)
            row = np.zeros((1, self.capacity), np.int64)
            self.allocatable = np.concatenate([self.allocatable, row])
            self.requested = np.concatenate([self.requested, row])
            self._columns = None
        return index

    def labels(self, key: str) -> LabelColumn:
        """The column of a label key, made on first use."""
        column = self._labels.get(key)
        if column is None:
            column = self._labels[key] = LabelColumn(key, self.capacity)
            for row, node in enumerate(self.objects):
                if node is not None:
                    column.set(row, node.metadata.labels.get(key))
        return column

    def set(self, node: Node) -> tuple[int, Change]:
        """Add or replace a node; its row, and what changed."""
        name = node.metadata.name
        row = self.rows.get(name)
        if row is None:
            row = self._new_row()
            self.rows[name] = row
            self._rename(row, name)
            self.live[row] = True
            self.count += 1
            self.version += 1
            old = None
            changed = Change.ALL & ~(Change.REQUESTED | Change.PORTS | Change.PODS)
        else:
            old = self.objects[row]
            changed = _difference(old, node) if old is not None else Change.ALL
        self.order.set(old, node, row)
        self._put(row, old, node, changed)
        return row, changed

    def stand_in(self, node: Node) -> None:
        """Let a node be as given for the length of a trial, and put it back in the same way.

        Its place in `order` stays what it is, which a node that changes its zone and comes back would lose.
        """
        row = self.rows[node.metadata.name]
        old = self.node(row)
        self._put(row, old, node, _difference(old, node))

    def _put(self, row: int, old: Node | None, node: Node, changed: Change) -> None:
        self.objects[row] = node
        if changed:
            self._store(row, old, node, changed)
            self.log.append(row, changed)

    def remove(self, name: str) -> int:
        """Free a node's row; its pods must have been taken off before."""
        row = self.rows.pop(name)
        old = self.node(row)
        self.images.remove(row, old)
        self.order.remove(old)
        self.objects[row] = None
        self._rename(row, None)
        self.live[row] = False
        self.unschedulable[row] = False
        self.allocatable[:, row] = 0
        self.requested[:, row] = 0
        self.nonzero[:, row] = 0
        self.allowed_pods[row] = 0
        self.pod_count[row] = 0
        self.taints.set(row, ())
        self.features.set(row, frozenset())
        for column in self._labels.values():
            column.set(row, None)
        self._free.append(row)
        self.count -= 1
        self.version += 1
        self.log.append(row, Change.ALL)
        return row

    def _store(self, row: int, old: Node | None, node: Node, changed: Change) -> None:
        if changed & Change.ALLOCATABLE:
            self._store_allocatable(row, node)
        if changed & Change.TAINTS:
            self.taints.set(row, _timeless(node.spec.taints))
            self.unschedulable[row] = node.spec.unschedulable
        if changed & Change.LABELS:
            for key, column in self._labels.items():
                column.set(row, node.metadata.labels.get(key))
        if changed & Change.FEATURES:
            self.features.set(row, frozenset(node.status.declared_features))
        if changed & Change.IMAGES:
            if old is not None:
                self.images.remove(row, old)
            self.images.add(row, node)

    def _store_allocatable(self, row: int, node: Node) -> None:
        self.allocatable[:, row] = 0
        self.allowed_pods[row] = 0
        for resource, amount in node.status.allocatable.items():
            if resource == "cpu":
                self.allocatable[CPU, row] = milli_value(amount)
            elif resource == "pods":
                self.allowed_pods[row] = value(amount)
            else:
                index = self.resource(resource)  # may replace the array
                self.allocatable[index, row] = value(amount)

    def _new_row(self) -> int:
        if self._free:
            return self._free.pop()
        if self.size == self.capacity:
            self._grow()
        self.size += 1
        self.objects.append(None)
        return self.size - 1

    def _rename(self, row: int, name: str | None) -> None:
        vector = self.names.vector
        assert vector is not None
        self.names.before_patch(row)
        vector[row] = name

    def _grow(self) -> None:
        capacity = self.capacity + max(_FIRST_CAPACITY, self.capacity // 2)
        more = capacity - self.capacity

        def longer(array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
            return np.concatenate([array, np.zeros((*array.shape[:-1], more), array.dtype)], axis=-1)

        for name in (
            "live",
            "unschedulable",
            "allocatable",
            "requested",
            "nonzero",
            "allowed_pods",
            "pod_count",
        ):
            setattr(self, name, longer(getattr(self, name)))
        names = self.names.vector
        assert names is not None
        self.names.vector = np.concatenate([names, np.full(more, None, np.object_)])
        self.taints.resize(capacity)
        self.features.resize(capacity)
        for column in self._labels.values():
            column.resize(capacity)
        self.capacity = capacity
        self._columns = None


def _timeless(taints: tuple[Taint, ...]) -> tuple[Taint, ...]:
    """The taints without the times at which they were added, which would make every list of them distinct."""
    return tuple(msgspec.structs.replace(taint, time_added=None) if taint.time_added else taint for taint in taints)


def _difference(old: Node, new: Node) -> Change:
    """What of a node that scheduling looks at differs."""
    changed = Change.NONE
    if old.metadata.labels != new.metadata.labels:
        changed |= Change.LABELS
    if old.spec.taints != new.spec.taints or old.spec.unschedulable != new.spec.unschedulable:
        changed |= Change.TAINTS
    if old.status.allocatable != new.status.allocatable:
        changed |= Change.ALLOCATABLE
    if old.status.images != new.status.images:
        changed |= Change.IMAGES
    if old.status.declared_features != new.status.declared_features:
        changed |= Change.FEATURES
    if old.status.conditions != new.status.conditions:
        changed |= Change.CONDITIONS
    if old.metadata.annotations != new.metadata.annotations:
        changed |= Change.ANNOTATIONS
    return changed


class NodeView:
    """All rows of a table, or some of them, as plugins see them: every array has one entry a row of the view.

    `rows` indexes the columns of `table`: a slice for all rows (no copy is made), an array for a choice of them.
    Rows without a node may be among them; what a plugin answers there is not looked at.

    In `kept` is what was made of the table for a view that is given up as soon as anything changes there; None where it
    may live longer.
    """

    __slots__ = ("kept", "rows", "size", "table")

    bare: ClassVar[bool] = False
    """Whether the nodes are to be looked at as if no pods were on them."""

    def __init__(self, table: NodeTable, rows: npt.NDArray[np.intp] | None = None) -> None:
        self.table = table
        self.rows: Rows = slice(0, table.size) if rows is None else rows
        self.size = table.size if rows is None else len(rows)
        self.kept: dict[Any, Any] | None = None

    def __len__(self) -> int:
        return self.size

    @property
    def indices(self) -> npt.NDArray[np.intp]:
        """The rows as an array of indices."""
        return np.arange(self.size) if isinstance(self.rows, slice) else self.rows

    @property
    def chosen(self) -> int | npt.NDArray[np.intp]:
        """The rows, or how many of the first ones where it is all of them."""
        return self.size if isinstance(self.rows, slice) else self.rows

    @property
    def unschedulable(self) -> npt.NDArray[np.bool_]:
        """spec.unschedulable, bool."""
        return self.table.unschedulable[self.rows]

    @property
    def allowed_pods(self) -> Int64s:
        """How many pods the node takes."""
        return self.table.allowed_pods[self.rows]

    @property
    def pod_count(self) -> Int64s:
        """How many pods the node has."""
        return self.table.pod_count[self.rows]

    def allocatable(self, resource: int) -> Int64s:
        """Allocatable amount of a resource by its index (`table.resource(name)`)."""
        column: Int64s = self.table.allocatable[resource][self.rows]
        return column

    def requested(self, resource: int) -> Int64s:
        """What the pods of the node request of a resource."""
        column: Int64s = self.table.requested[resource][self.rows]
        return column

    def nonzero(self, resource: int) -> Int64s:
        """What the pods request of CPU (0) or memory (1), with defaults for those that request nothing."""
        column: Int64s = self.table.nonzero[resource][self.rows]
        return column

    def label_ids(self, key: str) -> npt.NDArray[np.intp]:
        """Ids of the values of a label key (`table.labels(key).values`), 0 where it is absent."""
        return self.table.labels(key).ids[self.rows]

    @property
    def taint_ids(self) -> npt.NDArray[np.intp]:
        """Ids of the nodes' taint lists (`table.taints.values`)."""
        return self.table.taints.ids[self.rows]
