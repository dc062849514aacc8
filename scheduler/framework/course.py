"""The usual course of a decision: what is left to be done for a pod whose like has just been decided on.

Deciding in general asks each plugin at each extension point what it has to say, and each cache whether it is up to
date. For the pods of one template the answers are the same again and again. A course is learned from one decision, and
goes straight through what may have changed since: answers that are not settled, rows of nodes that changed, the sum of
the scores there. Whatever comes out otherwise than it did is left to deciding in general.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from scheduler.framework.filtering import Selection, active_filters, in_turn, select
from scheduler.framework.interface import FilterPlugin, ScorePlugin
from scheduler.framework.recorder import FILTER, PRE_FILTER, PRE_SCORE, SCORE, code_of
from scheduler.framework.scoring import normalized_total, own_sum, plan_of, sum_up
from scheduler.framework.standing import Leaders
from scheduler.framework.status import Code

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from scheduler.cache.nodes import NodeView
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.diagnosis import Codes, Rejections
    from scheduler.framework.pre_filter import PreFilterOutcome
    from scheduler.framework.profile import Profile
    from scheduler.framework.recorder import PluginRecorder
    from scheduler.framework.row_cache import RowCache
    from scheduler.framework.settled import Step
    from scheduler.framework.shape_cache import ShapeCache
    from scheduler.framework.standing import Standing
    from scheduler.metrics.instruments import CounterSeries

Int64s = npt.NDArray[np.int64]

_CONSTANT: Final = (FilterPlugin.epoch, ScorePlugin.epoch)
"""The epochs of plugins that have none of their own."""


class _Row(NamedTuple):
    """A plugin that is asked about many rows, by `ask`, or about one, by `ask_at`; and what is kept of its answers."""

    plugin: FilterPlugin | ScorePlugin
    cache: RowCache
    ask: Callable[[Cycle, NodeView], npt.NDArray[Any] | None]
    ask_at: Callable[[Cycle, int], int | None]

    def refresh(self, cycle: Cycle, epoch: Hashable) -> None:
        """Bring the cache up to date."""
        self.cache.refresh(cycle.state.nodes, partial(self.ask, cycle), epoch, partial(self.ask_at, cycle))


class _Together:
    """Row caches that are brought up to date together: the log of changes is looked at once for all of them."""

    __slots__ = ("_by_mask", "_moody", "_position", "caches")

    def __init__(self, parts: list[_Row], cycle: Cycle) -> None:
        self.caches = [part.cache for part in parts]
        by_mask: dict[int, list[_Row]] = {}
        for part in parts:
            by_mask.setdefault(part.cache.mask, []).append(part)
        self._by_mask = list(by_mask.items())
        self._moody = [
            part for part in parts if type(part.plugin).epoch not in _CONSTANT and not part.plugin.epoch_settled(cycle)
        ]
        self._position = -1

    def catch_up(self, cycle: Cycle) -> list[int]:
        """Bring all of them up to date; their versions."""
        for part in self._moody:
            epoch = part.plugin.epoch(cycle)
            if epoch != part.cache.epoch:
                part.refresh(cycle, epoch)
        log = cycle.state.nodes.log
        end = log.end
        if end != self._position:
            kinds = log.kinds(self._position)
            for mask, parts in self._by_mask:
                if kinds & mask:
                    for part in parts:
                        part.refresh(cycle, part.cache.epoch)
                else:
                    for part in parts:
                        part.cache.position = end
            self._position = end
        return [cache.version for cache in self.caches]


class _Answer(NamedTuple):
    """What is said at PreFilter or PreScore: asked of a plugin, or, where `ask` is None, `left` for good.

    `left` goes into `Cycle.data`; `skips` says whether the plugin has answered Skip.
    """

    ask: Callable[..., Any] | None
    left: dict[str, Any]
    skips: bool


class Course:
    """How the pods of a shape are decided on by a profile, as long as nothing is out of the ordinary.

    That is: all nodes are looked at, and none before the others; no pods are nominated; there are no extenders; single
    plugins are not timed.

    - `outcome`: what the PreFilter plugins say together; `filters` have a say.
    - `skipped`: those that skip at PreScore.
    """

    __slots__ = (
        "_cache",
        "_counted",
        "_filter_rows",
        "_leaders",
        "_of_filters",
        "_of_scores",
        "_parts",
        "_plan",
        "_pre_filter",
        "_pre_score",
        "_profile",
        "_recorder",
        "_row_wise",
        "_score_rows",
        "_selection",
        "_verdicts",
        "_versions",
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
        self._pre_filter = _answers(cache.memo[PRE_FILTER], outcome.skipped, lambda plugin: plugin.pre_filter)
        self._pre_score = _answers(cache.memo[PRE_SCORE], skipped, lambda plugin: plugin.pre_score)
        self._parts: list[tuple[FilterPlugin, RowCache | None]] = [
            (plugin, None if plugin.per_cycle else cache.filter_cache(plugin.name)) for plugin in self.filters
        ]
        self._filter_rows = _Together(
            [_Row(plugin, rows, plugin.filter, plugin.code_at) for plugin, rows in self._parts if rows is not None],
            cycle,
        )
        self._row_wise = all(rows is not None for _, rows in self._parts)
        self._versions: list[int] = []
        self._verdicts: list[tuple[FilterPlugin, Codes]] = []
        self._selection: Selection | None = None
        self._leaders = Leaders(cache)
        self._plan = plan_of(profile, cycle, skipped)
        scored = [(plugin, cache.score_cache(plugin.name)) for plugin, _ in (*self._plan.final, *self._plan.by_row)]
        self._score_rows = _Together(
            [_Row(plugin, rows, plugin.score, plugin.score_at) for plugin, rows in scored if rows is not None], cycle
        )
        self._recorder: PluginRecorder | None = None
        self._counted: list[CounterSeries] = []
        self._of_filters: list[CounterSeries] = []
        self._of_scores: list[CounterSeries] = []

    @classmethod
    def learn(
        cls, profile: Profile, cycle: Cycle, cache: ShapeCache, outcome: PreFilterOutcome, skipped: frozenset[str]
    ) -> None:
        """Remember with the shape the course that a decision has just taken, if the pods to come may take the same."""
        if cache.memo.get(PRE_FILTER) is None or cache.memo.get(PRE_SCORE) is None:
            return
        if outcome.status is not None or outcome.names is not None or outcome.restricted_by:
            return
        if any(plugin.feasible_only or plugin.can_fail(cycle) for plugin in active_filters(profile, outcome.skipped)):
            return
        cache.memo[cls] = cls(profile, cycle, cache, outcome, skipped)

    def let_in(self, cycle: Cycle) -> bool:
        """PreFilter; False if the plugins say something else than the last time."""
        return _say_the_same(self._pre_filter, cycle)

    def select(self, cycle: Cycle, rejections: Rejections) -> Selection:
        """Filter: the nodes that fit."""
        rejections.evaluated = rejections.live
        versions = self._filter_rows.catch_up(cycle)
        versions.append(cycle.state.nodes.version)
        if not self._row_wise:
            for plugin, rows in self._parts:
                codes = plugin.filter(cycle, cycle.nodes) if rows is None else rows.vector
                if codes is not None:
                    rejections.verdicts.append((plugin, codes))
            asked, left = in_turn(cycle.filters, rejections)
            return Selection([], np.flatnonzero(left), asked)
        if self._selection is None or versions != self._versions:
            self._verdicts = [
                (plugin, rows.vector) for plugin, rows in self._parts if rows is not None and rows.vector is not None
            ]
            rejections.verdicts += self._verdicts
            self._selection = select(cycle, cycle.filters, rejections, self._cache)
            self._versions = versions
        else:
            rejections.verdicts += self._verdicts
        return self._selection

    def prepare(self, cycle: Cycle, view: NodeView) -> bool:
        """PreScore of the nodes that fit; False if the plugins say something else than the last time."""
        return _say_the_same(self._pre_score, cycle, view)

    def score(self, cycle: Cycle, selection: Selection, view: NodeView) -> Standing | Int64s:
        """Score and NormalizeScore: the totals of the nodes that fit, or how they stand where that is known.

        Raises PluginError if a plugin fails.
        """
        plan = self._plan
        versions = self._score_rows.catch_up(cycle)
        first = len(plan.final)
        static = self._cache.sum_of(plan.final, self._score_rows.caches[:first], cycle)
        normalized = normalized_total(plan, self._profile, cycle, view, versions[first:])
        if self._row_wise and static is not None and not plan.others and not isinstance(normalized, np.ndarray):
            return self._leaders.standing(selection, static, normalized or 0, view)
        return sum_up(plan.others, self._profile, cycle, view, own_sum(static, normalized, view))

    def count(self, recorder: PluginRecorder, selection: Selection) -> None:
        """Tell how often each plugin was asked."""
        if recorder is not self._recorder:
            self._expect(recorder)
        for series in self._counted:
            series.value += 1
        for series, times in zip(self._of_filters, selection.asked, strict=True):
            series.value += times
        feasible = len(selection.feasible)
        for series in self._of_scores:
            series.value += feasible

    def _expect(self, recorder: PluginRecorder) -> None:
        def series(point: str, names: Iterable[str]) -> list[CounterSeries]:
            return [recorder.series(point, name) for name in names]

        profile = self._profile
        pre_filters = [plugin.name for plugin in profile.pre_filter if plugin.name not in self.outcome.skipped]
        pre_scores = [plugin.name for plugin in profile.pre_score if plugin.name not in self.skipped]
        self._recorder = recorder
        self._counted = series(PRE_FILTER, pre_filters) + series(PRE_SCORE, pre_scores)
        self._of_filters = series(FILTER, [plugin.name for plugin, _ in self._parts])
        self._of_scores = series(SCORE, [plugin.name for plugin, _ in self._plan.active])


def _answers(
    steps: list[Step[Any]], skipped: frozenset[str], asking: Callable[[Any], Callable[..., Any]]
) -> list[_Answer]:
    return [
        _Answer(None, step.left, False)
        if step.plugin is None
        else _Answer(asking(step.plugin), {}, step.plugin.name in skipped)
        for step in steps
        if step.plugin is not None or step.left
    ]


def _say_the_same(answers: list[_Answer], cycle: Cycle, *args: NodeView) -> bool:
    for ask, left, skips in answers:
        if ask is None:
            cycle.data.update(left)
            continue
        answer = ask(cycle, *args)
        if skips != (answer is not None) or (skips and code_of(answer) is not Code.SKIP):
            return False
    return True
