"""Node selectors and node affinity for all nodes at once (component-helpers, scheduling/corev1/nodeaffinity)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from scheduler.api.selectors import DOES_NOT_EXIST, EQUALS, EXISTS, IN, NOT_IN, Requirement, Selector
from scheduler.framework.by_value import ByValue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scheduler.api.nodeaffinity import (
        CompiledNodeSelector,
        FieldRequirement,
        PreferredSchedulingTerms,
        RequiredNodeAffinity,
        Term,
    )
    from scheduler.cache.nodes import NodeView

Mask = npt.NDArray[np.bool_]

_NAME: Final = "metadata.name"


class LabelMatch:
    """Which nodes' labels satisfy all of a selector's requirements."""

    __slots__ = ("_nothing", "_rules")

    def __init__(self, selector: Selector) -> None:
        self._nothing = selector.nothing
        self._rules = [(r.key, ByValue(label_rule(r))) for r in selector.requirements]

    def mask(self, nodes: NodeView) -> Mask:
        """bool, one a row of the view."""
        if self._nothing:
            return np.zeros(len(nodes), np.bool_)
        table, rows = nodes.table, nodes.rows
        masks = [rule.gather(table.labels(key), rows) for key, rule in self._rules]
        return all_of(masks, len(nodes))


class TermMatch:
    """Which nodes match a node selector term; one that does not parse matches none."""

    __slots__ = ("_fields", "_labels", "_valid")

    def __init__(self, term: Term) -> None:
        self._valid = not term.problems
        self._labels = LabelMatch(term.labels) if term.labels is not None else None
        self._fields = term.fields

    def mask(self, nodes: NodeView) -> Mask:
        """bool, one a row of the view."""
        if not self._valid:
            return np.zeros(len(nodes), np.bool_)
        masks = [_field_mask(requirement, nodes) for requirement in self._fields]
        if self._labels is not None:
            masks.append(self._labels.mask(nodes))
        return all_of(masks, len(nodes))


class SelectorMatch:
    """Which nodes match any of a node selector's terms."""

    __slots__ = ("_terms",)

    def __init__(self, selector: CompiledNodeSelector) -> None:
        self._terms = [TermMatch(term) for term in selector.terms]

    def mask(self, nodes: NodeView) -> Mask:
        """bool, one a row of the view."""
        found = np.zeros(len(nodes), np.bool_)
        for term in self._terms:
            found |= term.mask(nodes)
        return found


class RequiredMatch:
    """Which nodes a pod's nodeSelector and required node affinity allow. `everything`: all of them."""

    __slots__ = ("_parts", "everything")

    def __init__(self, required: RequiredNodeAffinity) -> None:
        parts: list[LabelMatch | SelectorMatch] = []
        if required.selector is not None:
            parts.append(LabelMatch(required.selector))
        if required.terms is not None:
            parts.append(SelectorMatch(required.terms))
        self._parts = parts
        self.everything = not parts

    def mask(self, nodes: NodeView) -> Mask:
        """bool, one a row of the view."""
        return all_of([part.mask(nodes) for part in self._parts], len(nodes))


class PreferredMatch:
    """How much of a pod's preferred node affinity each node meets."""

    __slots__ = ("_terms",)

    def __init__(self, preferred: PreferredSchedulingTerms) -> None:
        self._terms = [(weight, TermMatch(term)) for weight, term in preferred.terms]

    def score(self, nodes: NodeView) -> npt.NDArray[np.int64]:
        """The sum of the weights of the terms that the node matches, int64, one a row of the view."""
        total = np.zeros(len(nodes), np.int64)
        for weight, term in self._terms:
            total += term.mask(nodes) * np.int64(weight)
        return total


def label_rule(requirement: Requirement) -> Callable[[str | None], bool]:
    """The requirement as a rule about the value of its key, None where the label is absent."""
    operator, wanted = requirement.operator, frozenset(requirement.values)
    if operator in (IN, EQUALS):
        return lambda value: value in wanted
    if operator == NOT_IN:
        return lambda value: value not in wanted
    if operator == EXISTS:
        return lambda value: value is not None
    if operator == DOES_NOT_EXIST:
        return lambda value: value is None
    return lambda value: value is not None and requirement.matches({requirement.key: value})


def all_of(masks: Iterable[Mask], size: int) -> Mask:
    """Where all masks hold; the first of them is changed in place. Without masks that is everywhere."""
    result: Mask | None = None
    for mask in masks:
        if result is None:
            result = mask
        else:
            result &= mask
    return np.ones(size, np.bool_) if result is None else result


def _field_mask(requirement: FieldRequirement, nodes: NodeView) -> Mask:
    """Only metadata.name is known; any other field is empty on all nodes."""
    if requirement.key != _NAME:
        return np.full(len(nodes), (requirement.value == "") is requirement.equal)
    row = nodes.table.rows.get(requirement.value)
    same = np.zeros(len(nodes), np.bool_)
    if row is not None:
        if isinstance(nodes.rows, slice):
            same[row] = True
        else:
            same = nodes.rows == row
    return same if requirement.equal else ~same
