"""Vectors over node rows that follow the change log: computed whole once, then only where something changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from scheduler.cache.changes import Change
from scheduler.cache.nodes import NodeView
from scheduler.cache.versions import Versioned
from scheduler.framework.arithmetic import bounds
from scheduler.framework.codes import codes_in
from scheduler.kernels.rows import known as known_in

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from scheduler.cache.nodes import NodeTable
    from scheduler.framework.status import Status

Vector = npt.NDArray[Any]


class RowCache(Versioned):
    """A vector with one entry a row, whose entries depend on their own row only.

    `depends` says on what of it, `mask` is the same as an int. `version` moves on whenever any entry changed (or all
    were computed anew); `patched` holds the rows that were computed anew when it did so last, or the one (None: all of
    them). `users` have it, by their own count. `position` is how far in the change log the vector is up to date, as of
    `epoch`.
    """

    __slots__ = (
        "__weakref__",
        "_uniform",
        "_uniform_at",
        "_worded",
        "_words",
        "depends",
        "epoch",
        "mask",
        "patched",
        "position",
        "users",
        "version",
    )

    def __init__(self, depends: Change) -> None:
        super().__init__()
        self.depends = depends
        self.version = 0
        self.users = 0
        self.patched: int | npt.NDArray[np.intp] | None = None
        self.mask = int(depends | Change.NODE)  # every entry depends on its node being there
        self.position = -1
        self.epoch: Hashable = None
        self._words: dict[int, Status] = {}
        self._worded = -1
        self._uniform: int | None = None
        self._uniform_at = -1

    def is_current(self, table: NodeTable, epoch: Hashable) -> bool:
        """Whether nothing has changed that the vector depends on; then it need not be refreshed."""
        log = table.log
        if self.position < 0 or log.end_of(self.mask) > self.position or epoch != self.epoch:
            return False
        self.position = log.end
        return True

    def refresh(
        self,
        table: NodeTable,
        compute: Callable[[NodeView], Vector | None],
        epoch: Hashable = None,
        compute_row: Callable[[int], int | None] | None = None,
    ) -> Vector | None:
        """The vector for rows 0..size, brought up to date. None if `compute` said None for all rows: nothing to store.

        `compute` answers for a view of all rows or of some, `compute_row` for one row, if it can; another `epoch` than
        before means that all are stale.
        """
        log = table.log
        end = log.end
        changed = None
        if self.position >= 0 and epoch == self.epoch:
            if self.position == end:
                return self.vector
            if compute_row is not None:  # as after each pod
                row = log.only_row(self.position, self.mask)
                if row is not None and self.follow(row, compute_row(row), end):
                    return self.vector
            changed = table.changed(self.position, self.mask)
        if changed is not None and self.can_take(changed, self.position):
            self.take(changed, compute(changed) if len(changed) else None, end)
        else:
            vector = compute(NodeView(table))
            if vector is not None and vector.base is not None:
                vector = vector.copy()  # a column of the table, say, which would change by itself
            self.before_change()
            self.vector = vector
            self.patched = None
            self.version += 1
            # Only now: a computation that failed must be done again.
            self.position = end
        self.epoch = epoch
        return self.vector

    def can_take(self, changed: NodeView, position: int) -> bool:
        """Whether the vector is right but for some rows that changed since that position, few enough to patch them."""
        return 0 <= position <= self.position and 2 * len(changed) < changed.table.size

    def take(self, changed: NodeView, part: Vector | None, end: int) -> None:
        """Take in what these rows are by now; all others are as they were, up to `end` in the log."""
        if len(changed):
            self._patch(changed.indices, changed.table.size, part)
        self.position = end

    def uniform(self) -> int | None:
        """The value of all entries, None if they are not all the same, or not there. Found once a version."""
        if self._uniform_at != self.version:
            vector = self.vector
            lowest, highest = (0, 1) if vector is None or not len(vector) else bounds(vector)
            self._uniform = lowest if lowest == highest else None
            self._uniform_at = self.version
        return self._uniform

    def words(self, word: Callable[[int], Status]) -> Mapping[int, Status]:
        """What `word` says of codes, 0 excepted: at least of those in the vector, and of each but once."""
        if self._worded != self.version:
            vector = self.vector
            assert vector is not None
            if self._worded == self.version - 1 and self.patched is not None:
                vector = np.atleast_1d(vector[self.patched])
            else:
                self._words = {}  # codes may have another meaning now
            for code in codes_in(vector):
                if code not in self._words:
                    self._words[code] = word(code)
            self._worded = self.version
        return self._words

    def follow(self, row: int, value: int | None, end: int) -> bool:
        """Take in that up to `end` in the log nothing has changed but one entry, if at all.

        False, and nothing has come of it, if there is no value, or no place for it yet.
        """
        vector = self.vector
        if value is None or (value if vector is None else row >= len(vector)):
            return False
        self.position = end
        if vector is not None and vector.item(row) != value:
            self.before_patch(row)
            vector[row] = value
            self.patched = row
            self.version += 1
        return True

    def _patch(self, rows: npt.NDArray[np.intp], size: int, part: Vector | None) -> None:
        vector, known = self.vector, None
        if vector is None:
            if part is None:
                return
            vector = np.zeros(size, part.dtype)
        elif len(vector) < size:
            vector = np.concatenate([vector, np.zeros(size - len(vector), vector.dtype)])
        elif len(rows) == 1:  # as after each pod: plain numbers are compared more quickly
            if vector.item(rows.item()) == (0 if part is None else part.item()):
                return
        else:
            known = known_in(vector, rows, np.zeros(len(rows), vector.dtype) if part is None else part)
            if known is None:
                return
        self.vector = vector
        self.before_patch(rows, known)
        vector[rows] = 0 if part is None else part
        self.patched = rows
        self.version += 1
