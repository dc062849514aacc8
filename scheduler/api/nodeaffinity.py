"""Node selectors and node affinity, compiled and evaluated on a node's labels and name.

Source: k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from scheduler.api.selectors import (
    DOES_NOT_EXIST,
    EXISTS,
    GREATER_THAN,
    IN,
    LESS_THAN,
    NOT_IN,
    Requirement,
    Selector,
    SelectorError,
    new_requirement,
    selector_from_set,
)
from scheduler.api.validation import invalid, not_supported

if TYPE_CHECKING:
    from scheduler.api.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
    from scheduler.api.pod import Affinity, PreferredSchedulingTerm

_OPERATORS: Final = {
    "In": IN,
    "NotIn": NOT_IN,
    "Exists": EXISTS,
    "DoesNotExist": DOES_NOT_EXIST,
    "Gt": GREATER_THAN,
    "Lt": LESS_THAN,
}
_FIELD_OPERATORS: Final = ("In", "NotIn")
_NAME_FIELD: Final = "metadata.name"

Labels = Mapping[str, str]


class FieldRequirement(NamedTuple):
    """A condition on a field of a node. Fields other than ``metadata.name`` count as empty."""

    key: str
    value: str
    equal: bool

    def matches(self, node_name: str) -> bool:
        """Say whether the node of this name satisfies the requirement."""
        return (self.value == (node_name if self.key == _NAME_FIELD else "")) is self.equal


class Term(NamedTuple):
    """A node selector term: all its requirements must hold. ``problems`` says why it doesn't parse, if so."""

    labels: Selector | None
    fields: tuple[FieldRequirement, ...]
    problems: tuple[str, ...] = ()

    def matches(self, labels: Labels, node_name: str) -> bool:
        """Say whether a node matches. A term that doesn't parse matches none."""
        if self.problems or (self.labels is not None and not self.labels.matches(labels)):
            return False
        # A nameless node has no fields at all, and then they aren't looked at.
        return not node_name or all(requirement.matches(node_name) for requirement in self.fields)


class CompiledNodeSelector(NamedTuple):
    """Terms of which one must match. Without any term nothing matches. Immutable and hashable."""

    terms: tuple[Term, ...]

    def matches(self, labels: Labels, node_name: str) -> bool:
        """Say whether a node matches one of the terms; terms that don't parse are passed over."""
        return any(term.matches(labels, node_name) for term in self.terms)

    @property
    def problems(self) -> tuple[str, ...]:
        """What doesn't parse. ``matches`` is quiet about it; Go reports it if no term matches."""
        return tuple(problem for term in self.terms for problem in term.problems)


class RequiredNodeAffinity(NamedTuple):
    """The pod's nodeSelector and the required terms of its node affinity: both must match."""

    selector: Selector | None = None
    terms: CompiledNodeSelector | None = None

    def matches(self, labels: Labels, node_name: str) -> bool:
        """Say whether a node matches."""
        if self.selector is not None and not self.selector.matches(labels):
            return False
        return self.terms is None or self.terms.matches(labels, node_name)


class PreferredSchedulingTerms(NamedTuple):
    """Weighted terms that parse. Immutable and hashable."""

    terms: tuple[tuple[int, Term], ...]

    def score(self, labels: Labels, node_name: str) -> int:
        """Return the sum of the weights of the terms that a node matches."""
        return sum(weight for weight, term in self.terms if term.matches(labels, node_name))


def compile_node_selector(selector: NodeSelector, path: str = "") -> CompiledNodeSelector:
    """Compile a node selector. Empty terms are left out, and terms that don't parse are kept as such.

    ``path`` is that of the selector in its object, for messages.
    """
    prefix = f"{path}.nodeSelectorTerms" if path else "nodeSelectorTerms"
    return CompiledNodeSelector(
        tuple(
            _compile_term(term, f"{prefix}[{index}]")
            for index, term in enumerate(selector.node_selector_terms)
            if not _is_empty(term)
        )
    )


def compile_strict_node_selector(selector: NodeSelector, path: str = "") -> CompiledNodeSelector:
    """Compile a node selector (``NewNodeSelector``); raises SelectorError if a term doesn't parse."""
    compiled = compile_node_selector(selector, path)
    if compiled.problems:
        raise SelectorError(compiled.problems)
    return compiled


def required_node_selector(affinity: Affinity | None) -> NodeSelector | None:
    """The required node affinity of a pod's ``spec.affinity``."""
    node_affinity = affinity.node_affinity if affinity is not None else None
    return node_affinity.required_during_scheduling_ignored_during_execution if node_affinity is not None else None


def required_node_affinity(node_selector: Mapping[str, str], affinity: Affinity | None) -> RequiredNodeAffinity:
    """Compile a pod's ``spec.nodeSelector`` and ``spec.affinity`` (``GetRequiredNodeAffinity``)."""
    required = required_node_selector(affinity)
    return RequiredNodeAffinity(
        selector_from_set(node_selector) if node_selector else None,
        compile_node_selector(required) if required is not None else None,
    )


def preferred_scheduling_terms(terms: Sequence[PreferredSchedulingTerm], path: str = "") -> PreferredSchedulingTerms:
    """Compile preferred terms, leaving out empty ones and those of weight 0.

    Raises SelectorError with all that doesn't parse (``NewPreferredSchedulingTerms``).
    """
    compiled = [
        (preferred.weight, _compile_term(preferred.preference, f"{path}[{index}]"))
        for index, preferred in enumerate(terms)
        if preferred.weight != 0 and not _is_empty(preferred.preference)
    ]
    problems = [problem for _, term in compiled for problem in term.problems]
    if problems:
        raise SelectorError(problems)
    return PreferredSchedulingTerms(tuple(compiled))


def _is_empty(term: NodeSelectorTerm) -> bool:
    return not term.match_expressions and not term.match_fields


def _compile_term(term: NodeSelectorTerm, path: str) -> Term:
    problems: list[str] = []
    requirements: list[Requirement] = []
    for index, expression in enumerate(term.match_expressions):
        where = f"{path}.matchExpressions[{index}]"
        operator = _OPERATORS.get(expression.operator)
        if operator is None:
            problems.append(not_supported(f"{where}.operator", expression.operator, tuple(_OPERATORS)))
            continue
        try:
            requirements.append(new_requirement(expression.key, operator, expression.values, where))
        except SelectorError as error:
            problems += error.problems
    fields = []
    for index, expression in enumerate(term.match_fields):
        where = f"{path}.matchFields[{index}]"
        problem = _field_problem(expression, where)
        if problem is None:
            fields.append(FieldRequirement(expression.key, expression.values[0], expression.operator == "In"))
        else:
            problems.append(problem)
    selector = Selector(requirements) if term.match_expressions else None
    return Term(selector, tuple(fields), tuple(problems))


def _field_problem(expression: NodeSelectorRequirement, path: str) -> str | None:
    if expression.operator not in _FIELD_OPERATORS:
        return not_supported(f"{path}.operator", expression.operator, _FIELD_OPERATORS)
    if len(expression.values) != 1:
        return invalid(f"{path}.values", expression.values, "must have one element")
    return None
