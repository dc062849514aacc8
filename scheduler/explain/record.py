"""The record of one decision: every node's verdict, every plugin's score."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - msgspec resolves annotations at run time
from typing import TYPE_CHECKING

import msgspec
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.cycle.algorithm import Decision
    from scheduler.cycle.outcome import Failure
    from scheduler.framework.interface import Eviction
    from scheduler.framework.post_filter import PostFilterOutcome
    from scheduler.framework.status import Status


class NodeScore(msgspec.Struct, frozen=True, omit_defaults=True):
    """A feasible node: its total, what each plugin adds to it, and what the plugins said before normalizing."""

    total: int
    plugins: Mapping[str, int]
    raw: Mapping[str, int] = {}


class NodeRejection(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A node that was turned down: by the first plugin to do so, or left out by PreFilter (`restricted`)."""

    plugin: str
    code: str
    reasons: tuple[str, ...]
    restricted: bool = False


class PreFilterRecord(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What the PreFilter plugins said (PreEnqueue plugins, for a pod that they held back)."""

    code: str
    plugin: str = ""
    reasons: tuple[str, ...] = ()
    node_names: tuple[str, ...] | None = None
    restricted_by: tuple[str, ...] = ()
    skipped_filter: tuple[str, ...] = ()


class EvictionRecord(msgspec.Struct, frozen=True, rename="camel"):
    """A node on which preemption would help: whom it would cost, and how many of these break a budget."""

    node: str
    victims: tuple[str, ...]
    pdb_violations: int = msgspec.field(name="pdbViolations")


class PostFilterRecord(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What the PostFilter plugins did to make room.

    `nominated_node`: a node in prospect, "" to clear it, None to leave it. `deleted` are the victims that were not
    leaving already; `ties` the candidates among which chance decides; `cleared_nominations` the pods of lower priority
    that lose their nomination to the node.
    """

    code: str
    message: str
    nominated_node: str | None
    victims: tuple[str, ...]
    deleted: tuple[str, ...]
    plugin: str = ""
    candidates: tuple[EvictionRecord, ...] = ()
    ties: tuple[EvictionRecord, ...] = ()
    cleared_nominations: tuple[str, ...] = ()


class ReservationRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the Reserve plugins hold for the pod on a node.

    `volumes`: the volume of each claim that is to be bound, "provision" where it is to be made.
    """

    code: str
    plugin: str = ""
    reasons: tuple[str, ...] = ()
    volumes: Mapping[str, str] = {}


class DecisionRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """One attempt. `best` are the nodes that tie, `reserve` what is held on each of them for pods that need it;
    `reason` is empty where a node was found.

    Fields are named as in the differential tests' oracle.
    """

    feasible: Mapping[str, NodeScore] = {}
    infeasible: Mapping[str, NodeRejection] = {}
    best: tuple[str, ...] = ()
    prefilter_status: PreFilterRecord | None = None
    prescore_skipped: tuple[str, ...] = ()
    score_skipped: bool = False
    nominated_path: bool = False
    unschedulable_plugins: tuple[str, ...] = ()
    reason: str = ""
    message: str = ""
    postfilter: PostFilterRecord | None = None
    reserve: Mapping[str, ReservationRecord] = {}


def gated(status: Status) -> DecisionRecord:
    """The record of a pod that a PreEnqueue plugin holds back."""
    return DecisionRecord(
        prefilter_status=PreFilterRecord(f"PreEnqueue:{status.code}", status.plugin, status.reasons),
        reason="SchedulingGated",
        message=status.message,
    )


def failed(failure: Failure) -> DecisionRecord:
    """The record of an attempt that did not come as far as to look at nodes."""
    return DecisionRecord(reason=failure.reason, message=failure.message)


def record(decision: Decision, failure: Failure | None) -> DecisionRecord:
    """The record of an attempt; `decision` must have been taken with details."""
    name = decision.cycle.state.nodes.name
    return DecisionRecord(
        feasible=_feasible(decision),
        infeasible=_infeasible(decision),
        best=tuple(sorted(name(row) for row in decision.best.tolist())),
        prefilter_status=_pre_filter(decision),
        prescore_skipped=tuple(sorted(decision.pre_score_skipped)),
        score_skipped=len(decision.feasible) == 1,
        nominated_path=decision.nominated,
        unschedulable_plugins=tuple(sorted(failure.unschedulable_plugins)) if failure is not None else (),
        reason=failure.reason if failure is not None else "",
        message=failure.message if failure is not None else "",
        postfilter=post_filter_record(decision.cycle.post_filter),
    )


def post_filter_record(outcome: PostFilterOutcome | None) -> PostFilterRecord | None:
    """The record of what the PostFilter plugins did; None if they were not asked."""
    if outcome is None:
        return None
    result = outcome.result
    victims = () if result is None else result.victims
    return PostFilterRecord(
        str(outcome.code),
        outcome.message,
        outcome.nominated_node,
        tuple(pod.key for pod in victims),
        tuple(sorted(pod.key for pod in victims if not pod.terminating)),
        outcome.plugin,
        _evictions(() if result is None else result.candidates),
        _evictions(() if result is None else result.ties),
        () if result is None else tuple(sorted(pod.key for pod in result.cleared)),
    )


def _evictions(evictions: Sequence[Eviction]) -> tuple[EvictionRecord, ...]:
    return tuple(
        EvictionRecord(eviction.node, tuple(pod.key for pod in eviction.victims), eviction.violations)
        for eviction in sorted(evictions, key=lambda eviction: eviction.node)
    )


def _feasible(decision: Decision) -> dict[str, NodeScore]:
    if decision.totals is None and len(decision.feasible) != 1:
        return {}
    name = decision.cycle.state.nodes.name
    totals = np.zeros(len(decision.feasible), np.int64) if decision.totals is None else decision.totals
    columns = [(scores.name, scores.weighted.tolist(), scores.raw.tolist()) for scores in decision.scores]
    return {
        name(row): NodeScore(
            total,
            {plugin: weighted[index] for plugin, weighted, _ in columns},
            {plugin: raw[index] for plugin, _, raw in columns},
        )
        for index, (row, total) in enumerate(zip(decision.feasible.tolist(), totals.tolist(), strict=True))
    }


def _infeasible(decision: Decision) -> dict[str, NodeRejection]:
    rejections = decision.rejections
    name = decision.cycle.state.nodes.name
    found: dict[str, NodeRejection] = {}
    for status, rows in rejections.groups():
        rejection = NodeRejection(status.plugin, str(status.code), tuple(sorted(status.reasons)))
        found.update((name(row), rejection) for row in rows.tolist())
    absent = rejections.absent
    if absent is not None and not decision.nominated:
        restricted = decision.pre_filter.status is None
        plugin = ",".join(sorted(decision.pre_filter.restricted_by)) if restricted else absent.plugin
        rejection = NodeRejection(plugin, str(absent.code), tuple(sorted(absent.reasons)), restricted)
        left_out = rejections.live & ~rejections.evaluated
        if restricted and decision.pre_filter.names is not None:
            # The pod's nominated node is looked at wherever it is, but it is left out all the same.
            left_out |= rejections.live
            known = decision.cycle.state.nodes.rows
            left_out[[known[node] for node in decision.pre_filter.names if node in known]] = False
        found.update((name(row), rejection) for row in np.flatnonzero(left_out).tolist())
    return found


def _pre_filter(decision: Decision) -> PreFilterRecord:
    outcome = decision.pre_filter
    status = outcome.status
    names = None if outcome.names is None or status is not None or decision.nominated else outcome.names
    return PreFilterRecord(
        "Success" if status is None else str(status.code),
        "" if status is None else status.plugin,
        () if status is None else status.reasons,
        None if names is None else tuple(sorted(names)),
        tuple(sorted(outcome.restricted_by)),
        tuple(sorted(outcome.skipped)),
    )
