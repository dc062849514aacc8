"""Node labels as columns: for each label key that is asked for, one small integer a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable

ABSENT: Final = 0
"""The id of a node that lacks the label (and of rows without a node)."""


class LabelColumn:
    """The value of one label key on each node, interned.

    `ids` is intp over rows, the type that arrays are indexed with (it may be longer than the table). `values[id]` is
    the text, None for `ABSENT`.
    `version` moves on whenever the id of any row changes.
    """

    __slots__ = ("ids", "index", "key", "values", "version")

    def __init__(self, key: str, capacity: int) -> None:
        self.key = key
        self.ids: npt.NDArray[np.intp] = np.zeros(capacity, np.intp)
        self.index: dict[str, int] = {}
        self.values: list[str | None] = [None]
        self.version = 0

    def set(self, row: int, value: str | None) -> None:
        """Store a row's value, None where the node lacks the label or is gone."""
        if value is None:
            identifier = ABSENT
        else:
            identifier = self.index.get(value, ABSENT)
            if identifier == ABSENT:
                identifier = self.index[value] = len(self.values)
                self.values.append(value)
        if self.ids[row] != identifier:
            self.ids[row] = identifier
            self.version += 1

    def resize(self, capacity: int) -> None:
        """Make room for more rows."""
        self.ids = np.concatenate([self.ids, np.zeros(capacity - len(self.ids), np.intp)])

    def decide(self, rule: Callable[[str | None], Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """`rule` of each distinct value, as an array over ids: `column.decide(rule, bool)[ids]` answers for nodes."""
        return np.fromiter((rule(value) for value in self.values), dtype, len(self.values))
