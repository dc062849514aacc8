"""A pod, and what is known of its way through the scheduler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.api.times import format_time
from scheduler.explain.decision_view import GATED
from scheduler.explain.places import BINDING, WAITING_ON_PERMIT, next_try, place_of
from scheduler.explain.views import Decision, PodView, QueueEvent, Summary

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scheduler.cache.pods import PodInfo
    from scheduler.cycle.scheduler import Scheduler
    from scheduler.explain.records import Records
    from scheduler.queue.entry import QueuedPod
    from scheduler.queue.history import HistoryEntry

SCHEDULED: Final = "Scheduled"
PENDING: Final = "Pending"
UNKNOWN: Final = "Unknown"

_ATTEMPTS: Final = 20
"""Summaries of earlier attempts that are listed."""


def find_pod(scheduler: Scheduler, namespace: str, name: str) -> PodInfo | None:
    """The newest record of a pod, waiting or placed; None if the scheduler knows none of that name."""
    waiting = scheduler.unscheduled.find(namespace, name)
    if waiting is not None and scheduler.state.pods.get(waiting.uid) is None:
        return waiting
    return next((pod for pod in scheduler.state.pods if pod.name == name and pod.namespace == namespace), waiting)


def pod_view(scheduler: Scheduler, records: Records | None, namespace: str, name: str) -> PodView:
    """What is known of a pod; of one that is gone, what is still kept of its last attempt."""
    pod = find_pod(scheduler, namespace, name)
    entry = scheduler.queue.get(namespace, name)
    latest = records.latest(namespace, name) if records is not None else None
    key = f"{namespace}/{name}"
    past = records.recent(_ATTEMPTS, pod=key).items if records is not None else ()
    view = PodView(
        pod=key,
        state=UNKNOWN,
        uid=latest.summary.uid if latest is not None else "",
        profile=latest.summary.profile if latest is not None else "",
        latest=latest,
        decisions=tuple(summary for summary in past if summary.pod == key),
        history=_events(_history(scheduler, records, entry, namespace, name)),
    )
    if pod is None:
        return view
    return _known(view, scheduler, pod, entry)


def _known(view: PodView, scheduler: Scheduler, pod: PodInfo, entry: QueuedPod | None) -> PodView:
    placed = scheduler.state.pods.get(pod.uid)
    assumed = scheduler.state.is_assumed(pod.uid)
    queue, tried = "", None
    waits_for: tuple[str, ...] = ()
    if entry is not None:
        queue, tried = place_of(scheduler, entry), next_try(scheduler, entry)
        waits_for = (entry.gating_plugin,) if entry.gated else tuple(sorted(entry.rejectors))
    elif assumed:
        waiting = scheduler.waiting.get(pod.uid)
        queue = BINDING if waiting is None else WAITING_ON_PERMIT
        waits_for = () if waiting is None else tuple(waiting.pending_plugins)
    latest = view.latest
    if entry is not None and entry.gated and latest is None:
        latest = _gated(pod, entry)
    elif latest is not None and latest.summary.uid != pod.uid:
        latest = None  # of another pod that had this name
    return PodView(
        pod=view.pod,
        uid=pod.uid,
        state=PENDING if placed is None or assumed else SCHEDULED,
        profile=pod.scheduler_name,
        node=placed.node_name if placed is not None else "",
        priority=pod.priority,
        queue=queue,
        created=format_time(pod.created) if pod.created else "",
        added=format_time(entry.added) if entry is not None else "",
        attempts=entry.attempts if entry is not None else latest.summary.attempt if latest is not None else 0,
        waits_for=waits_for,
        next_try=format_time(tried) if tried is not None else "",
        history=view.history,
        latest=latest,
        decisions=tuple(summary for summary in view.decisions if summary.uid == pod.uid),
    )


def _gated(pod: PodInfo, entry: QueuedPod) -> Decision:
    """What there is to say of a pod that PreEnqueue held back before its first attempt."""
    return Decision(
        summary=Summary(
            id=0,
            time=format_time(entry.timestamp),
            pod=pod.key,
            uid=pod.uid,
            profile=pod.scheduler_name,
            result=GATED,
            message=entry.last_message,
        )
    )


def _history(
    scheduler: Scheduler, records: Records | None, entry: QueuedPod | None, namespace: str, name: str
) -> list[HistoryEntry]:
    if entry is not None:
        return scheduler.queue.history(entry)
    return records.history(namespace, name) if records is not None else []


def _events(entries: Iterable[HistoryEntry]) -> tuple[QueueEvent, ...]:
    return tuple(
        QueueEvent(
            time=format_time(entry.time),
            what=entry.what,
            event=entry.event,
            object=entry.object,
            plugin=entry.plugin,
            queue=entry.queue,
            count=entry.count,
            until=format_time(entry.until) if entry.count > 1 else "",
        )
        for entry in entries
    )
