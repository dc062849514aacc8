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
            _let_go(entry)  # the profile may have had some before
            return
        start = time.perf_counter()
        sampled = random.random() < _SAMPLED
        gates = profile.pre_enqueue
        if entry.gating_plugin and len(gates) > 1:
            gates = sorted(gates, key=lambda plugin: plugin.name != entry.gating_plugin)
        for plugin in gates:
            status = self._ask(plugin, entry, sampled=sampled)
            if status is not None:
                self._hold_back(entry, plugin, status)
                break
        else:
            _let_go(entry)
        self._observe(profile, time.perf_counter() - start)

    def ask_again(self, entries: list[QueuedPod]) -> tuple[list[QueuedPod], list[QueuedPod]]:
        """Ask the plugin that holds back all of these pods: those that it still does, and the others.

        What `ask` notes of a pod stays true of the former; the latter are to be asked for by `ask`. Many may wait for
        preemptions to end, each of which wakes all of them.
        """
        name, profile = entries[0].gating_plugin, self._profiles[entries[0].pod.scheduler_name]
        plugin = next((plugin for plugin in profile.pre_enqueue if plugin.name == name), None)
        if plugin is None:
            return [], entries
        start = time.perf_counter()
        sampled = random.random() < _SAMPLED
        held: list[QueuedPod] = []
        let_go: list[QueuedPod] = []
        status: Status | None = None
        for entry, answer in zip(entries, plugin.pre_enqueue_all([entry.pod for entry in entries]), strict=True):
            if answer is None:
                let_go.append(entry)
                continue
            if answer is not status:
                status, message = answer, answer.message
            if entry.last_message != message:
                self._hold_back(entry, plugin, answer)
            held.append(entry)
        if held and status is not None:
            seconds = (time.perf_counter() - start) / len(entries)
            if sampled:
                series = self._metrics.plugin_execution_duration.labels(name, _POINT, str(status.code))
                series.observe(seconds, len(held))
            self._observe(profile, seconds, len(held))
        return held, let_go

    def _observe(self, profile: Profile, seconds: float, times: int = 1) -> None:
        """Runs of all plugins; kube-scheduler reports each as a success, whatever came of it."""
        series = self._durations.get(profile.name)
        if series is None:
            family = self._metrics.framework_extension_point_duration
            series = self._durations[profile.name] = family.labels(_POINT, str(Code.SUCCESS), profile.name)
        series.observe(seconds, times)

    def _ask(self, plugin: PreEnqueuePlugin, entry: QueuedPod, *, sampled: bool) -> Status | None:
        if not sampled:
            return plugin.pre_enqueue(entry.pod)
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


def _let_go(entry: QueuedPod) -> None:
    entry.gating_plugin = ""
    entry.gating_events = ()
