"""Which nodes count for a spread constraint."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from scheduler.api.nodeaffinity import RequiredNodeAffinity, required_node_affinity
from scheduler.api.tolerations import find_untolerated, in_force
from scheduler.cache.changes import Change
from scheduler.framework.row_cache import RowCache

if TYPE_CHECKING:
    from scheduler.api.nodeaffinity import FieldRequirement, Term
    from scheduler.api.objects import PodSpec, Toleration
    from scheduler.api.selectors import Requirement, Selector
    from scheduler.cache.labels import LabelColumn
    from scheduler.cache.nodes import NodeTable, NodeView

Mask = npt.NDArray[np.bool_]


class Inclusion:
    """The nodes that have all of some labels and are let in by the inclusion policies, as a mask that is kept.

    `mask` is bool over rows and `version` moves on with it; both are as of the last `refresh`. Where nothing is asked
    of a node, `mask` is None: all count. `comparing` says whether tolerations may compare.
    """

    __slots__ = ("_affinity", "_cache", "_domains", "_keys", "_tolerations", "mask", "version")

    def __init__(
        self,
        keys: tuple[str, ...],
        spec: PodSpec,
        *,
        honor_affinity: bool,
        honor_taints: bool,
        comparing: bool = False,
    ) -> None:
        affinity = required_node_affinity(spec.node_selector, spec.affinity)
        self._keys = keys
        self._affinity = affinity if honor_affinity and affinity != RequiredNodeAffinity() else None
        self._tolerations: tuple[Toleration, ...] | None = None
        if honor_taints:
            self._tolerations = in_force(spec.tolerations, comparing=comparing)
        self._cache = RowCache(Change.LABELS | Change.TAINTS)
        self._domains: dict[str, tuple[tuple[int, int], npt.NDArray[np.intp]]] = {}
        self.mask: Mask | None = None
        self.version = 0

    def refresh(self, table: NodeTable) -> None:
        """Bring the mask up to date."""
        self.mask = self._cache.refresh(table, self._included)
        self.version = self._cache.version

    def domains(self, column: LabelColumn) -> npt.NDArray[np.intp]:
        """The ids that included nodes have of one of the labels that all of them must have."""
        found = self._domains.get(column.key)
        versions = self.version, column.version  # a node may go on counting, in another domain
        if found is None or found[0] != versions:
            assert self.mask is not None
            present = np.zeros(len(column.values), np.bool_)
            present[column.ids[: len(self.mask)][self.mask]] = True
            found = self._domains[column.key] = (versions, np.flatnonzero(present))
        return found[1]

    def _included(self, view: NodeView) -> Mask | None:
        if not self._keys and self._affinity is None and self._tolerations is None:
            return None
        included = np.ones(len(view), np.bool_)
        for key in self._keys:
            included &= view.label_ids(key) != 0
        if self._affinity is not None:
            included &= affinity_mask(self._affinity, view)
        if self._tolerations is not None:
            included &= _tolerated(self._tolerations, view)
        return included


def affinity_mask(affinity: RequiredNodeAffinity, view: NodeView) -> Mask:
    """Which nodes a pod's nodeSelector and required node affinity admit, decided once per distinct label value."""
    admitted = np.ones(len(view), np.bool_)
    if affinity.selector is not None:
        admitted &= _selector_mask(affinity.selector, view)
    if affinity.terms is not None:
        any_term = np.zeros(len(view), np.bool_)
        for term in affinity.terms.terms:
            any_term |= _term_mask(term, view)
        admitted &= any_term
    return admitted


def _term_mask(term: Term, view: NodeView) -> Mask:
    if term.problems:
        return np.zeros(len(view), np.bool_)
    mask = np.ones(len(view), np.bool_) if term.labels is None else _selector_mask(term.labels, view)
    for field in term.fields:
        mask = mask & (_field_values(field, view) == field.equal)
    return mask


def _field_values(field: FieldRequirement, view: NodeView) -> Mask:
    """Which nodes have the value that is asked about; fields other than the name count as empty."""
    if field.key != "metadata.name":
        return np.full(len(view), field.value == "", np.bool_)
    named = np.zeros(view.table.size, np.bool_)
    row = view.table.rows.get(field.value)
    if row is not None:
        named[row] = True
    return named[view.rows]


def _selector_mask(selector: Selector, view: NodeView) -> Mask:
    mask = np.full(len(view), not selector.nothing, np.bool_)
    for requirement in selector.requirements:
        column = view.table.labels(requirement.key)
        mask &= column.decide(partial(_holds, requirement), np.bool_)[column.ids[view.rows]]
    return mask


def _holds(requirement: Requirement, value: str | None) -> bool:
    labels: dict[str, Any] = {} if value is None else {requirement.key: value}
    return requirement.matches(labels)


def _tolerated(tolerations: tuple[Toleration, ...], view: NodeView) -> Mask:
    lists: list[Any] = view.table.taints.values
    allowed = (find_untolerated(taints, tolerations) is None for taints in lists)
    return np.fromiter(allowed, np.bool_, len(lists))[view.taint_ids]
