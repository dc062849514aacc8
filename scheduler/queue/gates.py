"""Asking the PreEnqueue plugins whether a pod may be queued (scheduling_queue.go, runPreEnqueuePlugins)."""

from __future__ import annotations

import logging
import random
import time
from typing import TYPE_CHECKING, Final

from scheduler.framework.status import Code
from scheduler.queue.hints import events_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.framework.events import EventHint
    from scheduler.framework.interface import PreEnqueuePlugin
    from scheduler.framework.profile import Profile
    from scheduler.framework.status import Status
    from scheduler.metrics.instruments import HistogramSeries
    from scheduler.metrics.scheduler_metrics import SchedulerMetrics
    from scheduler.queue.entry import QueuedPod
    from scheduler.queue.parked import ParkedGroup

log = logging.getLogger(__name__)

_POINT: Final = "PreEnqueue"
_SAMPLED: Final = 0.1
"""Share of the calls whose plugins are timed."""


class Gates:
    """The PreEnqueue plugins of all profiles."""

    def __init__(self, profiles: Mapping[str, Profile], metrics: SchedulerMetrics) -> None:
        self._profiles = profiles
        self._metrics = metrics
        self._durations: dict[str, HistogramSeries] = {}
        self._events: dict[PreEnqueuePlugin, tuple[EventHint, ...]] = {}

    def ask(self, entry: QueuedPod) -> None:
        """Let the plugins judge a pod, the one first that held it back before; `entry.gating_plugin` tells the outcome.

        Whoever holds the pod back joins `entry.unschedulable_plugins`, so that its events reach the pod.
        """
        profile = self._profiles[entry.pod.scheduler_name]
        if not profile.pre_enqueue:
            _let_in(entry)  # the profile may have had some before
            return
        start = time.perf_counter()
        sampled = random.random() < _SAMPLED
        gates = profile.pre_enqueue
        if entry.gating_plugin and len(gates) > 1:
            gates = sorted(gates, key=lambda plugin: plugin.name != entry.gating_plugin)
        for plugin in gates:
            status = self._timed(plugin, entry) if sampled else plugin.pre_enqueue(entry.pod)
            if status is not None:
                self._hold_back(entry, plugin, status)
                break
        else:
            _let_in(entry)
        self._observe(profile, time.perf_counter() - start)

    def let_go(self, members: ParkedGroup) -> list[QueuedPod] | None:
        """Of pods that one plugin holds back, those for which it is to be asked anew; None if that is for all of them.

        What `ask` notes of a pod stays true of the others. Many may wait for preemptions to end, and each end is the
        occasion to ask for all of them, so this takes no step of its own for any that stays.
        """
        first = next(iter(members.values()))
        name, profile = first.gating_plugin, self._profiles[first.pod.scheduler_name]
        plugin = next((plugin for plugin in profile.pre_enqueue if plugin.name == name), None)
        if plugin is None:
            return None
        start = time.perf_counter()
        uids = plugin.let_go(members.keys())
        if uids is None:
            return None
        held = len(members) - len(uids)
        if held:
            seconds = (time.perf_counter() - start) / len(members)
            if random.random() < _SAMPLED:
                code = str(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
                series = self._metrics.plugin_execution_duration.labels(name, _POINT, code)
                series.observe(seconds, held)
            self._observe(profile, seconds, held)
        if len(uids) > 1:  # then they go in the order in which they came
            return [entry for uid, entry in members.items() if uid in uids]
        return [members[uid] for uid in uids]

    def _observe(self, profile: Profile, seconds: float, times: int = 1) -> None:
        """Runs of all plugins; kube-scheduler reports each as a success, whatever came of it."""
        series = self._durations.get(profile.name)
        if series is None:
            family = self._metrics.framework_extension_point_duration
            series = self._durations[profile.name] = family.labels(_POINT, str(Code.SUCCESS), profile.name)
        series.observe(seconds, times)

    def _timed(self, plugin: PreEnqueuePlugin, entry: QueuedPod) -> Status | None:
        start = time.perf_counter()
        status = plugin.pre_enqueue(entry.pod)
        code = Code.SUCCESS if status is None else status.code
        series = self._metrics.plugin_execution_duration.labels(plugin.name, _POINT, str(code))
        series.observe(time.perf_counter() - start)
        return status

    def _hold_back(self, entry: QueuedPod, plugin: PreEnqueuePlugin, status: Status) -> None:
        entry.gating_plugin = plugin.name
        events = self._events.get(plugin)
        if events is None:
            events = self._events[plugin] = events_of(plugin)
        entry.gating_events = events
        entry.unschedulable_plugins |= {plugin.name}
        entry.last_message = status.message
        if status.code is Code.ERROR:
            log.error("Plugin %s failed to judge pod %s: %s", plugin.name, entry.pod.key, status.message)


def _let_in(entry: QueuedPod) -> None:
    entry.gating_plugin = ""
    entry.gating_events = ()
