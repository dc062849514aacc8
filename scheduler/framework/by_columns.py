"""Filters asked about many nodes at once as if other pods came or went there, where that is a matter of amounts."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from scheduler.cache.changes import Change
from scheduler.cache.nodes import NodeView

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scheduler.cache.nominations import Rivals
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.diagnosis import Rejections
    from scheduler.framework.interface import Codes, FilterPlugin

_ON_PODS: Final = int(Change.REQUESTED | Change.PODS | Change.PORTS)
_BEYOND_COLUMNS: Final = int(Change.PODS | Change.PORTS)


class Bearing(Enum):
    """How pods that come to a node or leave it bear on a filter's verdict on that node."""

    NONE = "none"
    BY_AMOUNTS = "by amounts"
    """By `requested`, `nonzero` and `pod_count` of the node's own row."""
    ANY = "any"


def bearing(plugin: FilterPlugin) -> Bearing:
    """What a filter says of itself."""
    if plugin.per_cycle or plugin.feasible_only:
        return Bearing.ANY
    depends = int(plugin.depends)  # operations on flags are many times as slow
    if depends & _BEYOND_COLUMNS:
        return Bearing.ANY
    return Bearing.BY_AMOUNTS if depends & _ON_PODS else Bearing.NONE


def by_amounts_only(filters: Iterable[FilterPlugin]) -> bool:
    """Whether pods that come or go change the verdicts of these filters by amounts only."""
    return all(bearing(plugin) is not Bearing.ANY for plugin in filters)


def rivals_of(cycle: Cycle) -> Rivals:
    """The other nominated pods whose priority is not below the pod's, on whatever node; found once a cycle."""
    state = cycle.state
    version = state.nominations.version, state.nodes.version
    if cycle.rivals is None or cycle.rivals[0] != version:
        cycle.rivals = version, state.nominations.rivals(cycle.pod, state.nodes, state.pods)
    return cycle.rivals[1]


def consider_rivals(cycle: Cycle, filters: list[FilterPlugin], rejections: Rejections) -> None:
    """Decide anew for nodes with nominated pods, all at once: the pod must fit with those that matter as much, and
    without them. For filters that are `by_amounts_only`; their verdicts become those with the rivals where these are in
    the way (RunFilterPluginsWithNominatedPods in pkg/scheduler/framework/runtime/framework.go)."""
    state = cycle.state
    rivals = rivals_of(cycle).on(rejections.evaluated)
    if not len(rivals.rows):
        return
    contested = np.zeros(cycle.nodes.size, np.bool_)
    contested[rivals.rows] = True
    rows = np.flatnonzero(contested)
    known = {plugin.name: codes for plugin, codes in rejections.verdicts}
    view = NodeView(state.nodes, rows)
    with state.what_if_columns(rows, rivals.usages) as trial:
        trial.move_all(rivals.rows, rivals.taken, 1)
        then = {plugin.name: plugin.filter(cycle, view) for plugin in filters if bearing(plugin) is not Bearing.NONE}
    refused = np.zeros(len(rows), np.bool_)
    for plugin in filters:
        before = known.get(plugin.name)
        codes = then[plugin.name] if plugin.name in then else None if before is None else before[rows]
        if codes is not None:
            refused |= codes != 0
    if not np.count_nonzero(refused):
        return
    verdicts = []
    for plugin in filters:
        merged = known.get(plugin.name)
        if plugin.name in then:
            merged = _merged(merged, then[plugin.name], rows, refused, cycle.nodes.size)
        if merged is not None:
            verdicts.append((plugin, merged))
    rejections.verdicts = verdicts


def _merged(
    known: Codes | None, then: Codes | None, rows: npt.NDArray[np.intp], refused: npt.NDArray[Any], size: int
) -> Codes | None:
    """Codes over all rows: those of `then` on the rows that are refused with the rivals, the known ones elsewhere."""
    if known is None and then is None:
        return None
    dtypes = [codes.dtype for codes in (known, then) if codes is not None]
    merged: Codes = np.zeros(size, np.result_type(*dtypes))
    if known is not None:
        merged[:] = known
    merged[rows[refused]] = 0 if then is None else then[refused]
    return merged
