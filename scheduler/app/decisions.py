"""What became of pods: the last decision on each, for whoever shows them."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from scheduler.cycle.failure import FailureHandler
from scheduler.explain.record import DecisionRecord, KnownScores, failed, gated, record
from scheduler.explain.views import WhyNot  # noqa: TC001 - msgspec resolves annotations at run time
from scheduler.framework.status import Code, Status

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from scheduler.cycle.algorithm import Decision
    from scheduler.cycle.outcome import Failure
    from scheduler.queue.entry import QueuedPod
    from scheduler.queue.queue import SchedulingQueue

SCHEDULED: Final = "Scheduled"
UNSCHEDULABLE: Final = "Unschedulable"
GATED: Final = "Gated"
ERROR: Final = "Error"


class PodDecision(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one pod ("namespace/name"). `record` has the details, where they were asked for.

    `victims` are the pods that were evicted for it in any of its attempts, `nominated_node` where that made room.
    `why_not`: what would help a pod without a node, where that was worked out.
    """

    pod: str
    node: str | None
    status: str
    message: str
    nominated_node: str | None = None
    victims: tuple[str, ...] = ()
    record: DecisionRecord
    why_not: WhyNot | None = None


class Decisions:
    """The last decision on each pod, by namespace and name, in the order in which they fell.

    `add` is a scheduler's decision hook. `details` keeps each node's verdict and each plugin's score, for which the
    scheduler must keep them as well.
    """

    def __init__(self, *, details: bool) -> None:
        self.last: dict[tuple[str, str], PodDecision] = {}
        self.attempts = 0
        self._details = details
        self._known = KnownScores()

    def add(self, entry: QueuedPod, decision: Decision | None, failure: Failure | None, node: str) -> None:
        """An attempt came to an end."""
        self.attempts += 1
        # A pod that is tried again gets its new place in the order.
        before = self.last.pop(entry.name, None)
        made_room = decision.cycle.post_filter if decision is not None else None
        evicted = made_room.result.victims if made_room is not None and made_room.result is not None else ()
        victims = before.victims if before is not None else ()
        victims += tuple(pod.key for pod in evicted if pod.key not in victims)
        nominated = failure.nominated_node if failure is not None else None
        if failure is None and before is not None and victims:
            nominated = before.nominated_node
        details = self._record(decision, failure)
        if before is not None and details.postfilter is None:
            details = replace(details, postfilter=before.record.postfilter)
        self.last[entry.name] = PodDecision(
            pod=entry.pod.key,
            node=node if failure is None else None,
            status=SCHEDULED if failure is None else UNSCHEDULABLE if failure.rejected else ERROR,
            message=f"Successfully assigned {entry.pod.key} to {node}" if failure is None else failure.message,
            nominated_node=nominated or None,
            victims=victims,
            record=details,
        )

    def _record(self, decision: Decision | None, failure: Failure | None) -> DecisionRecord:
        if decision is not None and self._details:
            return record(decision, failure, self._known)
        return failed(failure) if failure is not None else DecisionRecord()


@contextmanager
def unlogged() -> Iterator[None]:
    """Keep failed attempts out of the log, as the decisions tell of them."""
    logger = logging.getLogger(FailureHandler.__module__)
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def gated_pods(queue: SchedulingQueue, *, leaving_out: Container[tuple[str, str]] = ()) -> list[PodDecision]:
    """The pods that PreEnqueue plugins hold back, for which there was no attempt, by name."""
    held = [entry for entry in queue.pending()["gated"] if entry.name not in leaving_out]
    return [_gated(entry) for entry in sorted(held, key=lambda entry: entry.name)]


def _gated(entry: QueuedPod) -> PodDecision:
    status = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (entry.last_message,), entry.gating_plugin)
    return PodDecision(pod=entry.pod.key, node=None, status=GATED, message=entry.last_message, record=gated(status))
