"""The record of one decision: every node's verdict, every plugin's score."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - msgspec resolves annotations at run time
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.cycle.algorithm import Decision
    from scheduler.cycle.outcome import Failure
    from scheduler.framework.interface import Eviction
    from scheduler.framework.post_filter import PostFilterOutcome
    from scheduler.framework.scoring import Int64s, Rows
    from scheduler.framework.status import Status

_RECORD: Final = "record"


class NodeScore(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A feasible node: its total, what each plugin adds to it, and what the plugins said before normalizing.

    There are millions of references to these in a large simulation, which the garbage collector need not follow.
    """

    total: int
    plugins: Mapping[str, int]
    raw: Mapping[str, int] = {}


class NodeRejection(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel", gc=False):
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


class KnownScores:
    """Scores of nodes, each of which is there once: few differ, from node to node and from pod to pod."""

    def __init__(self) -> None:
        self._by_plugins: dict[tuple[str, ...], dict[bytes, NodeScore]] = {}

    def of(self, plugins: tuple[str, ...], points: Int64s) -> list[NodeScore]:
        """The score of each node.

        `points`, int64[1 + 2 * plugins, nodes], are the totals, what each plugin adds, and what each said.
        """
        known = self._by_plugins.setdefault(plugins, {})
        # A node's points as bytes are a key that costs a fraction of a tuple of them.
        keys = np.ascontiguousarray(points.T).view(f"V{points.itemsize * len(points)}").ravel().tolist()
        try:
            return list(map(known.__getitem__, keys))
        except KeyError:
            for place, key in enumerate(keys):
                if key not in known:
                    known[key] = _score(plugins, points[:, place].tolist())
            return list(map(known.__getitem__, keys))


def _score(plugins: tuple[str, ...], points: list[int]) -> NodeScore:
    total, *each = points
    added, said = each[: len(plugins)], each[len(plugins) :]
    return NodeScore(total, dict(zip(plugins, added, strict=True)), dict(zip(plugins, said, strict=True)))


def record(decision: Decision, failure: Failure | None, known: KnownScores | None = None) -> DecisionRecord:
    """The record of an attempt; `decision` must have been taken with details. Others with the same `known` share."""
    return DecisionRecord(
        feasible=_feasible(decision, known or KnownScores()),
        infeasible=_infeasible(decision),
        best=tuple(sorted(_names(decision, decision.best))),
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
    candidates = () if result is None else _evictions(result.candidates)
    ties = candidates  # most often all of them tie
    if result is not None and len(result.ties) != len(candidates):
        ties = _evictions(result.ties)
    return PostFilterRecord(
        str(outcome.code),
        outcome.message,
        outcome.nominated_node,
        tuple(pod.key for pod in victims),
        tuple(sorted(pod.key for pod in victims if not pod.terminating)),
        outcome.plugin,
        candidates,
        ties,
        () if result is None else tuple(sorted(pod.key for pod in result.cleared)),
    )


def _evictions(evictions: Sequence[Eviction]) -> tuple[EvictionRecord, ...]:
    """Their records, by node."""
    records = [eviction.memo.get(_RECORD) or _eviction(eviction) for eviction in evictions]
    records.sort(key=attrgetter("node"))
    return tuple(records)


def _eviction(eviction: Eviction) -> EvictionRecord:
    """Made once: the next attempts choose among mostly the same."""
    made = EvictionRecord(eviction.node, tuple(pod.key for pod in eviction.victims), eviction.violations)
    eviction.memo[_RECORD] = made
    return made


def _feasible(decision: Decision, known: KnownScores) -> dict[str, NodeScore]:
    if decision.totals is None and len(decision.feasible) != 1:
        return {}
    totals = np.zeros(len(decision.feasible), np.int64) if decision.totals is None else decision.totals
    plugins = tuple(scores.name for scores in decision.scores)
    weighted = [scores.weighted for scores in decision.scores]
    points = np.stack([totals, *weighted, *(scores.raw for scores in decision.scores)])
    return dict(zip(_names(decision, decision.feasible), known.of(plugins, points), strict=True))


def _names(decision: Decision, rows: Rows) -> list[str]:
    names = decision.cycle.state.nodes.names.vector
    assert names is not None
    found: list[str] = names[rows].tolist()
    return found


def _infeasible(decision: Decision) -> dict[str, NodeRejection]:
    rejections = decision.rejections
    found: dict[str, NodeRejection] = {}
    for status, rows in rejections.groups():
        rejection = NodeRejection(status.plugin, str(status.code), tuple(sorted(status.reasons)))
        found.update(dict.fromkeys(_names(decision, rows), rejection))
    absent = rejections.absent
    if absent is not None and not decision.nominated:
        restricted = decision.pre_filter.status is None
        rejection = NodeRejection(absent.plugin, str(absent.code), tuple(sorted(absent.reasons)), restricted)
        left_out = rejections.live & ~rejections.evaluated
        if restricted and decision.pre_filter.names is not None:
            # The pod's nominated node is looked at wherever it is, but it is left out all the same.
            left_out |= rejections.live
            known = decision.cycle.state.nodes.rows
            left_out[[known[node] for node in decision.pre_filter.names if node in known]] = False
        found.update(dict.fromkeys(_names(decision, np.flatnonzero(left_out)), rejection))
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
