"""Whether a decision agrees with one that was taken elsewhere on the same pod, by another scheduler or profile.

kube-scheduler draws among the nodes of the highest score, so two deciders agree if the node that one of them chose is
among those that tie for the other.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from scheduler.framework.scoring import detailed_scores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.cycle.algorithm import Decision
    from scheduler.explain.record import DecisionRecord
    from scheduler.framework.profile import Profile

SAMPLING: Final = "percentageOfNodesToScore"
"""Stands among plugins for sampling, where that left the chosen node out."""

_SHOWN: Final = 5
"""How many of the best nodes an agreement names."""


class Verdict(enum.StrEnum):
    """How the decision stands to the choice.

    - Same: the chosen node is among the best, or no node fits for either.
    - Elsewhere: the chosen node fits, but others have more points.
    - Refused: the chosen node does not fit, others do.
    - NotLookedAt: the chosen node was not looked at, as the search ended before.
    - Unplaced: a node was chosen, but none fits. Placed: none was chosen, but some fit.
    """

    SAME = "Same"
    ELSEWHERE = "Elsewhere"
    REFUSED = "Refused"
    NOT_LOOKED_AT = "NotLookedAt"
    UNPLACED = "Unplaced"
    PLACED = "Placed"


class Agreement(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One pod, decided on twice.

    - `chosen`: the other decider's node, "" for none.
    - `best`: some of the nodes that tie here, by name; `ties`: how many there are.
    - `lead`: points that the best have over the chosen node; `points`: the plugins that they come from, those that
      speak for the chosen node with negative numbers. They add up to `lead`.
    - `behind`: the plugins behind the difference, the one that matters most first; empty where there is none.
    - `reasons`: what they say, where they turned nodes down.
    """

    verdict: Verdict
    chosen: str = ""
    best: tuple[str, ...] = ()
    ties: int = 0
    lead: int = 0
    points: Mapping[str, int] = {}
    behind: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether there is no difference."""
        return self.verdict is Verdict.SAME

    def __str__(self) -> str:
        """The difference in a sentence."""
        best = _listed(self.best, self.ties)
        behind = ", ".join(self.behind)
        if self.verdict is Verdict.ELSEWHERE:
            listed = ", ".join(f"{plugin} {points:+d}" for plugin, points in self.points.items())
            return f"{best} instead of {self.chosen}, by {self.lead} point{'' if self.lead == 1 else 's'}: {listed}"
        if self.verdict is Verdict.REFUSED:
            return f"{best} instead of {self.chosen}, which {behind} turns down: {', '.join(self.reasons)}"
        if self.verdict is Verdict.NOT_LOOKED_AT:
            return f"{best} instead of {self.chosen}, which was not looked at ({behind})"
        if self.verdict is Verdict.UNPLACED:
            return f"no node instead of {self.chosen}: {', '.join(self.reasons)}"
        if self.verdict is Verdict.PLACED:
            return f"{best} instead of no node, where {behind} turned nodes down"
        return f"{self.chosen or 'no node'} as well"


def agreement(
    decision: Decision, profile: Profile, chosen: str, *, refused_by: tuple[str, ...] = (), scores: bool = True
) -> Agreement:
    """How a decision that `profile` has just taken stands to a node that was chosen elsewhere ("" for none).

    `refused_by` are the plugins that turned nodes down for the other decider, where it chose none. Without `scores`
    plugins are not asked for their parts of a difference. The state must be the one that was decided on.
    """
    nodes = decision.cycle.state.nodes
    row = nodes.rows.get(chosen)
    if not len(decision.feasible):
        if not chosen:
            return Agreement(verdict=Verdict.SAME)
        behind = tuple(sorted(decision.rejections.rejecting_plugins()))
        message = decision.rejections.message()
        return Agreement(verdict=Verdict.UNPLACED, chosen=chosen, behind=behind, reasons=(message,))
    if row is not None and bool(np.any(decision.best == row)):
        return Agreement(verdict=Verdict.SAME, chosen=chosen, ties=len(decision.best))
    ties = len(decision.best)
    best = tuple(nodes.name(other) for other in decision.best[:_SHOWN].tolist())
    if not chosen:
        return Agreement(verdict=Verdict.PLACED, best=best, ties=ties, behind=refused_by)
    place = np.flatnonzero(decision.feasible == row) if row is not None else np.empty(0, np.intp)
    if not len(place):
        verdict, behind, reasons = _why_not(decision, row)
        return Agreement(verdict=verdict, chosen=chosen, best=best, ties=ties, behind=behind, reasons=reasons)
    lead, points = _lead(decision, profile, int(place[0])) if scores else (0, {})
    behind = tuple(plugin for plugin, value in points.items() if value > 0)
    return Agreement(
        verdict=Verdict.ELSEWHERE, chosen=chosen, best=best, ties=ties, lead=lead, points=points, behind=behind
    )


def agreement_of(record: DecisionRecord, chosen: str, *, refused_by: tuple[str, ...] = ()) -> Agreement:
    """The same from the record of a decision."""
    if not record.feasible:
        if not chosen:
            return Agreement(verdict=Verdict.SAME)
        behind = record.unschedulable_plugins
        return Agreement(verdict=Verdict.UNPLACED, chosen=chosen, behind=behind, reasons=(record.message,))
    ties = len(record.best)
    if chosen in record.best:
        return Agreement(verdict=Verdict.SAME, chosen=chosen, ties=ties)
    best = record.best[:_SHOWN]
    if not chosen:
        return Agreement(verdict=Verdict.PLACED, best=best, ties=ties, behind=refused_by)
    if chosen not in record.feasible:
        refusal = record.infeasible.get(chosen)
        verdict = Verdict.NOT_LOOKED_AT if refusal is None else Verdict.REFUSED
        by = SAMPLING if refusal is None else refusal.plugin
        words = () if refusal is None else refusal.reasons
        return Agreement(verdict=verdict, chosen=chosen, best=best, ties=ties, behind=(by,), reasons=words)
    first, other = record.feasible[record.best[0]], record.feasible[chosen]
    points = _by_size({plugin: value - other.plugins.get(plugin, 0) for plugin, value in first.plugins.items()})
    return Agreement(
        verdict=Verdict.ELSEWHERE,
        chosen=chosen,
        best=best,
        ties=ties,
        lead=first.total - other.total,
        points=points,
        behind=tuple(plugin for plugin, value in points.items() if value > 0),
    )


def _why_not(decision: Decision, row: int | None) -> tuple[Verdict, tuple[str, ...], tuple[str, ...]]:
    """Why the node in a row is not among the feasible ones: the verdict, who is behind it, and in which words."""
    rejections = decision.rejections
    if row is None:
        return Verdict.NOT_LOOKED_AT, (), ()
    if rejections.evaluated[row]:
        status = rejections.status_of(row)
    else:
        status = rejections.absent
    if status is None:
        return Verdict.NOT_LOOKED_AT, (SAMPLING,), ()
    return Verdict.REFUSED, tuple(status.plugin.split(",")) if status.plugin else (), tuple(sorted(status.reasons))


def _lead(decision: Decision, profile: Profile, place: int) -> tuple[int, Mapping[str, int]]:
    """What the best have over the node at a place among the feasible ones, in total and by plugin."""
    totals = decision.totals
    assert totals is not None
    first = int(np.argmax(totals))
    scores = decision.scores or detailed_scores(profile, decision.cycle, decision.pre_score_skipped)
    points = {part.name: int(part.weighted[first]) - int(part.weighted[place]) for part in scores}
    return int(totals[first]) - int(totals[place]), _by_size(points)


def _by_size(points: Mapping[str, int]) -> dict[str, int]:
    """Those that differ from 0, the largest first."""
    differing = (part for part in points.items() if part[1])
    return dict(sorted(differing, key=lambda part: (-abs(part[1]), part[0])))


def _listed(names: tuple[str, ...], count: int) -> str:
    more = count - len(names)
    listed = ", ".join(names)
    return f"{listed} or {more} more" if more > 0 else " or ".join(names)
