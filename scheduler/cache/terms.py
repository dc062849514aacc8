"""Terms of pod affinity, compiled (k8s.io/kube-scheduler/framework, AffinityTerm)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from scheduler.api.selectors import Selector, SelectorError, compile_label_selector
from scheduler.api.validation import aggregate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.api.objects import Affinity, PodAffinity, PodAffinityTerm

NO_LABELS: Final[Mapping[str, str]] = {}


class PodTerm(msgspec.Struct, frozen=True):
    """Which pods a term is about, and the label key whose values are its domains.

    It is about pods of the listed namespaces and of those whose labels `namespace_selector` selects (None: no more),
    with labels that `selector` matches. Hashable: equal terms of different pods are counted together.
    """

    namespaces: frozenset[str]
    namespace_selector: Selector | None
    selector: Selector
    topology_key: str

    def matches(self, namespace: str, namespace_labels: Mapping[str, str], labels: Mapping[str, str]) -> bool:
        """Whether a pod of that namespace with these labels is meant (AffinityTerm.Matches)."""
        return (
            namespace in self.namespaces
            or (self.namespace_selector is not None and self.namespace_selector.matches(namespace_labels))
        ) and self.selector.matches(labels)


class PodTerms(msgspec.Struct, frozen=True):
    """All affinity terms of a pod. Weights of preferred anti-affinity are negative."""

    required: tuple[PodTerm, ...] = ()
    required_anti: tuple[PodTerm, ...] = ()
    preferred: tuple[tuple[PodTerm, int], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.required or self.required_anti or self.preferred)


NO_TERMS: Final = PodTerms()


def compile_term(term: PodAffinityTerm, namespace: str) -> PodTerm:
    """A term of a pod in `namespace`: without namespaces and namespace selector it means the pod's own.

    Raises SelectorError where a selector does not parse.
    """
    own = not term.namespaces and term.namespace_selector is None
    return PodTerm(
        frozenset((namespace,) if own else term.namespaces),
        None if term.namespace_selector is None else compile_label_selector(term.namespace_selector),
        compile_label_selector(term.label_selector),
        term.topology_key,
    )


def compile_terms(affinity: Affinity | None, namespace: str) -> tuple[PodTerms, str]:
    """All terms of a pod's affinity, and what of them does not parse ("" if all does).

    A list with a term that does not parse is left out whole (pkg/scheduler/framework/types.go, NewPodInfo).
    """
    if affinity is None or (affinity.pod_affinity is None and affinity.pod_anti_affinity is None):
        return NO_TERMS, ""
    problems: list[str] = []

    def required(name: str, kind: PodAffinity | None) -> tuple[PodTerm, ...]:
        terms = kind.required_during_scheduling_ignored_during_execution if kind is not None else ()
        try:
            return tuple(compile_term(term, namespace) for term in terms)
        except SelectorError as problem:
            problems.append(f"{name}: {problem}")
            return ()

    def preferred(name: str, kind: PodAffinity | None, sign: int) -> tuple[tuple[PodTerm, int], ...]:
        terms = kind.preferred_during_scheduling_ignored_during_execution if kind is not None else ()
        try:
            return tuple((compile_term(term.pod_affinity_term, namespace), sign * term.weight) for term in terms)
        except SelectorError as problem:
            problems.append(f"{name}: {problem}")
            return ()

    near, apart = affinity.pod_affinity, affinity.pod_anti_affinity
    terms = PodTerms(
        required("requiredAffinityTerms", near),
        required("requiredAntiAffinityTerms", apart),
        (*preferred("preferredAffinityTerms", near, 1), *preferred("preferredAntiAffinityTerms", apart, -1)),
    )
    return terms, aggregate(problems) if problems else ""
