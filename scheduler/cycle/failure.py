"""What becomes of a pod whose attempt failed: back into the queue, an event, a condition (handleSchedulingFailure)."""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from scheduler.api.objects import PodCondition
from scheduler.cycle import outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.cache.pods import PodInfo
    from scheduler.cache.state import ClusterState
    from scheduler.client.events import EventRecorder
    from scheduler.client.interface import Writer
    from scheduler.cycle.outcome import Failure
    from scheduler.cycle.tracker import UnscheduledPods
    from scheduler.framework.profile import Profile
    from scheduler.metrics.scheduler_metrics import SchedulerMetrics
    from scheduler.queue.entry import QueuedPod
    from scheduler.queue.queue import SchedulingQueue

log = logging.getLogger(__name__)

_SCHEDULED: Final = "PodScheduled"
_LONGEST_NOTE: Final = 1024
_CUT: Final = " ..."


class FailureHandler:
    """Puts pods back, and tells their owners why."""

    def __init__(
        self,
        state: ClusterState,
        queue: SchedulingQueue,
        unscheduled: UnscheduledPods,
        writer: Writer,
        recorders: Mapping[str, EventRecorder],
        metrics: SchedulerMetrics,
    ) -> None:
        self._state = state
        self._queue = queue
        self._unscheduled = unscheduled
        self._writer = writer
        self._recorders = recorders
        self._metrics = metrics

    def handle(
        self, profile: Profile, entry: QueuedPod, failure: Failure, start: float, *, nominated_to: str = ""
    ) -> None:
        """An attempt that began at `start` (perf_counter) failed.

        `nominated_to` is a node that the attempt itself has nominated the pod to, which may not have been heard of yet.
        """
        result = "unschedulable" if failure.rejected else "error"
        self._metrics.attempt(result, profile.name).observe(time.perf_counter() - start)
        if failure.rejected:
            log.log(outcome.V2, "Unable to schedule pod; no fit: pod=%s err=%s", entry.pod.key, failure.message)
        else:
            log.error("Error scheduling pod %s; retrying: %s", entry.pod.key, failure.message)
        entry.unschedulable_plugins = failure.unschedulable_plugins
        entry.pending_plugins = failure.pending_plugins
        entry.last_message = failure.message
        pod = self._unscheduled.get(entry.pod.uid)
        if pod is not None:
            entry.pod = pod
            self._put_back(entry)
            node = pod.nominated_node_name if failure.nominated_node is None else failure.nominated_node
            self._state.nominations.add(pod, node)
            self.warn(profile, pod, failure.message, version=entry.written.version(pod.resource_version))
            if self._patch(pod, failure, nominated_to or pod.nominated_node_name):
                entry.written.note(pod.resource_version)
            return
        self._queue.done(entry.pod.uid)
        self._state.nominations.remove(entry.pod.uid)
        if not self._unscheduled.has_name(entry.pod.namespace, entry.pod.name):
            # Gone, or bound by somebody else. The event tells what this attempt came to; the condition is not touched,
            # since it would call a bound pod unschedulable.
            self.warn(profile, entry.pod, failure.message)

    def _put_back(self, entry: QueuedPod) -> None:
        try:
            self._queue.add_unschedulable(entry)
        except ValueError as problem:
            log.error("%s", problem)

    def warn(self, profile: Profile, pod: PodInfo, note: str, *, version: str | None = None) -> None:
        """A FailedScheduling event; a note that is too long for the API is cut.

        `version` is a name of the pod's version where that is not the known resourceVersion.
        """
        encoded = note.encode()
        if len(encoded) > _LONGEST_NOTE:
            note = encoded[: _LONGEST_NOTE - len(_CUT)].decode(errors="ignore") + _CUT
        self.record(
            profile,
            pod,
            type_="Warning",
            reason="FailedScheduling",
            action="Scheduling",
            note=note,
            version=version,
        )

    def record(
        self,
        profile: Profile,
        pod: PodInfo,
        *,
        type_: str,
        reason: str,
        action: str,
        note: str,
        version: str | None = None,
    ) -> None:
        """An event about a pod, reported by its profile."""
        recorder = self._recorders[profile.name]
        recorder.record(pod.reference, type=type_, reason=reason, action=action, note=note, version=version)

    def _patch(self, pod: PodInfo, failure: Failure, nominated_now: str) -> bool:
        """Write what changes in the pod's status; whether anything does.

        What was written and not yet answered counts as there, since kube-scheduler waits for each answer.
        """
        old = pod.scheduled_condition
        pending = self._writer.pending_status(pod.uid)
        if pending is not None:
            old = pending.conditions.get(_SCHEDULED, old)
            if pending.nominated_node_name is not None:
                nominated_now = pending.nominated_node_name
        # A newer generation alone is no reason to write, as in UpdatePodCondition (pkg/api/v1/pod/util.go).
        changed = old is None or (old.status, old.reason, old.message) != ("False", failure.reason, failure.message)
        nominated = failure.nominated_node
        if nominated == nominated_now:
            nominated = None
        if not changed and nominated is None:
            return False
        now = datetime.now(tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        since = old.last_transition_time if old is not None and old.status == "False" else None
        condition = PodCondition(
            type=_SCHEDULED,
            status="False",
            reason=failure.reason,
            message=failure.message,
            observed_generation=pod.generation,
            last_transition_time=since or now,
        )
        self._writer.patch_pod_status(
            pod.namespace, pod.name, pod.uid, conditions=[condition] if changed else [], nominated_node_name=nominated
        )
        return True
