"""What every filter says of every node, not only the first that turns it down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from scheduler.cache.nodes import NodeView
from scheduler.framework.cycle import Cycle
from scheduler.framework.diagnosis import Rejections
from scheduler.framework.filtering import active_filters, feasible_mask, filter_nodes, raise_for_errors
from scheduler.framework.per_node import NodeFilterPlugin
from scheduler.framework.pre_filter import NOTHING_SAID, run_pre_filters
from scheduler.framework.status import Code, PluginError, Status, error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.cache.pods import PodInfo
    from scheduler.cache.state import ClusterState
    from scheduler.framework.interface import FilterPlugin
    from scheduler.framework.profile import Profile

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]
Codes = npt.NDArray[np.unsignedinteger[Any]]

_LOOKED_AT: Final = 256
"""Rows, at most, that filters for feasible nodes are asked about beyond those: the ones with the fewest obstacles."""


class Survey:
    """The verdicts of all filters on all nodes, as the cluster is now.

    - `fits`: bool over rows, the nodes that take the pod.
    - `codes`: by plugin, its codes over rows; only of plugins that turn any node down.
    - `obstacles`: int over rows, how many plugins turn the node down.
    - `refusal`: what turned the pod down, or failed, before any node was looked at.
    """

    def __init__(self, state: ClusterState, profile: Profile, pod: PodInfo) -> None:
        self.state = state
        self.profile = profile
        self.pod = pod
        self.cycle = Cycle(pod, state, profile.name)
        self.outcome = NOTHING_SAID
        self.refusal: Status | None = None
        self.rejections = Rejections(self.cycle)
        self.codes: dict[str, Codes] = {}
        self.plugins: dict[str, FilterPlugin] = {}
        size = self.cycle.nodes.size
        self.live: Mask = state.nodes.live[:size]
        self.fits: Mask = np.zeros(size, np.bool_)
        self.obstacles = np.zeros(size, np.int64)
        try:
            self._ask()
        except PluginError as problem:
            self.refusal = error(str(problem))
            self.fits = np.zeros(size, np.bool_)

    def _ask(self) -> None:
        cycle, profile = self.cycle, self.profile
        self.outcome = run_pre_filters(profile.pre_filter, cycle)
        cycle.filters = active_filters(profile, self.outcome.skipped)
        if self.outcome.status is not None:
            self.refusal = self.outcome.status
            return
        allowed = self._allowed()
        self.rejections = cycle.rejections = filter_nodes(profile, cycle, cycle.filters, allowed)
        self.fits = feasible_mask(self.rejections) & self.live
        self._count(allowed)
        raise_for_errors(self.rejections, self.rejections.evaluated)

    def _allowed(self) -> Mask | None:
        names = self.outcome.names
        if names is None:
            return None
        allowed = np.zeros(self.cycle.nodes.size, np.bool_)
        rows = self.state.nodes.rows
        allowed[[rows[name] for name in names if name in rows]] = True
        return allowed

    def _count(self, allowed: Mask | None) -> None:
        for plugin, codes in self.rejections.verdicts:
            if codes[self.live].any():
                self._note(plugin.name, plugin, codes)
        if allowed is not None:
            for name in sorted(self.outcome.restricted_by)[:1]:
                self._obstruct(name, self.live & ~allowed)
        for row, status in self.rejections.overrides.items():
            if status.code is not Code.SUCCESS and not self.obstacles[row] and self.live[row]:
                here = np.zeros(len(self.live), np.bool_)
                here[row] = True
                self._obstruct(status.plugin, here)

    def _note(self, name: str, plugin: FilterPlugin | None, codes: Codes) -> None:
        self.codes[name] = codes
        if plugin is not None:
            self.plugins[name] = plugin
        self.obstacles += (codes != 0) & self.live

    def _obstruct(self, name: str, rows: Mask) -> None:
        """Count a plugin as an obstacle on rows where it was not asked as a filter, or said nothing."""
        known = self.codes.get(name)
        more = rows if known is None else rows & (known == 0)
        if not more.any():
            return
        codes = np.zeros(len(rows), np.uint32) if known is None else known.astype(np.uint32)
        codes[more] = np.uint32(2**32 - 1)
        self.codes[name] = codes
        self.obstacles += more

    # what is asked of it

    def look_closer(self) -> None:
        """Ask the filters that are for feasible nodes only about those with the fewest obstacles as well.

        Plugins that look at one node at a time are left alone: nobody knows what they do.
        """
        if self.refusal is not None:
            return
        for plugin in self.cycle.filters:
            if not plugin.feasible_only or isinstance(plugin, NodeFilterPlugin):
                continue
            rows = np.flatnonzero(self.live & (self.obstacles > 0))
            rows = rows[np.argsort(self.obstacles[rows], kind="stable")][:_LOOKED_AT]
            known = self.codes.get(plugin.name)
            if known is not None:
                rows = rows[known[rows] == 0]
            part = plugin.filter(self.cycle, NodeView(self.state.nodes, rows)) if len(rows) else None
            if part is None:
                continue
            self.obstacles[rows] += part != 0
            codes = np.zeros(len(self.live), part.dtype) if known is None else known
            codes[rows] = part
            self.codes[plugin.name] = codes
            self.plugins[plugin.name] = plugin

    @property
    def names(self) -> list[str]:
        """The nodes that take the pod, by name."""
        return sorted(self.state.nodes.name(row) for row in np.flatnonzero(self.fits).tolist())

    def rows(self, plugin: str, *, most: int = 2) -> Rows:
        """The rows that a plugin turns down, together with fewer than `most` others; the fewest obstacles first."""
        codes = self.codes.get(plugin)
        if codes is None:
            return np.empty(0, np.intp)
        rows = np.flatnonzero(self.live & (codes != 0) & (self.obstacles <= most))
        return rows[np.argsort(self.obstacles[rows], kind="stable")]

    def others(self, row: int, plugin: str) -> frozenset[str]:
        """The plugins other than this one that turn a row down."""
        return frozenset(name for name, codes in self.codes.items() if name != plugin and codes[row])

    def statuses(self, row: int) -> list[Status]:
        """Why a row is turned down, by all plugins that do so."""
        found = []
        for name, codes in self.codes.items():
            code = int(codes[row])
            if not code:
                continue
            plugin = self.plugins.get(name)
            if plugin is not None and code != 2**32 - 1:
                found.append(plugin.status(self.cycle, code).by(name))
            else:
                status = self.rejections.overrides.get(row)
                found.append(status if status is not None else Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (), name))
        return found

    def node_names(self, rows: Sequence[int]) -> list[str]:
        """The names of the nodes in rows, sorted."""
        return sorted(self.state.nodes.name(row) for row in rows)
