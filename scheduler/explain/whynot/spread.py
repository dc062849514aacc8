"""How the spread constraints of a pod come out, domain by domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from scheduler.explain.views import SpreadArithmetic, SpreadDomain
from scheduler.explain.whynot.wording import count, key_word, listed, selector_text
from scheduler.framework.names import POD_TOPOLOGY_SPREAD
from scheduler.plugins.podtopologyspread.filtering import TOO_SKEWED, global_minimum, verdict_by_domain
from scheduler.plugins.podtopologyspread.plugin import PodTopologySpread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scheduler.explain.whynot.survey import Survey
    from scheduler.plugins.podtopologyspread.counts import CountedConstraint

    Int64s = npt.NDArray[np.int64]

_SHOWN: Final = 50
"""Domains that are listed: those with the fewest pods, and all that hold the minimum down come first."""


class Outcome(NamedTuple):
    """A constraint as it is now: `sums` and `verdict` (0: fits) by id of the topology key, `place` in the pod's list.

    `domains` are the ids of the domains that count, `usable` how many nodes of each id nothing else keeps the pod off.
    """

    place: int
    item: CountedConstraint
    sums: Int64s
    minimum: int
    verdict: npt.NDArray[np.uint8]
    domains: list[int]
    usable: Int64s
    nodes: Int64s

    @property
    def key(self) -> str:
        """The topology key."""
        return self.item.constraint.topology_key

    @property
    def lowest(self) -> list[int]:
        """The ids of the domains with the fewest pods; none where minDomains makes the minimum 0."""
        if self.too_few:
            return []
        return [domain for domain in self.domains if self.sums[domain] == self.minimum]

    @property
    def too_few(self) -> bool:
        """Whether there are fewer domains than minDomains asks for."""
        return len(self.domains) < self.item.constraint.min_domains

    @property
    def stuck(self) -> list[int]:
        """The lowest domains, where none of them has a node that the pod could use."""
        lowest = self.lowest
        return [] if any(self.usable[domain] for domain in lowest) else lowest

    def name(self, domain: int) -> str:
        """The label value of a domain."""
        return self.item.column.values[domain] or ""


def outcomes(survey: Survey) -> list[Outcome]:
    """All DoNotSchedule constraints of the pod; none where the plugin has nothing to say."""
    plugin = survey.profile.plugins.get(POD_TOPOLOGY_SPREAD)
    if survey.refusal is not None or not isinstance(plugin, PodTopologySpread):
        return []
    counts = plugin.counted(survey.cycle)
    if counts is None:
        return []
    table = survey.state.nodes
    counts.refresh(table)
    mine = survey.codes.get(POD_TOPOLOGY_SPREAD)
    free = survey.live & (survey.obstacles - (0 if mine is None else (mine != 0)) == 0)
    found = []
    for place, item in zip(_places(survey, len(counts.items)), counts.items, strict=True):
        sums = item.sums(table.size)
        ids = item.column.ids[: table.size]
        mask = item.inclusion.mask
        counted = survey.live if mask is None else survey.live & mask
        size = len(sums)
        found.append(
            Outcome(
                place=place,
                item=item,
                sums=sums,
                minimum=global_minimum(item, sums),
                verdict=verdict_by_domain(item, sums),
                domains=item.domains().tolist(),
                usable=np.bincount(ids[free], minlength=size)[:size],
                nodes=np.bincount(ids[counted], minlength=size)[:size],
            )
        )
    return found


def _places(survey: Survey, number: int) -> Iterable[int]:
    """Where in the pod's own list the constraints are; -1 for those that the profile gives it."""
    own = survey.pod.shape.pod.spec.topology_spread_constraints
    if not own:
        return [-1] * number
    return [place for place, constraint in enumerate(own) if constraint.when_unsatisfiable == "DoNotSchedule"]


def deciding(survey: Survey) -> list[Outcome]:
    """The constraints that turn any node down."""
    if POD_TOPOLOGY_SPREAD not in survey.codes:
        return []
    return [outcome for outcome in outcomes(survey) if outcome.verdict[_ids(survey, outcome)].any()]


def _ids(survey: Survey, outcome: Outcome) -> npt.NDArray[np.intp]:
    return outcome.item.column.ids[: len(survey.live)][survey.live]


def arithmetic(survey: Survey, why: Callable[[list[int]], str]) -> tuple[SpreadArithmetic, ...]:
    """The deciding constraints; `why` says in words what else keeps the pod off the nodes in some rows."""
    return tuple(_arithmetic(survey, outcome, why) for outcome in deciding(survey))


def _arithmetic(survey: Survey, outcome: Outcome, why: Callable[[list[int]], str]) -> SpreadArithmetic:
    constraint = outcome.item.constraint
    order = sorted(outcome.domains, key=lambda domain: (int(outcome.sums[domain]), outcome.name(domain)))
    return SpreadArithmetic(
        topology_key=constraint.topology_key,
        max_skew=constraint.max_skew,
        min_domains=constraint.min_domains if constraint.min_domains > 1 else 0,
        selector=selector_text(str(constraint.selector)),
        minimum=outcome.minimum,
        self_match=int(outcome.item.self_match),
        domains=tuple(
            SpreadDomain(
                name=outcome.name(domain),
                count=int(outcome.sums[domain]),
                nodes=int(outcome.nodes[domain]),
                fits=bool(outcome.verdict[domain] == 0),
                usable=int(outcome.usable[domain]),
            )
            for domain in order[:_SHOWN]
        ),
        sentence=_sentence(survey, outcome, why),
    )


def _sentence(survey: Survey, outcome: Outcome, why: Callable[[list[int]], str]) -> str:
    constraint = outcome.item.constraint
    head = f"{key_word(outcome.key)} spread of {selector_text(str(constraint.selector))}"
    if outcome.place < 0:
        head += " (a default constraint of the profile)"
    missing = int(np.count_nonzero(outcome.item.column.ids[: len(survey.live)][survey.live] == 0))
    parts = []
    if (outcome.verdict[_ids(survey, outcome)] == TOO_SKEWED).any():
        parts.append(_skew(survey, outcome, why))
    if missing:
        parts.append(f"{missing} {'node lacks' if missing == 1 else 'nodes lack'} the label {outcome.key}")
    return f"{head}: {'; '.join(parts)}"


def _skew(survey: Survey, outcome: Outcome, why: Callable[[list[int]], str]) -> str:
    constraint, item = outcome.item.constraint, outcome.item
    names: dict[int, list[str]] = {}
    for domain in outcome.domains:
        names.setdefault(int(outcome.sums[domain]), []).append(outcome.name(domain))
    counted = ", ".join(_held(number, sorted(some)) for number, some in sorted(names.items(), reverse=True))
    if outcome.too_few:
        number = len(outcome.domains)
        floor = (
            f"that is {count(number, 'domain')} of the {constraint.min_domains} that minDomains asks for, "
            "so the minimum counts as 0"
        )
    else:
        floor = f"the minimum is {outcome.minimum}"
    allowed = constraint.max_skew + outcome.minimum - item.self_match
    blocked = [domain for domain in outcome.domains if outcome.verdict[domain] and outcome.usable[domain]]
    nearest = min((int(outcome.sums[domain]) for domain in blocked), default=None)
    told = f"{counted}; {floor}"
    if nearest is not None:
        sum_ = f"{nearest} + 1 - {outcome.minimum}" if item.self_match else f"{nearest} - {outcome.minimum}"
        told += (
            f", and {sum_} = {nearest + item.self_match - outcome.minimum} is more than maxSkew {constraint.max_skew}"
        )
    else:
        told += f", so that only domains with at most {allowed} may take it"
    if outcome.stuck:
        rows = np.flatnonzero(survey.live & np.isin(item.column.ids[: len(survey.live)], outcome.stuck)).tolist()
        stuck = listed(sorted(map(outcome.name, outcome.stuck)), most=3)
        reason = why(rows)
        told += f"; {stuck} {'holds' if len(outcome.stuck) == 1 else 'hold'} the minimum down but can't take the pod"
        if reason:
            whose = "its" if len(outcome.stuck) == 1 else "their"
            told += f" ({whose} {'node' if len(rows) == 1 else 'nodes'} {reason})"
    return told


def _held(number: int, domains: list[str]) -> str:
    """ "a and b have 1 each"."""
    if len(domains) == 1:
        return f"{domains[0]} has {number}"
    return f"{listed(domains, most=3)} have {number} each"
