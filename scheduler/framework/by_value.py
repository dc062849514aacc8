"""Rules about a node's taints, features or a label: decided once per distinct value, gathered per node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class InternedColumn(Protocol):
    """A column of small integers over rows (`ids`) that stand for values (`values[id]`)."""

    @property
    def ids(self) -> npt.NDArray[np.intp]:
        """The id of each row's value."""

    @property
    def values(self) -> Sequence[Any]:
        """The value of each id; grows at its end only."""


class ByValue:
    """What a rule says of the values of one column, remembered.

    `rule` takes a value of the column, and its answer fits `dtype`.
    """

    __slots__ = ("_answers", "_column", "_dtype", "_rule")

    def __init__(self, rule: Callable[[Any], Any], dtype: npt.DTypeLike = np.bool_) -> None:
        self._rule = rule
        self._dtype = dtype
        self._answers: npt.NDArray[Any] = np.empty(0, dtype)
        self._column: InternedColumn | None = None

    def gather(self, column: InternedColumn, rows: slice | npt.NDArray[np.intp]) -> npt.NDArray[Any]:
        """The rule's answer for each of the rows, in an array of its own."""
        return self.answers(column)[column.ids[rows]]

    def answers(self, column: InternedColumn) -> npt.NDArray[Any]:
        """The rule's answer for each id; read only."""
        if column is not self._column:
            self._answers = np.empty(0, self._dtype)
            self._column = column
        known, values = len(self._answers), column.values
        if known < len(values):
            rule, count = self._rule, len(values) - known
            more = np.fromiter((rule(value) for value in values[known:]), self._dtype, count)
            self._answers = np.concatenate([self._answers, more])
        return self._answers
