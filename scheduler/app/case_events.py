"""What the plugins of a case's profile make of its events: their queueing hints."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from scheduler.api.objects import Node, Pod
from scheduler.cycle.cluster_events import node_events, pod_events
from scheduler.framework.events import ActionType, ClusterEvent, EventHint, EventResource, QueueingHint
from scheduler.queue.hints import HintMap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.cache.pods import PodInfo
    from scheduler.cache.state import ClusterState
    from scheduler.framework.profile import Profile

log = logging.getLogger(__name__)

QUEUE: Final = "Queue"
QUEUE_SKIP: Final = "QueueSkip"

_RESOURCES: Final = {resource.value.rsplit("/", 1)[-1]: resource for resource in EventResource}

Heard = dict[str, Any]
"""{"event": label, "hints": {plugin: "Queue" or "QueueSkip"}}, of all plugins that asked for such events."""


def hints_of(
    state: ClusterState, profile: Profile, pod: PodInfo, changes: Sequence[tuple[Any, Any]]
) -> list[list[Heard]]:
    """For each change (object before or None, object after or None): the cluster events it is, with all hints.

    All plugins are asked, whether they turned the pod down or not, and the caches are left as they were.
    """
    hints = HintMap([profile], _unobserved)
    return [_heard(hints, profile, pod, *_known(state, old, new)) for old, new in changes]


def _known(state: ClusterState, old: Any, new: Any) -> tuple[Any, Any]:
    """Both as hints take them: pods with what is derived from them."""
    return tuple(state.info(item) if isinstance(item, Pod) else item for item in (old, new))  # type: ignore[return-value]


def _heard(hints: HintMap, profile: Profile, pod: PodInfo, old: Any, new: Any) -> list[Heard]:
    heard = []
    for event in _events(pod, old, new):
        # The queue puts the changed pod in the place of the old one before it asks.
        asking = new if event.resource is EventResource.TARGET_POD else pod
        answers: dict[str, str] = {}
        for plugin, hint in hints.hints(event).get(profile.name, ()):
            if answers.get(plugin) != QUEUE:
                answers[plugin] = _answer(plugin, hint, asking, old, new)
        heard.append({"event": event.label, "hints": answers})
    return heard


def _answer(plugin: str, hint: EventHint, pod: PodInfo, old: Any, new: Any) -> str:
    if hint.hint is None:
        return QUEUE
    try:
        return QUEUE if hint.hint(pod, old, new) is QueueingHint.QUEUE else QUEUE_SKIP
    except Exception:  # as in the queue, one that fails is as good as Queue
        log.exception("Hint of plugin %s failed", plugin)
        return QUEUE


def _events(pod: PodInfo, old: Any, new: Any) -> list[ClusterEvent]:
    present = old if new is None else new
    action = ActionType.DELETE if new is None else ActionType.ADD if old is None else ActionType.UPDATE
    if isinstance(present, Node):
        if action is ActionType.UPDATE:
            return node_events(old, new)
        return [ClusterEvent(EventResource.NODE, action)]
    resource = _RESOURCES.get(type(present).__name__)
    if resource is not None:
        return [ClusterEvent(resource, action)]
    if action is ActionType.UPDATE:
        return pod_events(old, new, target=new.uid == pod.uid)
    held = present.node_name or (present.nominated_node_name and action is ActionType.DELETE)
    return [ClusterEvent(EventResource.ASSIGNED_POD, action)] if held else []


def _unobserved(_plugin: str, _event: str, _answer: str, _seconds: float) -> None:
    """No metric counts the hints of a case."""
