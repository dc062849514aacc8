"""The filters as a dry run asks them: those whose verdict no eviction changes are not asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from scheduler.cache.nodes import NodeView
from scheduler.framework.by_columns import Bearing, bearing, by_amounts_only
from scheduler.framework.codes import codes_in
from scheduler.framework.filtering import code_of_row
from scheduler.framework.status import Status, error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.framework.cycle import Cycle
    from scheduler.framework.diagnosis import Rejections
    from scheduler.framework.interface import FilterPlugin

Codes = npt.NDArray[np.unsignedinteger[Any]]
Rows = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


class DryRunFilters:
    """The filters of a cycle that found no node.

    `columns_only` says that those which evictions may change read nothing but amounts of the node's own row.
    """

    def __init__(self, cycle: Cycle, rejections: Rejections) -> None:
        self._cycle = cycle
        known = {plugin.name: codes for plugin, codes in rejections.verdicts}
        # If PreFilter turned the pod down, nothing was filtered, and there is nothing to go by.
        filtered = not rejections.pre_filter_message
        self._steps: list[tuple[FilterPlugin, bool, Codes | None]] = []
        self._open: list[FilterPlugin] = []
        self.columns_only = filtered and by_amounts_only(cycle.filters)
        for plugin in cycle.filters:
            settled = filtered and bearing(plugin) is Bearing.NONE
            self._steps.append((plugin, settled, known.get(plugin.name)))
            if not settled:
                self._open.append(plugin)

    def verdict(self, row: int) -> Status | None:
        """The first refusal of one node as the state is now, None if the pod fits."""
        for plugin, settled, known in self._steps:
            if settled:
                code = 0 if known is None else int(known[row])
            else:
                code = code_of_row(plugin, self._cycle, row)
            if code:
                return self._status(plugin, code)
        return None

    def verdicts(self, rows: Rows) -> Iterator[tuple[Status, Rows]]:
        """(refusal, positions in `rows`) for each way in which nodes are turned down as the columns are now."""
        view = NodeView(self._cycle.state.nodes, rows)
        left = np.ones(len(rows), np.bool_)
        for plugin, settled, known in self._steps:
            if settled:
                codes = None if known is None else known[rows]
            else:
                codes = plugin.filter(self._cycle, view)
            if codes is None:
                continue
            hit = np.flatnonzero(left & (codes != 0))
            found = codes[hit]
            for code in codes_in(found):
                yield self._status(plugin, code), hit[found == code]
            left[hit] = False

    def misfits(self, rows: Rows) -> Mask:
        """Which of these nodes the open filters turn down, as the columns are now; all others let them pass."""
        if len(rows) == 1:  # as where one node has changed since the last attempt
            return np.array([any(code_of_row(plugin, self._cycle, rows.item()) for plugin in self._open)])
        view = NodeView(self._cycle.state.nodes, rows)
        bad = np.zeros(len(rows), np.bool_)
        for plugin in self._open:
            codes = plugin.filter(self._cycle, view)
            if codes is not None:
                bad |= codes != 0
        return bad

    def _status(self, plugin: FilterPlugin, code: int) -> Status:
        status = plugin.status(self._cycle, code).by(plugin.name)
        if not status.rejected:
            return error(f'running "{plugin.name}" filter plugin: {status.message}').by(plugin.name)
        return status
