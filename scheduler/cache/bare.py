"""Nodes without what runs on them: how those are scored that an extender has sent back whole.

kube-scheduler makes new NodeInfos of them, which have neither pods nor images (HTTPExtender.Filter in
pkg/scheduler/extender.go), and hands these on to the Score plugins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from scheduler.cache.images import ImageTable
from scheduler.cache.nodes import Columns, NodeTable, NodeView

if TYPE_CHECKING:
    import numpy.typing as npt


class BareNodeView(NodeView):
    """Some rows of a table, as if there were neither pods nor images on them."""

    __slots__ = ()

    bare: ClassVar[bool] = True

    def __init__(self, table: NodeTable, rows: npt.NDArray[np.intp]) -> None:
        super().__init__(cast("NodeTable", _BareTable(table)), rows)


class _BareTable:
    """A table whose columns of what pods use are zero."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self.images = ImageTable()

    @property
    def requested(self) -> npt.NDArray[np.int64]:
        return np.zeros_like(self._table.requested)

    @property
    def nonzero(self) -> npt.NDArray[np.int64]:
        return np.zeros_like(self._table.nonzero)

    @property
    def pod_count(self) -> npt.NDArray[np.int64]:
        return np.zeros_like(self._table.pod_count)

    @property
    def columns(self) -> Columns:
        table = self._table
        return table.allocatable, self.requested, self.nonzero, table.allowed_pods, self.pod_count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)
