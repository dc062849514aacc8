"""Which events may help which pods: the hints of all plugins of all profiles."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from scheduler.cache.pods import PodInfo
from scheduler.cache.shapes import PinnedShape
from scheduler.framework.events import ActionType, ClusterEvent, EventHint, EventResource, OfProfile, QueueingHint
from scheduler.framework.extenders import EXTENDER
from scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    ReservePlugin,
)

if TYPE_CHECKING:
    from scheduler.cache.shapes import PodBody, PodShape
    from scheduler.framework.profile import Profile
    from scheduler.queue.entry import QueuedPod

log = logging.getLogger(__name__)

_POD_RESOURCES: Final = (EventResource.ASSIGNED_POD, EventResource.UNSCHEDULED_POD, EventResource.TARGET_POD)
_ANYTHING: Final = tuple(
    EventHint(resource, ActionType.ALL)
    for resource in (
        *_POD_RESOURCES,
        EventResource.NODE,
        EventResource.PERSISTENT_VOLUME,
        EventResource.PERSISTENT_VOLUME_CLAIM,
        EventResource.CSI_NODE,
        EventResource.CSI_DRIVER,
        EventResource.CSI_STORAGE_CAPACITY,
        EventResource.STORAGE_CLASS,
        EventResource.RESOURCE_CLAIM,
        EventResource.DEVICE_CLASS,
    )
)
"""What a plugin is taken to be interested in that does not say (UnrollWildCardResource)."""

_REJECTORS: Final = (PreEnqueuePlugin, PreFilterPlugin, FilterPlugin, ReservePlugin, PermitPlugin)
"""The extension points at which a pod can be turned down; only plugins of these are asked for events."""

Observer = Callable[[str, str, str, float], None]
"""(plugin, event label, "Queue" or "QueueSkip" or "Error", seconds)."""


def is_wildcard(event: ClusterEvent) -> bool:
    """Whether an event is about everything: it moves all pods (ClusterEventIsWildCard)."""
    return event.resource is EventResource.WILDCARD and event.action == ActionType.ALL


def matches(registered: EventHint, event: ClusterEvent) -> bool:
    """Whether a plugin that asked for `registered` hears of an event (MatchClusterEvents).

    An update that says no more than that something changed is heard only by those who asked for all updates.
    """
    wanted = registered.resource
    if wanted is EventResource.WILDCARD and registered.actions == ActionType.ALL:
        return True
    return (
        (
            wanted is EventResource.WILDCARD
            or wanted is event.resource
            or (wanted is EventResource.POD and event.resource in _POD_RESOURCES)
        )
        and bool(registered.actions & event.action)
        and event.action <= registered.actions
    )


def events_of(plugin: Plugin) -> tuple[EventHint, ...]:
    """The events that a plugin asks for; all of them if it does not say. None for one that turns no pod down."""
    if not isinstance(plugin, _REJECTORS):
        return ()
    if isinstance(plugin, EnqueueExtensions):
        return tuple(plugin.events_to_register())
    return _ANYTHING


class HintMap:
    """For each profile and event, the hints to run, found once and remembered."""

    def __init__(self, profiles: Iterable[Profile], observe: Observer) -> None:
        self._observe = observe
        self.decider = ""
        """Who decided on the last strategy: the plugin whose hint let the pod go, or kept it; "" if none was asked."""
        self._hints: dict[str, list[tuple[str, EventHint]]] = {}
        self._seeing: dict[str, frozenset[str]] = {}
        self._by_event: dict[ClusterEvent, Mapping[str, list[tuple[str, EventHint]]]] = {}
        for profile in profiles:
            self.set(profile)

    def set(self, profile: Profile) -> None:
        """Take the hints of a profile from its plugins as they are now, in place of those that it had."""
        hints = [(plugin.name, hint) for plugin in profile.plugins.values() for hint in events_of(plugin)]
        if profile.extenders:
            # They say nothing of events, so anything may help.
            hints += [(EXTENDER, hint) for hint in _ANYTHING]
        self._hints[profile.name] = hints
        self._seeing[profile.name] = frozenset(
            plugin.name
            for plugin in profile.plugins.values()
            if isinstance(plugin, EnqueueExtensions) and plugin.hints_see_labels
        )
        self._by_event.clear()

    def kind_of(self, entry: QueuedPod) -> PodShape | PodBody:
        """What a pod has in common with those that any event helps, or does not, as it does this one.

        That is its shape, but where nobody who turned it down looks at labels, all of that but these.
        """
        shape = entry.pod.shape
        if isinstance(shape, PinnedShape) or not self._seeing[entry.pod.scheduler_name].isdisjoint(entry.rejectors):
            return shape
        return shape.body

    def hints(self, event: ClusterEvent) -> Mapping[str, list[tuple[str, EventHint]]]:
        """By profile: (plugin name, hint) of those who hear of an event. Empty if nobody does."""
        found = self._by_event.get(event)
        if found is None:
            matching = {
                profile: [(name, hint) for name, hint in hints if matches(hint, event)]
                for profile, hints in self._hints.items()
            }
            found = self._by_event[event] = {profile: hints for profile, hints in matching.items() if hints}
        return found

    def strategy(self, entry: QueuedPod, event: ClusterEvent, old: object, new: object) -> Strategy:
        """What an event means for a pod (isPodWorthRequeuing)."""
        rejectors = entry.rejectors
        self.decider = ""
        if not rejectors:
            return QUEUE_AFTER_BACKOFF
        if is_wildcard(event):
            return QUEUE_AFTER_BACKOFF if _is_meant(new, entry) else SKIP
        strategy = SKIP
        for plugin, hint in self.hints(event).get(entry.pod.scheduler_name, ()):
            if plugin not in rejectors:
                continue
            if not self._says_queue(plugin, hint, entry, event, old, new):
                self.decider = self.decider or plugin
                continue
            self.decider = plugin
            if plugin in entry.pending_plugins:
                return QUEUE_IMMEDIATELY
            if not entry.pending_plugins:
                return QUEUE_AFTER_BACKOFF
            strategy = QUEUE_AFTER_BACKOFF
        return strategy

    def _says_queue(
        self, plugin: str, hint: EventHint, entry: QueuedPod, event: ClusterEvent, old: object, new: object
    ) -> bool:
        if hint.hint is None:
            return True
        start = time.perf_counter()
        try:
            answer = hint.hint(entry.pod, old, new)
            label = "Queue" if answer is QueueingHint.QUEUE else "QueueSkip"
        except Exception:
            # A hint that fails must not leave the pod stuck: it is tried again.
            log.exception("Hint of plugin %s failed for pod %s on event %s", plugin, entry.pod.key, event.label)
            answer, label = QueueingHint.QUEUE, "Error"
        self._observe(plugin, event.label, label, time.perf_counter() - start)
        return answer is QueueingHint.QUEUE


def _is_meant(new: object, entry: QueuedPod) -> bool:
    """Whether an event about everything is about this pod: with a pod it is meant for that one, with a profile for its.

    Without either it is meant for all.
    """
    if isinstance(new, OfProfile):
        return new.name == entry.pod.scheduler_name
    return new is None or (isinstance(new, PodInfo) and new.uid == entry.pod.uid)


Strategy = int
SKIP: Final[Strategy] = 0
QUEUE_AFTER_BACKOFF: Final[Strategy] = 1
QUEUE_IMMEDIATELY: Final[Strategy] = 2
