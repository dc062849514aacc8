"""Filtering all nodes for a pod, with the nominated pods of others on them (RunFilterPluginsWithNominatedPods)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from scheduler.cache.nodes import NodeView
from scheduler.framework.by_columns import by_amounts_only, consider_rivals
from scheduler.framework.diagnosis import Rejections
from scheduler.framework.filter_timing import ask_filter
from scheduler.framework.recorder import FILTER
from scheduler.framework.status import Code, PluginError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scheduler.cache.pods import PodInfo
    from scheduler.cache.what_if import WhatIf
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import Codes, FilterPlugin
    from scheduler.framework.profile import Profile
    from scheduler.framework.shape_cache import ShapeCache
    from scheduler.framework.status import Status

Mask = npt.NDArray[np.bool_]

_FEW: Final = 8
"""Where no more nodes than that are allowed, they are looked at by themselves, and no verdicts on all are kept."""


def active_filters(profile: Profile, skipped: frozenset[str]) -> list[FilterPlugin]:
    """The filters that have a say for this pod: one and the same list each time, not to be changed."""
    if not skipped:
        return profile.filter
    key = (FILTER, skipped)
    found: list[FilterPlugin] | None = profile.caches.memo.get(key)
    if found is None:
        found = profile.caches.memo[key] = [plugin for plugin in profile.filter if plugin.name not in skipped]
    return found


def filter_nodes(profile: Profile, cycle: Cycle, filters: list[FilterPlugin], allowed: Mask | None) -> Rejections:
    """Verdicts of all filters over all rows, as rejections.

    `allowed` are the only rows to look at (None: all). What is in `feasible_mask` of the result fits.
    """
    rejections = Rejections(cycle)
    rejections.evaluated = rejections.live if allowed is None else rejections.live & allowed
    cache = profile.caches.of(cycle.shape)
    few = allowed is not None and np.count_nonzero(rejections.evaluated) <= _FEW
    for plugin in filters:
        if few or plugin.feasible_only:
            codes = ask_filter(rejections, plugin, _of_those_left, plugin, rejections)
        elif plugin.per_cycle:
            codes = ask_filter(rejections, plugin, plugin.filter, cycle, cycle.nodes)
        else:
            codes = ask_filter(rejections, plugin, cache.verdicts, plugin, cycle)
        if codes is not None:
            rejections.verdicts.append((plugin, codes))
    if len(cycle.state.nominations):
        consider = consider_rivals if by_amounts_only(filters) else _consider_nominations
        consider(cycle, filters, rejections)
    return rejections


def feasible_mask(rejections: Rejections) -> Mask:
    """bool over rows: the nodes that were looked at and fit."""
    fits = rejections.evaluated.copy()
    for _, codes in rejections.verdicts:
        fits &= codes == 0
    for row, status in rejections.overrides.items():
        fits[row] = status.code is Code.SUCCESS and bool(rejections.evaluated[row])
    return fits


class Selection(NamedTuple):
    """The nodes that all filters let pass, as rows in ascending order, and how many nodes each filter was asked about.

    It holds for as long as `versions` are the same: that of the node table, and those of the verdicts.
    """

    versions: list[object]
    feasible: npt.NDArray[np.intp]
    asked: list[int]


def select(cycle: Cycle, filters: list[FilterPlugin], rejections: Rejections, cache: ShapeCache) -> Selection:
    """The nodes that fit, which are the same as for the pod of the shape before if no verdict has changed since.

    All nodes must have been looked at.
    """
    versions: list[object] = [cycle.state.nodes.version, filters]
    lasting = not rejections.overrides and rejections.evaluated is rejections.live
    for plugin, codes in rejections.verdicts:
        rows = cache.filter_cache(plugin.name)
        if rows is None or rows.vector is not codes:
            lasting = False
            break
        versions += (plugin, rows.version)
    known: Selection | None = cache.memo.get(Selection) if lasting else None
    if known is None or known.versions != versions:
        asked, left = in_turn(filters, rejections)
        feasible = np.flatnonzero(feasible_mask(rejections) if rejections.overrides else left)
        feasible.flags.writeable = False
        known = Selection(versions, feasible, asked)
        if lasting:
            cache.memo[Selection] = known
    return known


def in_turn(filters: list[FilterPlugin], rejections: Rejections) -> tuple[list[int], Mask]:
    """How many nodes each filter was asked about, those that the ones before it let pass; and which all let pass."""
    left = rejections.evaluated & rejections.live
    count = int(np.count_nonzero(left))
    asked = []
    verdicts = iter(rejections.verdicts)
    following = next(verdicts, None)
    for plugin in filters:
        asked.append(count)
        if following is not None and following[0] is plugin:
            left &= following[1] == 0
            count = int(np.count_nonzero(left))
            following = next(verdicts, None)
    return asked, left


def count_evaluations(cycle: Cycle, filters: list[FilterPlugin], asked: list[int]) -> None:
    """Tell the recorder how many nodes each filter was asked about."""
    if cycle.recorder is not None:
        for plugin, count in zip(filters, asked, strict=True):
            cycle.recorder.evaluated(FILTER, plugin.name, count)


def raise_for_errors(rejections: Rejections, looked_at: Mask) -> None:
    """End the attempt if a filter failed on any node that was looked at; an answer that is no refusal is a failure."""
    if not rejections.overrides and not any(plugin.can_fail(rejections.cycle) for plugin, _ in rejections.verdicts):
        return
    for status, rows in rejections.groups():
        if not status.rejected and looked_at[rows].any():
            raise PluginError(f'running "{status.plugin}" filter plugin: {status.message}')


def filter_row(cycle: Cycle, filters: Iterable[FilterPlugin], row: int) -> Status | None:
    """The verdict on one node as the cluster is now: None if the pod fits, else the first refusal."""
    for plugin in filters:
        code = code_of_row(plugin, cycle, row)
        if code:
            return plugin.status(cycle, code).by(plugin.name)
    return None


def code_of_row(plugin: FilterPlugin, cycle: Cycle, row: int) -> int:
    """One filter's verdict on one node as the cluster is now: in plain numbers, if it gives them."""
    code = plugin.code_at(cycle, row)
    if code is None:
        codes = plugin.filter(cycle, NodeView(cycle.state.nodes, np.array([row], np.intp)))
        code = 0 if codes is None else int(codes[0])
    return code


def _of_those_left(plugin: FilterPlugin, rejections: Rejections) -> Codes | None:
    """Codes over all rows, 0 where a filter before has turned the node down or it is not looked at."""
    cycle = rejections.cycle
    left = rejections.evaluated.copy()
    for _, codes in rejections.verdicts:
        left &= codes == 0
    rows = np.flatnonzero(left)
    if not len(rows):
        return None
    part: Codes | None
    if len(rows) == 1:
        code = code_of_row(plugin, cycle, rows.item())
        part = np.array([code], np.min_scalar_type(code)) if code else None
    else:
        part = plugin.filter(cycle, NodeView(cycle.state.nodes, rows))
    if part is None:
        return None
    whole: Codes = np.zeros(cycle.nodes.size, part.dtype)
    whole[rows] = part
    return whole


def _consider_nominations(cycle: Cycle, filters: list[FilterPlugin], rejections: Rejections) -> None:
    """Decide anew for nodes with nominated pods: the pod must fit with those that matter as much, and without them."""
    state = cycle.state
    for name in state.nominations.nodes():
        row = state.nodes.rows.get(name)
        if row is None or not rejections.evaluated[row]:
            continue
        others = nominated_rivals(cycle, name)
        if not others:
            continue
        with state.what_if() as trial:
            status = _with_rivals(cycle, trial, others, name, partial(filter_row, cycle, filters, row))
        if status is not None:
            rejections.overrides[row] = status


def _with_rivals(
    cycle: Cycle, trial: WhatIf, rivals: list[PodInfo], node_name: str, verdict: Callable[[], Status | None]
) -> Status | None:
    """A verdict on a node with pods on it that are nominated to it; the trial is as before afterwards."""
    outer, cycle.trial = cycle.trial, trial
    placed = [trial.add(pod, node_name) for pod in rivals]
    try:
        return verdict()
    finally:
        for pod in placed:
            trial.remove(pod)
        cycle.trial = outer


def try_row(
    cycle: Cycle, trial: WhatIf, rivals: list[PodInfo], row: int, verdict: Callable[[], Status | None]
) -> Status | None:
    """A verdict on a node as it is in a trial: the pod must fit with its nominated rivals there, and without them."""
    if rivals:
        status = _with_rivals(cycle, trial, rivals, cycle.state.nodes.name(row), verdict)
        if status is not None:
            return status
    outer, cycle.trial = cycle.trial, trial
    try:
        return verdict()
    finally:
        cycle.trial = outer


def nominated_rivals(cycle: Cycle, node_name: str) -> list[PodInfo]:
    """The other pods nominated to a node whose priority is not below the pod's."""
    pod = cycle.pod
    return [
        other
        for other in cycle.state.nominations.on_node(node_name)
        if other.priority >= pod.priority and other.uid != pod.uid and cycle.state.pods.get(other.uid) is None
    ]
