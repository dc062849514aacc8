"""Vectors over node rows that follow the change log: computed whole once, then only where something changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from scheduler.cache.changes import Change
from scheduler.cache.nodes import NodeView

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from scheduler.cache.nodes import NodeTable

Vector = npt.NDArray[Any]


class RowCache:
    """A vector with one entry a row, whose entries depend on their own row only.

    `depends` says on what of it. `version` moves on whenever any entry may have changed; `patched` holds the rows
    computed anew when it did so last (None: all of them).
    """

    __slots__ = ("_epoch", "_mask", "_position", "depends", "patched", "vector", "version")

    def __init__(self, depends: Change) -> None:
        self.depends = depends
        self.vector: Vector | None = None
        self.version = 0
        self.patched: npt.NDArray[np.intp] | None = None
        self._mask = int(depends | Change.NODE)  # every entry depends on its node being there
        self._position = -1
        self._epoch: Hashable = None

    def refresh(
        self, table: NodeTable, compute: Callable[[NodeView], Vector | None], epoch: Hashable = None
    ) -> Vector | None:
        """The vector for rows 0..size, brought up to date. None if `compute` said None for all rows: nothing to store.

        `compute` answers for a view of all rows or of some; another `epoch` than before means that all are stale.
        """
        log = table.log
        end = log.end
        rows = None
        if self._position >= 0 and epoch == self._epoch:
            if self._position == end:
                return self.vector
            rows = log.rows(self._position, self._mask)
        size = table.size
        if rows is not None and 2 * len(rows) < size:
            if len(rows):
                self._patch(rows, size, compute(NodeView(table, rows)))
        else:
            self.vector = compute(NodeView(table))
            self.patched = None
            self.version += 1
        # Only now: a computation that failed must be done again.
        self._position, self._epoch = end, epoch
        return self.vector

    def _patch(self, rows: npt.NDArray[np.intp], size: int, part: Vector | None) -> None:
        vector = self.vector
        if vector is None:
            if part is None:
                return
            vector = np.zeros(size, part.dtype)
        elif len(vector) < size:
            vector = np.concatenate([vector, np.zeros(size - len(vector), vector.dtype)])
        vector[rows] = 0 if part is None else part
        self.vector = vector
        self.patched = rows
        self.version += 1
