"""Pods and what the queue does with them: one at a time, and all that wait."""

from collections.abc import Mapping

from scheduler.explain.views.base import View
from scheduler.explain.views.decisions import Decision, Summary


class QueueEvent(View, frozen=True, kw_only=True):
    """What happened to a pod in the queue.

    `what` is Added, Gated, Activated, Popped, Failed, Woken, Kept (a hint said no), BackoffOver, Flushed, Bound or
    Deleted; `event` the cluster event that was the occasion (kube-scheduler's name, as in
    scheduler_queue_incoming_pods_total), `object` what it was about, `plugin` whose hint decided, `queue` where the pod
    went. `count` merges equal events in a row, `until` is the last of them.
    """

    time: str
    what: str
    event: str = ""
    object: str = ""
    plugin: str = ""
    queue: str = ""
    count: int = 1
    until: str = ""


class PodView(View, frozen=True, kw_only=True):
    """A pod and what is known of its way through the scheduler.

    `state` is Scheduled, Pending or Unknown (nothing is known of it). `queue`: active, backoff, unschedulable, gated,
    inFlight, waitingOnPermit, binding, or "" for a pod that is placed. `waits_for`: the plugins whose events would wake
    it; `next_try` when it is tried again by itself, if ever.
    """

    pod: str
    uid: str = ""
    state: str
    profile: str = ""
    node: str = ""
    priority: int = 0
    queue: str = ""
    created: str = ""
    added: str = ""
    attempts: int = 0
    waits_for: tuple[str, ...] = ()
    next_try: str = ""
    history: tuple[QueueEvent, ...] = ()
    latest: Decision | None = None
    decisions: tuple[Summary, ...] = ()


class PendingGroup(View, frozen=True, kw_only=True):
    """Waiting pods of one shape and one cause. `queues`: how many are where; `example` a pod of them."""

    shape: str
    profile: str
    cause: str
    plugins: tuple[str, ...]
    count: int
    queues: Mapping[str, int]
    example: str
    owner: str = ""
    pods: tuple[str, ...] = ()
    oldest: str = ""
    attempts: int = 0
    next_try: str = ""


class Pending(View, frozen=True, kw_only=True):
    """All waiting pods by cause and shape, the largest groups first."""

    time: str
    total: int
    queues: Mapping[str, int]
    groups: tuple[PendingGroup, ...]
