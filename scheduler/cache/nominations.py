"""Pods that have a node in prospect but are not assigned to it yet (backend/queue/nominator.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from scheduler.cache.amounts import amounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.cache.nodes import NodeTable
    from scheduler.cache.pods import PodInfo, PodTable
    from scheduler.cache.shapes import Usage

Rows = npt.NDArray[np.intp]

_FIRST_CAPACITY = 16
_UNKNOWN = -2
_NOT_THERE = -1


class Rivals(NamedTuple):
    """Nominated pods in columns: the row of each one's node, and which of `usages` (by index) it takes there."""

    rows: Rows
    taken: Rows
    usages: Sequence[Usage]

    def on(self, wanted: npt.NDArray[np.bool_]) -> Rivals:
        """Those on the rows that a mask over all rows picks."""
        chosen = wanted[self.rows]
        return Rivals(self.rows[chosen], self.taken[chosen], self.usages)

    def loads(self, table: NodeTable) -> npt.NDArray[np.int64]:
        """int64[resources + 3, rows]: what they take on each node together, in the order of `amounts`."""
        each = amounts(table, self.usages)
        loads = np.zeros((len(each), table.size), np.int64)
        if len(self.rows):
            for load, amount in zip(loads, each[:, self.taken], strict=True):
                np.add.at(load, self.rows, amount)
        return loads


class Nominations:
    """Which pods are nominated to which nodes. `version` moves on with every change."""

    __slots__ = ("_by_node", "_by_uid", "_columns", "version")

    def __init__(self) -> None:
        self._by_node: dict[str, dict[str, PodInfo]] = {}
        self._by_uid: dict[str, str] = {}
        self._columns = _Columns()
        self.version = 0

    def __len__(self) -> int:
        return len(self._by_uid)

    def add(self, pod: PodInfo, node_name: str) -> None:
        """Nominate a pod to a node, instead of any that it was nominated to before; "" only takes that back."""
        self.remove(pod.uid)
        if node_name:
            self._by_node.setdefault(node_name, {})[pod.uid] = pod
            self._by_uid[pod.uid] = node_name
            self._columns.add(pod, node_name)
            self.version += 1

    def remove(self, uid: str) -> None:
        """Take a pod's nomination back, if it has one."""
        node_name = self._by_uid.pop(uid, None)
        if node_name is None:
            return
        nominated = self._by_node[node_name]
        del nominated[uid]
        if not nominated:
            del self._by_node[node_name]
        self._columns.remove(uid)
        self.version += 1

    def node_of(self, uid: str) -> str:
        """The node that a pod is nominated to, or ""."""
        return self._by_uid.get(uid, "")

    def on_node(self, node_name: str) -> list[PodInfo]:
        """The pods nominated to a node."""
        return list(self._by_node.get(node_name, {}).values())

    def nodes(self) -> list[str]:
        """The names of all nodes with a nominated pod."""
        return list(self._by_node)

    def rivals(self, pod: PodInfo, table: NodeTable, assigned: PodTable) -> Rivals:
        """The other pods nominated to any node that is there whose priority is not below the pod's.

        Those that are assigned already count on their nodes, and are no rivals any more.
        """
        columns = self._columns
        rows = columns.rows(table)
        hit = (columns.priorities >= pod.priority) & (rows >= 0)
        for uid in (pod.uid, *assigned.among(self._by_uid.keys())):
            place = columns.places.get(uid)
            if place is not None:
                hit[place] = False
        places = np.flatnonzero(hit)
        return Rivals(rows[places], columns.taken[places], columns.usages)


class _Columns:
    """The nominations in columns, in no particular order; a pod that goes leaves its place to the last one.

    `places` says by uid where a pod is; `usages` are the distinct ones, of which `taken` holds indices.
    """

    __slots__ = (
        "_indices",
        "_nodes",
        "_priorities",
        "_rows",
        "_table_version",
        "_taken",
        "_uids",
        "places",
        "usages",
    )

    def __init__(self) -> None:
        self._uids: list[str] = []
        self._nodes: list[str] = []
        self._priorities: npt.NDArray[np.int64] = np.zeros(_FIRST_CAPACITY, np.int64)
        self._rows: Rows = np.zeros(_FIRST_CAPACITY, np.intp)
        self._taken: Rows = np.zeros(_FIRST_CAPACITY, np.intp)
        self._indices: dict[int, int] = {}
        self._table_version = -1
        self.places: dict[str, int] = {}
        self.usages: list[Usage] = []

    @property
    def priorities(self) -> npt.NDArray[np.int64]:
        return self._priorities[: len(self._uids)]

    @property
    def taken(self) -> Rows:
        return self._taken[: len(self._uids)]

    def rows(self, table: NodeTable) -> Rows:
        """The row of each pod's node, negative where the node is not there."""
        rows = self._rows[: len(self._uids)]
        if table.version != self._table_version:
            rows[:] = _UNKNOWN
            self._table_version = table.version
        for place in np.flatnonzero(rows == _UNKNOWN).tolist():
            rows[place] = table.rows.get(self._nodes[place], _NOT_THERE)
        return rows

    def add(self, pod: PodInfo, node_name: str) -> None:
        place = len(self._uids)
        if place == len(self._rows):
            for name in ("_priorities", "_rows", "_taken"):
                old = getattr(self, name)
                setattr(self, name, np.concatenate([old, np.zeros_like(old)]))
        index = self._indices.get(id(pod.usage))
        if index is None:
            index = self._indices[id(pod.usage)] = len(self.usages)
            self.usages.append(pod.usage)
        self.places[pod.uid] = place
        self._uids.append(pod.uid)
        self._nodes.append(node_name)
        self._priorities[place], self._rows[place], self._taken[place] = pod.priority, _UNKNOWN, index

    def remove(self, uid: str) -> None:
        place = self.places.pop(uid)
        last_uid, last_node = self._uids.pop(), self._nodes.pop()
        last = len(self._uids)
        if place != last:
            self._uids[place], self._nodes[place] = last_uid, last_node
            self.places[last_uid] = place
            for column in (self._priorities, self._rows, self._taken):
                column[place] = column[last]
        if not last:  # nobody is left whose usage would have to be known
            self._indices, self.usages = {}, []
