"""All waiting pods, grouped by what holds them up and what they have in common."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Final

from scheduler.api.owners import controller_of
from scheduler.api.times import format_time
from scheduler.explain.places import next_try, place_of, queue_counts
from scheduler.explain.views import Pending, PendingGroup

if TYPE_CHECKING:
    from scheduler.cycle.scheduler import Scheduler
    from scheduler.queue.entry import QueuedPod

NOT_TRIED: Final = "not tried yet"
_NAMES: Final = 100
"""Pods that a group lists by name."""


def pending_view(scheduler: Scheduler, now: float, *, names: int = _NAMES) -> Pending:
    """The waiting pods by profile, shape and who turned them down; the largest groups first.

    The cause is told in the words of the newest refusal of the group. A group lists at most `names` of its pods.
    """
    members: dict[tuple[str, int, frozenset[str], str], list[QueuedPod]] = {}
    for entries in scheduler.queue.pending().values():
        for entry in entries:
            pod = entry.pod
            key = (pod.scheduler_name, id(pod.shape), entry.rejectors, entry.gating_plugin)
            members.setdefault(key, []).append(entry)
    groups = [_group(scheduler, entries, names) for entries in members.values()]
    counts = queue_counts(scheduler)
    return Pending(
        time=format_time(now),
        total=len(scheduler.queue),
        queues=counts,
        groups=tuple(sorted(groups, key=lambda group: (-group.count, group.oldest, group.example))),
    )


def _group(scheduler: Scheduler, entries: list[QueuedPod], names: int) -> PendingGroup:
    entries.sort(key=lambda entry: (entry.added, entry.name))
    oldest = entries[0]
    newest = max(entries, key=lambda entry: entry.timestamp)
    tries = [at for entry in entries if (at := next_try(scheduler, entry)) is not None]
    pod = oldest.pod
    owner = controller_of(pod.shape.pod.metadata)
    plugins = (oldest.gating_plugin,) if oldest.gated else tuple(sorted(oldest.rejectors))
    return PendingGroup(
        shape=hashlib.sha256(pod.shape.key).hexdigest()[:12],
        profile=pod.scheduler_name,
        cause=newest.last_message or NOT_TRIED,
        plugins=plugins,
        count=len(entries),
        queues=dict(Counter(place_of(scheduler, entry) for entry in entries)),
        example=pod.key,
        owner=f"{owner.kind}/{owner.name}" if owner is not None else "",
        pods=tuple(entry.pod.key for entry in entries[:names]),
        oldest=format_time(oldest.added),
        attempts=max(entry.attempts for entry in entries),
        next_try=format_time(min(tries)) if tries else "",
    )
