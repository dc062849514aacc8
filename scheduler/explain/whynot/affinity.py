"""How the terms of pod (anti-)affinity come out: the pod's own, and those of pods that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from scheduler.cache.counters import REQUIRED_ANTI, MatchCounter
from scheduler.explain.views import AffinityArithmetic, AffinityDomain
from scheduler.explain.whynot.wording import count, key_word, listed, selector_text
from scheduler.framework.names import INTER_POD_AFFINITY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scheduler.cache.counters import DomainTally, HeldTerm
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.terms import PodTerm
    from scheduler.explain.whynot.survey import Survey
    from scheduler.plugins.interpodaffinity.terms import OwnTerms

AFFINITY: Final = "affinity"
ANTI_AFFINITY: Final = "antiAffinity"
EXISTING: Final = "existingAntiAffinity"

_SHOWN: Final = 50
_NAMED: Final = 20


class Term:
    """A term that turns nodes down, or may: which pods are counted for it, and in which domains.

    `index`: its place among the pod's own terms of the kind; `picks` says which pods of a node are meant. The pod's own
    required affinity is about pods that match all of its terms at once: there `selector`, in words, and `namespaces`
    are of all of them, and `term` is the first of this topology key.
    """

    __slots__ = ("index", "kind", "namespaces", "picks", "selector", "tally", "term")

    def __init__(
        self,
        kind: str,
        index: int,
        terms: Sequence[PodTerm],
        tally: DomainTally,
        picks: Callable[[PodInfo], bool],
    ) -> None:
        self.kind = kind
        self.index = index
        self.term = next(term for term in terms if term.topology_key == tally.column.key)
        self.selector = listed(list(dict.fromkeys(selector_text(str(term.selector)) for term in terms)))
        self.namespaces = frozenset.intersection(*(frozenset(term.namespaces) for term in terms))
        self.tally = tally
        self.picks = picks

    def sums(self, survey: Survey) -> npt.NDArray[np.int64]:
        """Pods by id of the topology key."""
        return self.tally.sums(survey.state.nodes.size)

    def ids(self, survey: Survey) -> npt.NDArray[np.intp]:
        """The domain of each row."""
        return self.tally.column.ids[: len(survey.live)]

    def pods(self, survey: Survey, *, most: int = _NAMED, domain: int | None = None) -> list[PodInfo]:
        """The pods that are counted, node by node: all, or those in a domain."""
        counts = self.tally.counter.per_node(survey.state.nodes.size)
        rows = np.flatnonzero((counts > 0) & survey.live)
        if domain is not None:
            rows = rows[self.ids(survey)[rows] == domain]
        found: list[PodInfo] = []
        for row in rows.tolist():
            found += filter(self.picks, survey.state.pods.on_node(survey.state.nodes.name(row)))
            if len(found) >= most:
                break
        return sorted(found[:most], key=lambda pod: pod.key)


def terms_of(survey: Survey) -> list[Term]:
    """All terms that have a say, those of other pods last; none where the plugin has nothing to say."""
    own: OwnTerms | None = survey.cycle.data.get(INTER_POD_AFFINITY)
    if survey.refusal is not None or own is None or INTER_POD_AFFINITY not in survey.codes:
        return []
    shape = survey.pod.shape
    found = [
        Term(AFFINITY, index, shape.terms.required, tally, _matching(tally)) for index, tally in enumerate(own.affinity)
    ]
    found += [
        Term(ANTI_AFFINITY, index, (term,), tally, _matching(tally))
        for index, (term, tally) in enumerate(zip(shape.terms.required_anti, own.anti_affinity, strict=True))
    ]
    counters = survey.state.counters
    found += [
        Term(EXISTING, index, (held.term,), counters.tally(held.counter, held.term.topology_key), _carrying(held))
        for index, held in enumerate(counters.held_matching(REQUIRED_ANTI, shape.label_class))
    ]
    return found


def _matching(tally: DomainTally) -> Callable[[PodInfo], bool]:
    counter = tally.counter
    assert isinstance(counter, MatchCounter)
    return lambda pod: counter.matches(pod.shape.label_class)


def _carrying(held: HeldTerm) -> Callable[[PodInfo], bool]:
    return lambda pod: held.term in pod.shape.terms.required_anti


def turned_down(survey: Survey, term: Term) -> npt.NDArray[np.bool_]:
    """bool over rows: the nodes that the term by itself keeps the pod off."""
    here = (term.sums(survey) > 0)[term.ids(survey)]
    if term.kind != AFFINITY:
        return survey.live & here
    own: OwnTerms = survey.cycle.data[INTER_POD_AFFINITY]
    is_first = own.self_match and not any(tally.sums(survey.state.nodes.size).any() for tally in own.affinity)
    return survey.live & (term.ids(survey) == 0 if is_first else ~here)


def arithmetic(survey: Survey, why: Callable[[list[int]], str]) -> tuple[AffinityArithmetic, ...]:
    """The deciding terms; `why` says in words what else keeps the pod off the nodes in some rows."""
    return tuple(_arithmetic(survey, term, why) for term in terms_of(survey) if turned_down(survey, term).any())


def _arithmetic(survey: Survey, term: Term, why: Callable[[list[int]], str]) -> AffinityArithmetic:
    sums, ids = term.sums(survey), term.ids(survey)
    nodes = np.bincount(ids[survey.live], minlength=len(sums))
    domains = sorted(np.flatnonzero(sums > 0).tolist(), key=lambda domain: -int(sums[domain]))
    pods = term.pods(survey)
    return AffinityArithmetic(
        kind=term.kind,
        topology_key=term.term.topology_key,
        selector=term.selector,
        namespaces=tuple(sorted(term.namespaces)),
        domains=tuple(
            AffinityDomain(
                name=term.tally.column.values[domain] or "", count=int(sums[domain]), nodes=int(nodes[domain])
            )
            for domain in domains[:_SHOWN]
        ),
        pods=tuple(pod.key for pod in pods),
        sentence=_sentence(survey, term, pods, why),
    )


def _sentence(survey: Survey, term: Term, pods: list[PodInfo], why: Callable[[list[int]], str]) -> str:
    key, selector = key_word(term.term.topology_key), term.selector
    where = listed([f"{pod.key} on {pod.node_name}" for pod in pods], most=3)
    total = term.tally.counter.total
    if len(pods) > 3 and total > len(pods):
        where = f"{', '.join(f'{pod.key} on {pod.node_name}' for pod in pods[:3])} and {total - 3} more"
    if term.kind == ANTI_AFFINITY:
        return f"it keeps away from {selector} by {key}: {where}"
    if term.kind == EXISTING:
        verb = "keeps" if total == 1 else "keep"
        return f"{where} {verb} away from {selector} by {key}, and this pod is one"
    if not total:
        return f"it must be near {selector} by {key}, and there is no such pod"
    rows = np.flatnonzero(survey.live & ~turned_down(survey, term)).tolist()
    near = f"it must be near {selector} by {key}: {where}"
    if not rows:
        return f"{near}; no node is near all that it must be near to"
    reason = why(rows)
    return f"{near}; the {count(len(rows), 'node')} near {'it' if total == 1 else 'them'} {reason}" if reason else near
