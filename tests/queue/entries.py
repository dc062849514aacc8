"""Queued pods and hints for tests of the queue's parts."""

from __future__ import annotations

from typing import Any

from scheduler.framework.events import ActionType, EventHint, EventResource, QueueingHint
from scheduler.queue.entry import QueuedPod
from tests.builders import info, pod, state

CLUSTER = state()


def entry(name: str, timestamp: float = 0.0, **more: Any) -> QueuedPod:
    """An entry for a pod of the profile "default-scheduler", turned down by `plugins`."""
    plugins = frozenset(more.pop("plugins", ()))
    built = more.pop("pod", pod(name)).scheduler("default-scheduler")
    return QueuedPod(pod=info(built, CLUSTER), timestamp=timestamp, unschedulable_plugins=plugins, **more)


def queue_always(waiting, old, new):
    return QueueingHint.QUEUE


def queue_never(waiting, old, new):
    return QueueingHint.SKIP


def on_node_add(hint=None) -> EventHint:
    return EventHint(EventResource.NODE, ActionType.ADD, hint)
