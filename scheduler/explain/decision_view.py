"""From a decision, taken just now or restored from a record, to what is shown of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from scheduler.explain.record import post_filter_record
from scheduler.explain.views import Decision, Feasible, Rejected, ScoreColumn, Step, Summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.cycle import algorithm
    from scheduler.cycle.outcome import Failure
    from scheduler.framework.diagnosis import Rejections
    from scheduler.framework.pre_filter import PreFilterOutcome
    from scheduler.framework.scoring import PluginScores
    from scheduler.framework.status import Status

Rows = npt.NDArray[np.intp]
Names = npt.NDArray[np.object_]
"""The names of nodes by row, None for a row without a node."""

SCHEDULED: Final = "Scheduled"
UNSCHEDULABLE: Final = "Unschedulable"
ERROR: Final = "Error"
GATED: Final = "Gated"


class LeftOut(msgspec.Struct, frozen=True):
    """The nodes that PreFilter left out, or all of them where it refused the pod: by which plugins, and how worded."""

    plugin: str
    status: Status
    rows: Rows
    refused: bool


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes of one decision in arrays: what both a live decision and a record come to.

    - `names`: object[N] over rows. `feasible`: the rows that fit; `totals` (int64) and all of `scores` are in their
      order, `totals` is None where nothing needed to be scored. `best`: the rows of the highest total.
    - `groups`: (status, rows) for each distinct way in which nodes were turned down.
    - `not_evaluated`: how many nodes nobody looked at.
    """

    names: Names
    feasible: Rows
    totals: npt.NDArray[np.int64] | None = None
    best: Rows
    scores: Sequence[PluginScores] = ()
    groups: Sequence[tuple[Status, Rows]] = ()
    left_out: LeftOut | None = None
    not_evaluated: int = 0


def result_of(failure: Failure | None) -> str:
    """How an attempt came out, in a word."""
    if failure is None:
        return SCHEDULED
    return UNSCHEDULABLE if failure.rejected else ERROR


def of_decision(
    decision: algorithm.Decision | None,
    failure: Failure | None,
    summary: Summary,
    *,
    steps: Sequence[Step] = (),
) -> Decision:
    """What is shown of a decision that was just taken with details, at a state that has not changed since.

    `decision` is None, or not begun, where the attempt did not come as far as to look at nodes. `summary` says all but
    the numbers of nodes and what `failure` tells.
    """
    summary = replace(
        summary,
        result=result_of(failure),
        message=failure.message if failure is not None else summary.message,
        nominated_node=(failure.nominated_node or "") if failure is not None else summary.nominated_node,
    )
    if decision is None or not decision.begun:
        return Decision(summary=summary, steps=tuple(steps))
    summary = replace(
        summary,
        nodes=len(decision.cycle.state.nodes),
        evaluated=decision.evaluated,
        feasible=len(decision.feasible),
    )
    timed = [Step(point=point, code=str(code), seconds=seconds) for point, code, seconds in decision.timings]
    return replace(
        of_picture(picture(decision), summary),
        nominated_path=decision.nominated,
        skipped_filters=tuple(sorted(decision.pre_filter.skipped)),
        skipped_scores=tuple(sorted(decision.pre_score_skipped)),
        post_filter=post_filter_record(decision.cycle.post_filter),
        steps=(*timed, *steps),
    )


def of_picture(picture: Picture, summary: Summary) -> Decision:
    """What is shown of a decision's nodes."""
    return Decision(
        summary=summary,
        feasible=_feasible(picture, summary.node),
        rejected=tuple(_rejected(picture)),
        not_evaluated=picture.not_evaluated,
        ties=tuple(sorted(picture.names[picture.best].tolist())),
    )


def picture(decision: algorithm.Decision) -> Picture:
    """The nodes of a live decision."""
    nodes, rejections = decision.cycle.state.nodes, decision.rejections
    assert nodes.names.vector is not None
    names = nodes.names.vector[: nodes.size].copy()
    left_out = None if decision.nominated else left_out_by(rejections, decision.pre_filter, names)
    return Picture(
        names=names,
        feasible=decision.feasible,
        totals=decision.totals,
        best=decision.best,
        scores=decision.scores,
        groups=list(rejections.groups()),
        left_out=left_out,
        not_evaluated=not_evaluated(rejections, left_out),
    )


def left_out_by(rejections: Rejections, outcome: PreFilterOutcome, names: Names) -> LeftOut | None:
    """The nodes that PreFilter left out, None if it did not.

    The pod's nominated node is looked at wherever it is, but it is left out all the same.
    """
    absent = rejections.absent
    if absent is None:
        return None
    if outcome.status is not None:
        return LeftOut(absent.plugin, absent, np.flatnonzero(rejections.live & ~rejections.evaluated), refused=True)
    wanted = outcome.names or frozenset()
    mask = rejections.live.copy()
    mask[[row for row, name in enumerate(names.tolist()) if name in wanted]] = False
    return LeftOut(absent.plugin, absent, np.flatnonzero(mask), refused=False)


def not_evaluated(rejections: Rejections, left_out: LeftOut | None) -> int:
    """How many nodes nobody looked at, nor left out."""
    seen = rejections.evaluated & rejections.live
    if left_out is not None:
        seen[left_out.rows] = True
    return int(np.count_nonzero(rejections.live)) - int(np.count_nonzero(seen))


def _feasible(picture: Picture, chosen: str) -> Feasible:
    names = picture.names[picture.feasible].tolist()
    totals = [0] * len(names) if picture.totals is None else picture.totals.tolist()
    order = sorted(range(len(names)), key=lambda place: (-totals[place], names[place] != chosen, names[place]))
    places = np.array(order, np.intp)

    def listed(values: npt.NDArray[Any]) -> tuple[int, ...]:
        return tuple(values[places].tolist())

    return Feasible(
        names=tuple(names[place] for place in order),
        totals=() if picture.totals is None else listed(picture.totals),
        columns=tuple(
            ScoreColumn(
                plugin=scores.name,
                weight=scores.weight,
                raw=listed(scores.raw),
                normalized=listed(scores.normalized),
                weighted=listed(scores.weighted),
            )
            for scores in picture.scores
        ),
    )


def _rejected(picture: Picture) -> list[Rejected]:
    """The largest group first."""
    found: dict[tuple[str, Status, bool], list[str]] = {}
    for status, rows in picture.groups:
        found.setdefault((status.plugin, status, False), []).extend(picture.names[rows].tolist())
    left = picture.left_out
    if left is not None and len(left.rows):
        names = picture.names[left.rows].tolist()
        if not left.refused:
            # One that was looked at for the pod's nomination is not told of twice.
            for key, others in found.items():
                found[key] = [name for name in others if name not in set(names)]
        found.setdefault((left.plugin, left.status, not left.refused), []).extend(names)
    groups = [
        Rejected(
            plugin=plugin,
            code=str(status.code),
            reasons=tuple(sorted(status.reasons)),
            nodes=tuple(sorted(names)),
            left_out=left_out,
        )
        for (plugin, status, left_out), names in found.items()
        if names
    ]
    return sorted(groups, key=lambda group: (-len(group.nodes), group.plugin, group.reasons))
