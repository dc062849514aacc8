"""What metrics hear of plugins as the runtime asks them: how often, and in some cycles how long each took.

A cycle has a recorder or none. Single plugins are timed in a tenth of the cycles only, as in kube-scheduler
(pluginMetricsSamplePercent in pkg/scheduler/schedule_one.go).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from scheduler.framework.interface import PostFilterResult
from scheduler.framework.status import SKIP, Code, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from scheduler.framework.cycle import Cycle
    from scheduler.framework.profile import Profile
    from scheduler.metrics.instruments import CounterSeries, HistogramSeries
    from scheduler.metrics.scheduler_metrics import SchedulerMetrics

P = ParamSpec("P")
T = TypeVar("T")

SAMPLED: Final = 0.1
"""The share of cycles in which each plugin is timed."""

PRE_FILTER: Final = "PreFilter"
FILTER: Final = "Filter"
POST_FILTER: Final = "PostFilter"
PRE_SCORE: Final = "PreScore"
SCORE: Final = "Score"
NORMALIZE: Final = "ScoreExtensionNormalize"
RESERVE: Final = "Reserve"
UNRESERVE: Final = "Unreserve"
PERMIT: Final = "Permit"
PRE_BIND_PRE_FLIGHT: Final = "PreBindPreFlight"
PRE_BIND: Final = "PreBind"
BIND: Final = "Bind"
POST_BIND: Final = "PostBind"


class PluginRecorder:
    """The series of one profile, each looked up once."""

    __slots__ = ("_counters", "_metrics", "_plugins", "_points", "_profile")

    def __init__(self, metrics: SchedulerMetrics, profile_name: str) -> None:
        self._metrics = metrics
        self._profile = profile_name
        self._counters: dict[tuple[str, str], CounterSeries] = {}
        self._points: dict[tuple[str, Code], HistogramSeries] = {}
        self._plugins: dict[tuple[str, str, Code], HistogramSeries] = {}

    def expect(self, profile: Profile) -> None:
        """Show the counters of all plugins of the profile from the beginning, as kube-scheduler does."""
        for point, plugins in (
            (PRE_FILTER, profile.pre_filter),
            (FILTER, profile.filter),
            (PRE_SCORE, profile.pre_score),
            (SCORE, [plugin for plugin, _ in profile.score]),
        ):
            for plugin in plugins:
                self.evaluated(point, plugin.name, 0)

    def evaluated(self, point: str, plugin: str, times: int = 1) -> None:
        """A plugin was asked; Filter and Score count once a node."""
        self.series(point, plugin).value += times

    def series(self, point: str, plugin: str) -> CounterSeries:
        """What counts how often a plugin is asked."""
        key = (point, plugin)
        series = self._counters.get(key)
        if series is None:
            series = self._counters[key] = self._metrics.plugin_evaluation.labels(plugin, point, self._profile)
        return series

    def point(self, point: str, code: Code, seconds: float) -> None:
        """All plugins of an extension point have answered."""
        key = (point, code)
        series = self._points.get(key)
        if series is None:
            family = self._metrics.framework_extension_point_duration
            series = self._points[key] = family.labels(point, str(code), self._profile)
        series.observe(seconds)

    def plugin(self, point: str, plugin: str, code: Code, seconds: float) -> None:
        """One plugin has answered; for Score, for all nodes together, for Filter, for all that got this status."""
        self.durations(point, plugin, code).observe(seconds)

    def durations(self, point: str, plugin: str, code: Code) -> HistogramSeries:
        """What counts how long a plugin takes that answers so."""
        key = (point, plugin, code)
        series = self._plugins.get(key)
        if series is None:
            series = self._plugins[key] = self._metrics.plugin_execution_duration.labels(plugin, point, str(code))
        return series


def ask(cycle: Cycle, point: str, plugin: str, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The plugin's answer, timed if this cycle is one of those."""
    recorder = cycle.recorder
    if recorder is None or not cycle.sampled:
        return call(*args, **kwargs)
    start = time.perf_counter()
    code = Code.ERROR
    try:
        answer = call(*args, **kwargs)
        code = code_of(answer)
    finally:
        recorder.plugin(point, plugin, code, time.perf_counter() - start)
    return answer


def ask_async(
    cycle: Cycle, point: str, plugin: str, call: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
) -> Coroutine[Any, Any, T]:
    """As `ask`, for a plugin that takes its time."""
    recorder = cycle.recorder
    if recorder is None or not cycle.sampled:
        return call(*args, **kwargs)
    return _timed(recorder, point, plugin, call, *args, **kwargs)


async def _timed(
    recorder: PluginRecorder,
    point: str,
    plugin: str,
    call: Callable[P, Coroutine[Any, Any, T]],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    start = time.perf_counter()
    code = Code.ERROR
    try:
        answer = await call(*args, **kwargs)
        code = code_of(answer)
    finally:
        recorder.plugin(point, plugin, code, time.perf_counter() - start)
    return answer


def skips(answer: object) -> bool:
    """Whether a plugin answered that it has nothing to say."""
    return answer is SKIP or (answer is not None and code_of(answer) is Code.SKIP)


def code_of(answer: object) -> Code:
    """The code in whatever a plugin answers; vectors and anything else that is no status stand for success."""
    if isinstance(answer, tuple) and answer:
        answer = answer[0]
    if isinstance(answer, PostFilterResult):
        answer = answer.status
    return answer.code if isinstance(answer, Status) else Code.SUCCESS
