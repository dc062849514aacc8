"""Pod (anti-)affinity: wished for instead of required, by node instead of by zone, or without the pods in the way."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from scheduler.api.objects import ObjectMeta, Pod, PodAffinity, WeightedPodAffinityTerm
from scheduler.api.selectors import EQUALS, EXISTS, IN
from scheduler.api.topology_labels import HOSTNAME_LABEL
from scheduler.explain.whynot.affinity import AFFINITY, EXISTING, Term, terms_of, turned_down
from scheduler.explain.whynot.change import Change, Option
from scheduler.explain.whynot.helps.evict import removal
from scheduler.explain.whynot.wording import key_word, selector_text
from scheduler.framework.names import INTER_POD_AFFINITY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scheduler.cache.terms import PodTerm
    from scheduler.explain.whynot.survey import Survey

_BY_NODE: Final = 38
_SOFTEN: Final = 42
_FIRST: Final = 20
_MOST_PODS: Final = 3
_DOMAINS: Final = 3
_WEIGHT: Final = 100
_SOLVES: Final = frozenset((INTER_POD_AFFINITY,))


def options(survey: Survey) -> Iterator[Option]:
    """For each term that turns nodes down: what of it could be otherwise, and which pods would have to go."""
    if INTER_POD_AFFINITY not in survey.codes:
        return
    for term in terms_of(survey):
        if not turned_down(survey, term).any():
            continue
        if term.kind == AFFINITY:
            if not term.index and not term.tally.counter.total:
                yield tuple(_first(survey, survey.pod.shape.terms.required))
            for index, own in enumerate(survey.pod.shape.terms.required):
                if own.topology_key == term.term.topology_key:
                    yield (_soften(term, index, selector_text(str(own.selector)), anti=False),)
            continue
        yield from _fewer_pods(survey, term)
        if term.kind != EXISTING:
            yield (_soften(term, term.index, selector_text(str(term.term.selector)), anti=True),)
            if term.term.topology_key != HOSTNAME_LABEL:
                yield (_by_node(term),)


def _first(survey: Survey, terms: Sequence[PodTerm]) -> Iterator[Change]:
    """A pod that all terms are about, started first, on each of some nodes that nothing else speaks against."""
    labels = _labels_for(terms)
    if labels is None:
        return
    shared = frozenset.intersection(*(frozenset(term.namespaces) for term in terms))
    namespace = survey.pod.namespace if survey.pod.namespace in shared else min(shared, default="")
    for row in survey.rows(INTER_POD_AFFINITY, most=1)[:_DOMAINS].tolist():
        node = survey.state.nodes.name(row)
        meta = ObjectMeta(name="first", namespace=namespace or survey.pod.namespace, uid="first", labels=labels)
        pod = survey.state.info(Pod(metadata=meta)).on(node)
        text = ",".join(f"{key}={value}" for key, value in labels.items())
        yield Change(
            kind="startFirst",
            details={"labels": text, "namespace": pod.namespace},
            cost=_FIRST,
            what=partial(_started_first, text),
            solves=_SOLVES,
            come=(pod,),
        )


def _started_first(text: str, nodes: object) -> str:
    del nodes
    return f"a pod with {text} started first, near enough,"


def _labels_for(terms: Sequence[PodTerm]) -> dict[str, str] | None:
    """Labels that all selectors pick; None where that takes more than naming values, or there are none."""
    labels: dict[str, str] = {}
    for requirement in (requirement for term in terms for requirement in term.selector.requirements):
        if requirement.operator not in (EQUALS, IN, EXISTS):
            return None
        if requirement.values or requirement.key not in labels:
            labels[requirement.key] = requirement.values[0] if requirement.values else "x"
    picked = labels and all(not term.selector.nothing and term.selector.matches(labels) for term in terms)
    return labels if picked else None


def _soften(term: Term, index: int, selector: str, *, anti: bool) -> Change:
    what = "anti-affinity" if anti else "affinity"
    key = key_word(term.term.topology_key)
    return Change(
        kind="softenAntiAffinity" if anti else "softenAffinity",
        details={"topologyKey": term.term.topology_key, "selector": selector, "term": str(index)},
        cost=_SOFTEN,
        what=lambda _: f"{what} to {selector} by {key} preferred instead of required",
        solves=_SOLVES,
        pod=partial(_with_term, partial(_preferred, index), anti),
    )


def _by_node(term: Term) -> Change:
    selector, key = selector_text(str(term.term.selector)), key_word(term.term.topology_key)
    return Change(
        kind="antiAffinityTopologyKey",
        details={"topologyKey": HOSTNAME_LABEL, "selector": selector, "term": str(term.index)},
        cost=_BY_NODE,
        what=lambda _: f"anti-affinity to {selector} by hostname instead of by {key}",
        solves=_SOLVES,
        pod=partial(_with_term, partial(_keyed, term.index, HOSTNAME_LABEL), True),
    )


def _with_term(edit: Callable[[PodAffinity], PodAffinity], anti: bool, pod: Pod) -> Pod:
    affinity = pod.spec.affinity
    assert affinity is not None
    kind = affinity.pod_anti_affinity if anti else affinity.pod_affinity
    assert kind is not None
    changed = edit(kind)
    affinity = replace(affinity, pod_anti_affinity=changed) if anti else replace(affinity, pod_affinity=changed)
    return replace(pod, spec=replace(pod.spec, affinity=affinity))


def _preferred(index: int, kind: PodAffinity) -> PodAffinity:
    required = kind.required_during_scheduling_ignored_during_execution
    softer = WeightedPodAffinityTerm(weight=_WEIGHT, pod_affinity_term=required[index])
    return PodAffinity(
        required_during_scheduling_ignored_during_execution=(*required[:index], *required[index + 1 :]),
        preferred_during_scheduling_ignored_during_execution=(
            *kind.preferred_during_scheduling_ignored_during_execution,
            softer,
        ),
    )


def _keyed(index: int, key: str, kind: PodAffinity) -> PodAffinity:
    required = list(kind.required_during_scheduling_ignored_during_execution)
    required[index] = replace(required[index], topology_key=key)
    return replace(kind, required_during_scheduling_ignored_during_execution=tuple(required))


def _fewer_pods(survey: Survey, term: Term) -> Iterator[Option]:
    """The domains with the fewest pods in the way, of those with a node that little else keeps the pod off."""
    sums, ids = term.sums(survey), term.ids(survey)
    rows = survey.rows(INTER_POD_AFFINITY)
    near = [int(domain) for domain in dict.fromkeys(ids[rows].tolist()) if 0 < sums[domain] <= _MOST_PODS]
    for domain in sorted(near, key=lambda domain: int(sums[domain]))[:_DOMAINS]:
        pods = term.pods(survey, domain=domain)
        if len(pods) == sums[domain]:
            yield (removal(pods, solves=_SOLVES),)
