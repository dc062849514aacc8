"""Spread constraints that ask for less, or count otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from scheduler.explain.whynot.change import Change, Option
from scheduler.explain.whynot.spread import deciding
from scheduler.explain.whynot.wording import key_word, listed
from scheduler.framework.names import POD_TOPOLOGY_SPREAD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.api.objects import Pod
    from scheduler.explain.whynot.spread import Outcome
    from scheduler.explain.whynot.survey import Survey

_POLICY: Final = 15
_KEYS: Final = 22
_MIN_DOMAINS: Final = 28
_MAX_SKEW: Final = 30
_SOFT: Final = 40
_REVISIONS: Final = ("pod-template-hash", "controller-revision-hash")
"""Labels that tell the revisions of a workload apart."""


def options(survey: Survey) -> Iterator[Option]:
    """For each constraint of the pod's own that turns nodes down: what of it could be otherwise."""
    for outcome in deciding(survey):
        if outcome.place >= 0:
            yield from ((change,) for change in _changes(survey, outcome))


def _changes(survey: Survey, outcome: Outcome) -> Iterator[Change]:
    constraint, word = outcome.item.constraint, key_word(outcome.key)
    gone = listed(sorted(map(outcome.name, outcome.stuck or outcome.lowest)), most=3)
    removed = f" removes the {_emptiness(outcome)} {gone} and" if outcome.stuck else ""
    if not constraint.honor_taints:
        yield _change(
            outcome,
            "nodeTaintsPolicy",
            "Honor",
            _POLICY,
            f"nodeTaintsPolicy: Honor on the {word} spread{removed}",
            node_taints_policy="Honor",
        )
    if not constraint.honor_affinity:
        yield _change(
            outcome,
            "nodeAffinityPolicy",
            "Honor",
            _POLICY,
            f"nodeAffinityPolicy: Honor on the {word} spread{removed}",
            node_affinity_policy="Honor",
        )
    if outcome.too_few and outcome.domains:
        number = len(outcome.domains)
        yield _change(
            outcome,
            "minDomains",
            str(number),
            _MIN_DOMAINS,
            f"minDomains: {number} instead of {constraint.min_domains} on the {word} spread",
            min_domains=number,
        )
    labels = survey.pod.shape.labels
    own = survey.pod.shape.pod.spec.topology_spread_constraints[outcome.place]
    for key in _REVISIONS:
        if key in labels and key not in own.match_label_keys:
            yield _change(
                outcome,
                "matchLabelKeys",
                key,
                _KEYS,
                f"matchLabelKeys: [{key}] on the {word} spread counts this revision's pods only and",
                match_label_keys=(*own.match_label_keys, key),
            )
    for skew in _skews(outcome):
        yield _change(
            outcome,
            "maxSkew",
            str(skew),
            _MAX_SKEW + skew - constraint.max_skew,
            f"maxSkew: {skew} instead of {constraint.max_skew} on the {word} spread",
            max_skew=skew,
        )
    yield _change(
        outcome,
        "whenUnsatisfiable",
        "ScheduleAnyway",
        _SOFT,
        f"whenUnsatisfiable: ScheduleAnyway on the {word} spread",
        when_unsatisfiable="ScheduleAnyway",
        min_domains=None,
    )


def _emptiness(outcome: Outcome) -> str:
    kind = "empty domain" if outcome.minimum == 0 else "domain"
    return kind if len(outcome.stuck) == 1 else f"{kind}s"


def _skews(outcome: Outcome) -> list[int]:
    """The smallest skew that lets in a domain with a node that nothing else keeps the pod off, and any domain."""
    own, found = outcome.item.self_match, set()
    for domains in ([d for d in outcome.domains if outcome.usable[d]], outcome.domains):
        needed = [int(outcome.sums[domain]) + own - outcome.minimum for domain in domains]
        larger = [skew for skew in needed if skew > outcome.item.constraint.max_skew]
        if larger:
            found.add(min(larger))
    return sorted(found)


def _change(outcome: Outcome, field: str, value: str, cost: int, text: str, /, **fields: Any) -> Change:
    index = outcome.place

    def edit(pod: Pod) -> Pod:
        constraints = list(pod.spec.topology_spread_constraints)
        constraints[index] = replace(constraints[index], **fields)
        return replace(pod, spec=replace(pod.spec, topology_spread_constraints=tuple(constraints)))

    return Change(
        kind=f"spread.{field}",
        details={"topologyKey": outcome.key, field: value, "constraint": str(index)},
        cost=cost,
        what=lambda _: text,
        solves=frozenset((POD_TOPOLOGY_SPREAD,)),
        pod=edit,
    )
