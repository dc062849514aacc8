"""The usual course of a decision: what is left to be done for a pod whose like has just been decided on.

Deciding in general asks each plugin at each extension point what it has to say, and each cache whether it is up to
date. For the pods of one template the answers are the same again and again. A course is learned from one decision, and
goes straight through what may have changed since: answers that are not settled, rows of nodes that changed, the sum of
the scores there. Whatever comes out otherwise than it did is left to deciding in general.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scheduler.framework.filter_timing import nodes_by_status
from scheduler.framework.filtering import Selection, active_filters
from scheduler.framework.kin import Kin
from scheduler.framework.recorder import FILTER, NORMALIZE, PRE_FILTER, PRE_SCORE, SCORE, code_of
from scheduler.framework.recorder import skips as has_skipped
from scheduler.framework.scoring import plan_of
from scheduler.framework.status import Code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scheduler.cache.nodes import NodeView
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.diagnosis import Rejections
    from scheduler.framework.pre_filter import PreFilterOutcome
    from scheduler.framework.profile import Profile
    from scheduler.framework.recorder import PluginRecorder
    from scheduler.framework.settled import Step
    from scheduler.framework.shape_cache import ShapeCache
    from scheduler.framework.standing import Standing
    from scheduler.metrics.instruments import CounterSeries, HistogramSeries

Int64s = npt.NDArray[np.int64]


class _Answer(NamedTuple):
    """What is said at PreFilter or PreScore: asked of a plugin, or, where `ask` is None, `left` for good.

    `left` goes into `Cycle.data`; `skips` says whether the plugin, which is named then, has answered Skip.
    """

    ask: Callable[..., Any] | None
    left: dict[str, Any]
    name: str = ""
    skips: bool = False


_Note = tuple[str, str, Code, float]
"""Extension point, plugin, code and seconds."""


class Course:
    """How the pods of a shape are decided on by a profile, as long as nothing is out of the ordinary.

    That is: no node is looked at before the others; no pods are nominated; there are no extenders.

    In a cycle in which plugins are timed, what need not be asked has taken no time.

    - `outcome`: what the PreFilter plugins say together; `filters` have a say.
    - `skipped`: those that skip at PreScore.
    """

    __slots__ = (
        "_cache",
        "_idle",
        "_kin",
        "_notes",
        "_of_filters",
        "_of_pre_filters",
        "_of_pre_scores",
        "_of_scores",
        "_pre_filter",
        "_pre_score",
        "_profile",
        "_recorder",
        "filters",
        "outcome",
        "skipped",
    )

    def __init__(
        self, profile: Profile, cycle: Cycle, cache: ShapeCache, outcome: PreFilterOutcome, skipped: frozenset[str]
    ) -> None:
        self._profile = profile
        self._cache = cache
        self.outcome = outcome
        self.filters = active_filters(profile, outcome.skipped)
        self.skipped = skipped
        self._pre_filter = _answers(cache.answers[PRE_FILTER], outcome.skipped, lambda plugin: plugin.pre_filter)
        self._pre_score = _answers(cache.answers[PRE_SCORE], skipped, lambda plugin: plugin.pre_score)
        self._kin = Kin.of(cycle, cache, self.filters, plan_of(profile, cycle, skipped))
        self._notes: list[_Note] = []
        self._recorder: PluginRecorder | None = None
        self._of_pre_filters: list[CounterSeries] = []
        self._of_pre_scores: list[CounterSeries] = []
        self._of_filters: list[CounterSeries] = []
        self._of_scores: list[CounterSeries] = []
        self._idle: dict[str, list[HistogramSeries]] = {}

    @classmethod
    def learn(
        cls, profile: Profile, cycle: Cycle, cache: ShapeCache, outcome: PreFilterOutcome, skipped: frozenset[str]
    ) -> None:
        """Remember with the shape the course that a decision has just taken, if the pods to come may take the same."""
        if cache.answers.get(PRE_FILTER) is None or cache.answers.get(PRE_SCORE) is None:
            return
        if outcome.status is not None or outcome.names is not None or outcome.restricted_by:
            return
        if any(plugin.feasible_only or plugin.can_fail(cycle) for plugin in active_filters(profile, outcome.skipped)):
            return
        cache.memo[cls] = cls(profile, cycle, cache, outcome, skipped)

    def let_in(self, cycle: Cycle) -> bool:
        """PreFilter; False if the plugins say something else than the last time."""
        self._notes = []
        return self._say_the_same(PRE_FILTER, self._pre_filter, cycle)

    def select(self, cycle: Cycle, rejections: Rejections) -> Selection | None:
        """Filter: of all nodes those that fit; None if a filter may have failed on some node."""
        rejections.evaluated = rejections.live
        spent: dict[str, float] = {}
        selection = self._kin.select(cycle, self._cache, rejections, spent)
        if any(plugin.can_fail(cycle) for plugin, _ in rejections.verdicts):
            return None
        if cycle.sampled:
            self._time_filters(rejections, selection, spent)
        return selection

    def prepare(self, cycle: Cycle, view: NodeView) -> bool:
        """PreScore of the nodes that fit; False if the plugins say something else than the last time."""
        return self._say_the_same(PRE_SCORE, self._pre_score, cycle, view)

    def score(self, cycle: Cycle, selection: Selection, view: NodeView) -> Standing | Int64s:
        """Score and NormalizeScore: the totals of the nodes that fit, or how they stand where that is known.

        Raises PluginError if a plugin fails.
        """
        plan = self._kin.plan
        spent: dict[str, float] = {}
        before = self._cache.memo.get(plan)
        scores = self._kin.score(self._profile, cycle, selection, view, spent)
        if cycle.sampled:
            self._time_scores(spent, normalized_anew=self._cache.memo.get(plan) is not before)
        return scores

    def count(self, recorder: PluginRecorder, selection: Selection, *, sampled: bool) -> None:
        """Tell how often each plugin was asked, and how long it took if this cycle is one of those."""
        if recorder is not self._recorder:
            self._expect(recorder)
        feasible = len(selection.feasible)
        for series in self._of_pre_filters:
            series.value += 1
        for series, times in zip(self._of_filters, selection.asked, strict=True):
            series.value += times
        scored = feasible > 1  # a single node needs no score
        if scored:
            for series in self._of_pre_scores:
                series.value += 1
            for series in self._of_scores:
                series.value += feasible
        if sampled:
            for answered in (PRE_FILTER, PRE_SCORE) if scored else (PRE_FILTER,):
                for durations in self._idle_at(answered, recorder):
                    durations.observe(0.0)
            for point, plugin, code, seconds in self._notes:
                if scored or point != PRE_SCORE:
                    recorder.plugin(point, plugin, code, seconds)

    def _expect(self, recorder: PluginRecorder) -> None:
        def series(point: str, names: Iterable[str]) -> list[CounterSeries]:
            return [recorder.series(point, name) for name in names]

        profile = self._profile
        pre_filters = [plugin.name for plugin in profile.pre_filter if plugin.name not in self.outcome.skipped]
        pre_scores = [plugin.name for plugin in profile.pre_score if plugin.name not in self.skipped]
        self._recorder = recorder
        self._of_pre_filters = series(PRE_FILTER, pre_filters)
        self._of_pre_scores = series(PRE_SCORE, pre_scores)
        self._of_filters = series(FILTER, [plugin.name for plugin in self.filters])
        self._of_scores = series(SCORE, [plugin.name for plugin, _ in self._kin.plan.active])
        self._idle = {}

    def _idle_at(self, point: str, recorder: PluginRecorder) -> list[HistogramSeries]:
        """Where it is told that the plugins which have settled took no time; made when there is something to tell."""
        found = self._idle.get(point)
        if found is None:
            found = self._idle[point] = [
                recorder.durations(point, name, code)
                for step in self._cache.answers[point]
                for code, names in ((Code.SKIP, step.skipped), (Code.SUCCESS, step.counted))
                for name in names
            ]
        return found

    def _say_the_same(self, point: str, answers: list[_Answer], cycle: Cycle, *args: NodeView) -> bool:
        for ask, left, name, skips in answers:
            if ask is None:
                cycle.data.update(left)
                continue
            start = time.perf_counter() if cycle.sampled else 0.0
            answer = ask(cycle, *args)
            if not (has_skipped(answer) if skips else answer is None):
                return False
            if cycle.sampled:
                self._notes.append((point, name, code_of(answer), time.perf_counter() - start))
        return True

    def _time_filters(self, rejections: Rejections, selection: Selection, spent: dict[str, float]) -> None:
        codes = dict(rejections.verdicts)
        passed = [*selection.asked, len(selection.feasible)][1:]
        for plugin, asked, left in zip(self.filters, selection.asked, passed, strict=True):
            nodes = {Code.SUCCESS: asked}
            if left != asked:
                nodes = nodes_by_status(rejections, plugin, codes[plugin])
            for code, number in nodes.items() if asked else ():
                self._notes.append((FILTER, plugin.name, code, spent.get(plugin.name, 0.0) * number / asked))

    def _time_scores(self, spent: dict[str, float], *, normalized_anew: bool) -> None:
        plan = self._kin.plan
        for plugin, _ in (*plan.final, *plan.by_row):
            self._notes.append((SCORE, plugin.name, Code.SUCCESS, spent.get(plugin.name, 0.0)))
        if not normalized_anew:  # else each was timed as it was asked
            self._notes += [(NORMALIZE, plugin.name, Code.SUCCESS, 0.0) for plugin, _ in plan.by_row]


def _answers(
    steps: list[Step[Any]], skipped: frozenset[str], asking: Callable[[Any], Callable[..., Any]]
) -> list[_Answer]:
    return [
        _Answer(None, step.left)
        if step.plugin is None
        else _Answer(asking(step.plugin), {}, step.plugin.name, step.plugin.name in skipped)
        for step in steps
        if step.plugin is not None or step.left
    ]
