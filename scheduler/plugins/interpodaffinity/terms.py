"""A pod's own affinity terms, and the pods that they are about, counted.

Source: pkg/scheduler/framework/plugins/interpodaffinity/plugin.go, filtering.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from scheduler.cache.terms import NO_LABELS, PodTerm
from scheduler.framework.arithmetic import some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    import numpy.typing as npt

    from scheduler.cache.counters import DomainTally, MatchCounter
    from scheduler.cache.labels import LabelColumn
    from scheduler.cache.shapes import LabelClass, PodShape
    from scheduler.cache.state import ClusterState

    Int64s = npt.NDArray[np.int64]

NO_NAMESPACE: Final[Mapping[str, str]] = NO_LABELS
"""What a resolved term is given for the labels of a namespace: it does not need them."""


class OwnTerms(NamedTuple):
    """Tallies of the pods that a pod's own terms are about.

    - `affinity`: pods that match *all* required affinity terms at once, by each of their topology keys.
    - `self_match`: whether the pod itself is such a pod.
    - `anti_affinity`: one tally a required anti-affinity term.
    - `preferred`: tallies with weights, negative for anti-affinity.
    """

    affinity: tuple[DomainTally, ...]
    self_match: bool
    anti_affinity: tuple[DomainTally, ...]
    preferred: tuple[tuple[DomainTally, int], ...]


def own_terms(state: ClusterState, shape: PodShape) -> OwnTerms:
    """Count what the terms of a shape are about, with the namespaces as they are now."""
    counters = state.counters

    def resolved(terms: Iterable[PodTerm]) -> list[PodTerm]:
        return [resolve(term, state.namespaces) for term in terms]

    def tally(term: PodTerm) -> DomainTally:
        return counters.tally(_matching(state, (term,)), term.topology_key)

    required = resolved(shape.terms.required)
    affinity: tuple[DomainTally, ...] = ()
    if required:
        counter = _matching(state, tuple(required))
        affinity = tuple(counters.tally(counter, key) for key in dict.fromkeys(term.topology_key for term in required))
    preferred = zip(resolved(term for term, _ in shape.terms.preferred), shape.terms.preferred, strict=True)
    return OwnTerms(
        affinity,
        all_match(required, shape.namespace, shape.labels),
        tuple(tally(term) for term in resolved(shape.terms.required_anti)),
        tuple((tally(term), weight) for term, (_, weight) in preferred),
    )


def depends_on_namespaces(shape: PodShape) -> bool:
    """Whether any own term selects namespaces by their labels."""
    terms = shape.terms
    every = (*terms.required, *terms.required_anti, *(term for term, _ in terms.preferred))
    return any(term.namespace_selector is not None and not term.namespace_selector.empty for term in every)


def resolve(term: PodTerm, namespaces: Mapping[str, Mapping[str, str]]) -> PodTerm:
    """The term with its namespace selector replaced by the names of the namespaces that it selects.

    An empty selector stays, for it means all namespaces, those without an object included
    (mergeAffinityTermNamespacesIfNotEmpty).
    """
    selector = term.namespace_selector
    if selector is None or selector.empty:
        return term
    selected = {name for name, labels in namespaces.items() if selector.matches(labels)}
    return PodTerm(term.namespaces | selected, None, term.selector, term.topology_key)


def all_match(terms: Iterable[PodTerm], namespace: str, labels: Mapping[str, str]) -> bool:
    """Whether there are terms and all match (podMatchesAllAffinityTerms)."""
    found = False
    for term in terms:
        if not term.matches(namespace, NO_NAMESPACE, labels):
            return False
        found = True
    return found


def any_matches(terms: Iterable[PodTerm], namespace: str, labels: Mapping[str, str]) -> bool:
    """Whether any of the terms matches (podMatchesAnyAffinityTerms)."""
    return any(term.matches(namespace, NO_NAMESPACE, labels) for term in terms)


def add_up(tallies: Iterable[tuple[DomainTally, int]], size: int) -> dict[LabelColumn, Int64s]:
    """Weighted sums over ids of each topology key; only of tallies that count any pod in a domain."""
    totals: dict[LabelColumn, Int64s] = {}
    for tally, weight in tallies:
        if not tally.counter.total:
            continue
        sums = tally.sums(size)
        if not some(sums):
            continue
        weighted = sums if weight == 1 else sums * weight
        total = totals.get(tally.column)
        totals[tally.column] = weighted if total is None else total + weighted
    return totals


def _matching(state: ClusterState, terms: tuple[PodTerm, ...]) -> MatchCounter:
    """The counter of pods that match all of some resolved terms, whatever their topology keys."""
    rules = frozenset(msgspec.structs.replace(term, topology_key="") for term in terms)

    def matches(label_class: LabelClass) -> bool:
        return all(rule.matches(label_class.namespace, NO_NAMESPACE, label_class.labels) for rule in rules)

    label = next((rule.selector.label for rule in rules if rule.selector.label is not None), None)
    return state.counters.match(("affinity", rules), matches, terminating=True, label=label)
