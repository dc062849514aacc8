"""The rows that selectors of volumes, capacities and classes match, remembered while no node's labels change.

A local volume is for one node, and there may be one for each: such selectors are looked up by their value rather than
tried on all nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from scheduler.api.csi_migration import MIGRATED_PLUGINS
from scheduler.api.nodeaffinity import compile_node_selector
from scheduler.api.selectors import EQUALS, IN, Requirement, Selector, SelectorError, new_requirement
from scheduler.cache.changes import Change
from scheduler.cache.nodes import NodeView
from scheduler.framework.node_match import LabelMatch

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from scheduler.api.objects import CSINode, PersistentVolume, TopologySelectorTerm
    from scheduler.cache.state import ClusterState

Rows = npt.NDArray[np.intp]

_REMEMBERED: Final = 65_536
_FEW: Final = 16


class _Index:
    """The rows of each id of a label column."""

    __slots__ = ("_order", "_starts", "version")

    def __init__(self, ids: npt.NDArray[np.intp], values: int, version: int) -> None:
        self.version = version
        self._order = np.argsort(ids, kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(ids, minlength=values))])

    def rows(self, identifier: int) -> Rows:
        """The rows with this id."""
        return self._order[self._starts[identifier] : self._starts[identifier + 1]]


class Topology:
    """Selectors to rows."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._table = state.nodes
        self._position = -1
        self._indexes: dict[str, _Index] = {}
        self._known: dict[Hashable, Rows] = {}
        self._of_volume: dict[str, tuple[object, Rows]] = {}
        self._migrated: dict[str, Rows] = {}
        self._migrated_version = (-1, -1)

    def refresh(self) -> None:
        """Forget what no longer holds; to be called once before a cycle asks."""
        log = self._table.log
        if self._position >= 0:
            changed = log.rows(self._position, Change.NODE | Change.LABELS)
            if changed is None or len(changed):
                self._position = -1
        if self._position < 0 or len(self._known) > _REMEMBERED or len(self._of_volume) > _REMEMBERED:
            self._known, self._of_volume, self._indexes = {}, {}, {}
        self._position = log.end

    def of_volume(self, volume: PersistentVolume) -> Rows | None:
        """Rows that a volume can be reached from (CheckNodeAffinity); None for all of them."""
        affinity = volume.spec.node_affinity
        if affinity is None or affinity.required is None:
            return None
        name = volume.metadata.name
        known = self._of_volume.get(name)
        if known is None or known[0] is not affinity:
            # Fields are not looked at here.
            parts = [
                self.selected(term.labels or Selector())
                for term in compile_node_selector(affinity.required).terms
                if not term.problems
            ]
            known = self._of_volume[name] = (affinity, _union(parts))
        return known[1]

    def allowed(self, terms: Sequence[TopologySelectorTerm]) -> Rows | None:
        """Rows that a class's allowedTopologies admit (MatchTopologySelectorTerms); None for all of them."""
        if not terms:
            return None
        parts = []
        for term in terms:
            expressions = term.match_label_expressions
            if not expressions:
                continue
            try:
                requirements = [new_requirement(each.key, IN, each.values) for each in expressions]
            except SelectorError:
                continue
            parts.append(self.selected(Selector(requirements)))
        return _union(parts)

    def selected(self, selector: Selector) -> Rows:
        """Rows whose labels match a selector."""
        rows = self._known.get(selector)
        if rows is None:
            rows = self._known[selector] = self._find(selector)
        return rows

    def migrated(self, plugin: str) -> Rows:
        """Rows whose CSINode says that an in-tree plugin is migrated there."""
        version = (self._state.objects.version("CSINode"), self._table.version)
        if version != self._migrated_version:
            self._migrated, self._migrated_version = {}, version
        rows = self._migrated.get(plugin)
        if rows is None:
            found = [
                self._table.rows[csi_node.metadata.name]
                for csi_node in self._state.objects.all("CSINode")
                if csi_node.metadata.name in self._table.rows and is_migrated(plugin, csi_node)
            ]
            rows = self._migrated[plugin] = np.array(sorted(found), np.intp)
        return rows

    def _find(self, selector: Selector) -> Rows:
        if selector.nothing:
            return np.empty(0, np.intp)
        narrow = next((each for each in selector.requirements if each.operator in (EQUALS, IN)), None)
        if narrow is None:
            rows: Rows = np.flatnonzero(self._table.live[: self._table.size])
            rest = selector.requirements
        else:
            rows = self._with_label(narrow)
            rest = tuple(each for each in selector.requirements if each is not narrow)
        if not rest or not len(rows):
            return rows
        if len(rows) <= _FEW:
            labels = [self._table.node(row).metadata.labels for row in rows.tolist()]
            return rows[[all(each.matches(held) for each in rest) for held in labels]]
        return rows[LabelMatch(Selector(rest)).mask(NodeView(self._table, rows))]

    def _with_label(self, requirement: Requirement) -> Rows:
        column = self._table.labels(requirement.key)
        index = self._indexes.get(requirement.key)
        if index is None or index.version != column.version:
            ids = column.ids[: self._table.size]
            index = self._indexes[requirement.key] = _Index(ids, len(column.values), column.version)
        return _union([index.rows(column.index[value]) for value in requirement.values if value in column.index])


def is_migrated(plugin: str, csi_node: CSINode | None) -> bool:
    """Whether a CSINode lists an in-tree plugin as migrated (isPluginMigratedToCSIOnNode)."""
    if csi_node is None:
        return False
    return plugin in csi_node.metadata.annotations.get(MIGRATED_PLUGINS, "").split(",")


def _union(parts: Sequence[Rows]) -> Rows:
    if len(parts) == 1:
        return parts[0]
    return np.unique(np.concatenate(parts)) if parts else np.empty(0, np.intp)
