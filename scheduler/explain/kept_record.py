"""What is kept of one attempt."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from scheduler.api.times import format_time
from scheduler.explain.decision_view import ERROR, SCHEDULED, UNSCHEDULABLE, of_picture
from scheduler.explain.record import ReservationRecord, post_filter_record
from scheduler.explain.views import Decision, Step, Summary
from scheduler.framework.recorder import PERMIT
from scheduler.framework.status import Code
from scheduler.plugins.volumebinding.plugin import VolumeBinding

if TYPE_CHECKING:
    from scheduler.cycle.journal import Attempted
    from scheduler.explain.kept import Details
    from scheduler.explain.record import PostFilterRecord

FORGOTTEN: Final = "nodes and scores are no longer kept: there was no memory left for them"

_BASE: Final = 1400
"""Bytes of a record itself, its trace and the history of its pod, by measurement."""
_EVICTION: Final = 200
_VICTIM: Final = 80


class Record:
    """One attempt. `details` are None where it did not come as far as to look at nodes, or were `shed`.

    `bytes` is what this takes, without its details.
    """

    __slots__ = (
        "attempt",
        "bytes",
        "details",
        "evaluated",
        "failure",
        "feasible",
        "history",
        "id",
        "name",
        "namespace",
        "node",
        "nodes",
        "nominated_node",
        "nominated_path",
        "post_filter",
        "profile",
        "reserved",
        "seconds",
        "shed",
        "skipped_filters",
        "skipped_scores",
        "time",
        "trace",
        "uid",
    )

    def __init__(self, number: int, now: float, attempt: Attempted, details: Details | None) -> None:
        profile, cycle, entry, decision, failure, node, seconds = attempt
        pod, trace = cycle.pod, cycle.trace
        assert trace is not None
        self.id = number
        self.time = now - seconds
        self.namespace = pod.namespace
        self.name = pod.name
        self.uid = pod.uid
        self.profile = profile.name
        self.attempt = entry.attempts
        self.node = node
        self.failure = failure
        self.nominated_node = failure.nominated_node if failure is not None else ""
        self.nodes = len(cycle.state.nodes)
        self.seconds = seconds
        self.trace = trace
        self.history = entry.history
        self.details = details
        self.shed = False
        self.reserved: ReservationRecord | None = None
        self.post_filter: PostFilterRecord | None = None
        if decision is None:
            self.evaluated = self.feasible = 0
            self.nominated_path = False
            self.skipped_filters = self.skipped_scores = _NOBODY
        else:
            self.evaluated = decision.evaluated
            self.feasible = len(decision.feasible)
            self.nominated_path = decision.nominated
            self.skipped_filters = decision.pre_filter.skipped
            self.skipped_scores = decision.pre_score_skipped
        self.bytes = _BASE
        if failure is not None:
            self.bytes += len(failure.message)
        if cycle.post_filter is not None:
            self.post_filter = post_filter_record(cycle.post_filter)
            self.bytes += _size_of(self.post_filter)
        if cycle.shape.volumes is not None and node:
            self.reserved = _reserved(attempt)

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name of the pod."""
        return self.namespace, self.name

    @property
    def result(self) -> str:
        """How it came out, as far as is known: a binding cycle may be under way."""
        if self.failure is not None:
            return UNSCHEDULABLE if self.failure.rejected else ERROR
        failure = self.trace.failure
        if failure is None:
            return SCHEDULED
        return UNSCHEDULABLE if failure[0] else ERROR

    @property
    def message(self) -> str:
        """How it failed, "" if it did not."""
        if self.failure is not None:
            return self.failure.message
        return self.trace.failure[1] if self.trace.failure is not None else ""

    def turned_down_by(self, plugin: str) -> bool:
        """Whether a plugin is among those that turned the pod down."""
        failure = self.failure
        if failure is None:
            return any(key[1] == plugin and key[3] for key, _ in self.trace.steps())
        return plugin in failure.unschedulable_plugins or plugin in failure.pending_plugins

    def summary(self) -> Summary:
        """The attempt in a line."""
        return Summary(
            id=self.id,
            time=format_time(self.time),
            pod=f"{self.namespace}/{self.name}",
            uid=self.uid,
            profile=self.profile,
            attempt=self.attempt,
            result=self.result,
            node=self.node,
            nominated_node=self.nominated_node or "",
            message=self.message,
            nodes=self.nodes,
            evaluated=self.evaluated,
            feasible=self.feasible,
            seconds=self.seconds,
        )

    def view(self) -> Decision:
        """The attempt, whole."""
        summary = self.summary()
        nodes = Decision(summary=summary) if self.details is None else of_picture(self.details.restore(), summary)
        return replace(
            nodes,
            nominated_path=self.nominated_path,
            skipped_filters=tuple(sorted(self.skipped_filters)),
            skipped_scores=tuple(sorted(self.skipped_scores)),
            post_filter=self.post_filter,
            reserved=self.reserved,
            steps=tuple(
                Step(
                    point=point,
                    plugin=plugin,
                    seconds=seconds,
                    code=str(code),
                    error=error,
                    timeouts=self.trace.waits if point == PERMIT else {},
                )
                for (point, plugin, code, error), seconds in self.trace.steps()
            ),
            under_way=not self.trace.ended,
            incomplete=FORGOTTEN if self.shed else "",
        )


_NOBODY: Final[frozenset[str]] = frozenset()
_VICTIMS: Final = attrgetter("victims")


def _size_of(made_room: PostFilterRecord | None) -> int:
    if made_room is None:
        return 0
    evictions = (*made_room.candidates, *made_room.ties)
    victims = sum(map(len, map(_VICTIMS, evictions)))
    return len(made_room.message) + _EVICTION * len(evictions) + _VICTIM * (victims + len(made_room.victims))


def _reserved(attempt: Attempted) -> ReservationRecord | None:
    """What is held for the pod's volumes."""
    volumes: dict[str, str] = {}
    for plugin in attempt.profile.reserve:
        if isinstance(plugin, VolumeBinding):
            volumes |= plugin.planned(attempt.cycle, attempt.node)
    if attempt.failure is not None:
        return None
    return ReservationRecord(str(Code.SUCCESS), volumes=volumes)
