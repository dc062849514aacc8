"""Changes that are tried and taken back, by the ordinary incremental updates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scheduler.cache.amounts import amounts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scheduler.api.objects import Node
    from scheduler.cache.nodes import NodeTable
    from scheduler.cache.pods import PodInfo, PodTable
    from scheduler.cache.shapes import Usage

Rows = npt.NDArray[np.intp]


class WhatIf:
    """Pods added and removed for the length of a trial; undone in reverse order.

    Counts, columns, counters and the order of a node's pods are exactly as before afterwards; caches follow through the
    change logs as they do for any other change. `steps` are the changes so far: (1, pod) for one that came, (-1, pod)
    for one that went.
    """

    __slots__ = ("_orders", "_pods", "_put", "_take", "steps")

    def __init__(self, pods: PodTable, put: Callable[[PodInfo], None], take: Callable[[PodInfo], None]) -> None:
        self._pods = pods
        self._put = put
        self._take = take
        self._orders: dict[str, list[PodInfo]] = {}
        self.steps: list[tuple[int, PodInfo]] = []

    def add(self, pod: PodInfo, node_name: str) -> PodInfo:
        """Count a pod on a node; the record that stands for it there."""
        placed = pod.on(node_name)
        self._note_order(node_name)
        self._put(placed)
        self.steps.append((1, placed))
        return placed

    def remove(self, pod: PodInfo) -> None:
        """Take an assigned pod away."""
        self._note_order(pod.node_name)
        self._take(pod)
        self.steps.append((-1, pod))

    def restore(self, pod: PodInfo) -> None:
        """Put back a pod that this trial removed."""
        self._put(pod)
        self.steps.append((1, pod))

    def undo(self) -> None:
        """Take back everything that was tried."""
        while self.steps:
            sign, pod = self.steps.pop()
            (self._take if sign > 0 else self._put)(pod)
        for name, pods in self._orders.items():
            self._pods.arrange(name, pods)

    def _note_order(self, name: str) -> None:
        if name not in self._orders:
            self._orders[name] = self._pods.on_node(name)


class ColumnTrial:
    """Many nodes tried at once, amounts only: what pods take is moved in the columns of the node table.

    These are `requested`, `nonzero` and `pod_count`. No table of pods, counter, port or change log follows, so that
    only filters may be asked meanwhile that read nothing but columns. Undone as a whole.
    """

    __slots__ = ("_amounts", "_nodes", "_rows", "_saved")

    def __init__(self, nodes: NodeTable, rows: Rows, usages: Sequence[Usage]) -> None:
        self._amounts = amounts(nodes, usages)
        self._nodes = nodes
        self._rows = rows
        self._saved = nodes.requested[:, rows].copy(), nodes.nonzero[:, rows].copy(), nodes.pod_count[rows].copy()

    def move(self, rows: Rows, usages: Rows, sign: int) -> None:
        """Add a pod to each of these rows (sign 1) or take one away (-1); `usages` says by index what it takes.

        The rows must be distinct.
        """
        if len(rows) == 1:  # as where one node has changed since the last attempt
            self._move_one(rows.item(), sign * self._amounts[:, usages.item()])
            return
        taken = self._amounts[:, usages]
        if sign < 0:
            taken = -taken
        self._nodes.requested[: len(taken) - 3, rows] += taken[:-3]
        self._nodes.nonzero[:, rows] += taken[-3:-1]
        self._nodes.pod_count[rows] += sign

    def _move_one(self, row: int, taken: npt.NDArray[np.int64]) -> None:
        requested = self._nodes.requested[: len(taken) - 3, row]
        requested += taken[:-3]
        nonzero = self._nodes.nonzero[:, row]
        nonzero += taken[-3:-1]
        self._nodes.pod_count[row] += taken.item(-1)

    def move_all(self, rows: Rows, usages: Rows, sign: int) -> None:
        """As `move`, for rows that may come several times."""
        if len(rows) == len(set(rows.tolist())):
            self.move(rows, usages, sign)
            return
        taken = sign * self._amounts[:, usages]
        for column, amount in zip(self._nodes.requested, taken[:-3], strict=False):
            np.add.at(column, rows, amount)
        for column, amount in zip(self._nodes.nonzero, taken[-3:-1], strict=True):
            np.add.at(column, rows, amount)
        np.add.at(self._nodes.pod_count, rows, sign)

    def undo(self) -> None:
        """Put the columns back as they were."""
        nodes, rows = self._nodes, self._rows
        nodes.requested[:, rows], nodes.nonzero[:, rows], nodes.pod_count[rows] = self._saved


class NodeTrial:
    """Nodes changed and added for the length of a trial; undone in reverse order.

    Rows, columns and the order of the nodes are as before afterwards, also where they are looked at meanwhile; caches
    follow through the change log. The row of a node that was added is the one that the next new node gets.
    """

    __slots__ = ("_add", "_nodes", "_order", "_remove", "_steps")

    def __init__(self, nodes: NodeTable, add: Callable[[Node], object], remove: Callable[[str], None]) -> None:
        self._nodes = nodes
        self._add = add
        self._remove = remove
        self._steps: list[Node | str] = []
        self._order = nodes.order.names()

    def set(self, node: Node) -> None:
        """Let a node be as given, or add it if there is none of its name."""
        name = node.metadata.name
        row = self._nodes.rows.get(name)
        if row is None:
            self._add(node)
            self._steps.append(name)
        else:
            self._steps.append(self._nodes.node(row))
            self._nodes.stand_in(node)

    def undo(self) -> None:
        """Take back everything that was tried."""
        while self._steps:
            step = self._steps.pop()
            if isinstance(step, str):
                self._remove(step)
            else:
                self._nodes.stand_in(step)
        self._nodes.order.restore(self._order)
