"""Scoring the feasible nodes: PreScore, Score, NormalizeScore, weights (RunScorePlugins)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from scheduler.cache.bare import BareNodeView
from scheduler.cache.nodes import NodeView
from scheduler.framework.arithmetic import bounds
from scheduler.framework.recorder import NORMALIZE, PRE_SCORE, SCORE, ask, skips
from scheduler.framework.settled import Learning, Step, known_steps
from scheduler.framework.status import PluginError

if TYPE_CHECKING:
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import PreScorePlugin, ScorePlugin
    from scheduler.framework.profile import Profile
    from scheduler.framework.shape_cache import ShapeCache
    from scheduler.framework.status import Status

Int64s = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]

MAX_NODE_SCORE: Final = 100
MIN_NODE_SCORE: Final = 0


class PluginScores:
    """One plugin's scores, int64 in the order of `Cycle.feasible`: as it gave them, and normalized and weighted.

    What is `normalized` times the `weight` is `weighted`, and that is added up.
    """

    __slots__ = ("name", "raw", "weight", "weighted")

    def __init__(self, name: str, raw: Int64s, weighted: Int64s, weight: int = 1) -> None:
        self.name = name
        self.raw = raw
        self.weighted = weighted
        self.weight = weight

    @property
    def normalized(self) -> Int64s:
        """The scores before they were weighted."""
        return self.weighted if self.weight == 1 else self.weighted // self.weight


def run_pre_scores(profile: Profile, cycle: Cycle, cache: ShapeCache | None = None) -> frozenset[str]:
    """Ask the PreScore plugins, but for those whose answer for the shape the cache has; the names of those that skip.

    Raises PluginError if one fails.
    """
    view = view_of(cycle)
    known: list[Step[PreScorePlugin]] | None = known_steps(cache, cycle, PRE_SCORE)
    if known is None:
        return _ask_all(profile, cycle, view, cache)
    skipped: tuple[str, ...] = ()
    for step in known:
        plugin = step.plugin
        if plugin is None:
            skipped += step.hand_on(cycle, PRE_SCORE)
        elif not _takes_part(cycle, plugin, plugin.pre_score(cycle, view)):
            skipped += (plugin.name,)
    return _names(skipped)


def _ask_all(profile: Profile, cycle: Cycle, view: NodeView, cache: ShapeCache | None) -> frozenset[str]:
    """Ask all plugins, and remember which of them need not be asked again."""
    learning: Learning[PreScorePlugin] = Learning(cache, cycle, PRE_SCORE)
    skipped: tuple[str, ...] = ()
    for plugin in profile.pre_score:
        answer = ask(cycle, PRE_SCORE, plugin.name, plugin.pre_score, cycle, view)
        takes_part = _takes_part(cycle, plugin, answer)
        if not takes_part:
            skipped += (plugin.name,)
        learning.note(plugin, plugin.name, skipped=not takes_part, settled=plugin.pre_score_settled)
    learning.keep()
    return _names(skipped)


def _takes_part(cycle: Cycle, plugin: PreScorePlugin, answer: Status | None) -> bool:
    """Whether a plugin has not answered Skip. Raises PluginError if it has failed."""
    if skips(answer):
        return False
    if cycle.recorder is not None:
        cycle.recorder.evaluated(PRE_SCORE, plugin.name)
    if answer is not None:
        raise PluginError(f'running PreScore plugin "{plugin.name}": {answer.message}')
    return True


@lru_cache(maxsize=256)
def _names(skipped: tuple[str, ...]) -> frozenset[str]:
    """The same set each time: there are few, and they are keys of what is kept."""
    return frozenset(skipped)


class Plan:
    """How pods are scored that certain plugins skip.

    - `active`: (plugin, weight) of those that score, in order.
    - `final`: those whose raw scores are what is added up; their sum is kept by row.
    - `by_row`: those whose normalized scores follow from the raw ones alone, which are kept by row.
    - `others` are asked in each cycle.
    """

    __slots__ = ("active", "by_row", "final", "others")

    def __init__(self, profile: Profile, cycle: Cycle, skipped: frozenset[str]) -> None:
        self.active = [pair for pair in profile.score if pair[0].name not in skipped]
        self.final = [pair for pair in self.active if _is_final(pair[0])]
        self.by_row = [pair for pair in self.active if _is_normalized_by_row(pair[0], cycle)]
        known = {plugin.name for plugin, _ in (*self.final, *self.by_row)}
        self.others = [pair for pair in self.active if pair[0].name not in known]


class _Normalized(NamedTuple):
    """The sum of the weighted scores of the plugins of `by_row`.

    It holds for as long as the same nodes are feasible, whichever they are for None, and all raw scores are of these
    versions.
    """

    feasible: Rows | None
    versions: list[int]
    total: Int64s | int


def plan_of(profile: Profile, cycle: Cycle, skipped: frozenset[str]) -> Plan:
    """The plan of pods that are skipped by these plugins at PreScore."""
    key = (Plan, skipped)
    plan: Plan | None = profile.caches.memo.get(key)
    if plan is None:
        plan = profile.caches.memo[key] = Plan(profile, cycle, skipped)
    return plan


def total_scores(profile: Profile, cycle: Cycle, skipped: frozenset[str]) -> Int64s:
    """The total of each feasible node, int64 in the order of `cycle.feasible`. Raises PluginError if a plugin fails."""
    view = view_of(cycle)
    cache = profile.caches.of(cycle.shape)
    plan = plan_of(profile, cycle, skipped)
    if cycle.recorder is not None:
        count = len(view)
        for plugin, _ in plan.active:
            cycle.recorder.evaluated(SCORE, plugin.name, count)
    if cycle.bare:
        return sum_up(plan.active, profile, cycle, view, np.zeros(len(view), np.int64))
    if cycle.sampled:
        # Each on its own, to be timed; their sum has nothing left to compute.
        for plugin, _ in plan.final:
            ask(cycle, SCORE, plugin.name, cache.raw_scores, plugin, cycle)
    static = cache.static_total(plan.final, cycle)
    normalized = None
    if not cycle.sampled:
        versions = [cache.scores_version(plugin, cycle) for plugin, _ in plan.by_row]
        normalized = normalized_total(plan, profile, cycle, view, versions)
    total = own_sum(static, normalized, view)
    pairs = [pair for pair in plan.active if pair not in plan.final] if cycle.sampled else plan.others
    return sum_up(pairs, profile, cycle, view, total)


def own_sum(static: Int64s | None, normalized: Int64s | int | None, view: NodeView) -> Int64s:
    """What is known by now of each node of the view, in an array of its own."""
    if static is None:
        return np.zeros(len(view), np.int64) if normalized is None else np.zeros(len(view), np.int64) + normalized
    if normalized is not None:
        return static[view.rows] + normalized
    return static[view.rows].copy() if isinstance(view.rows, slice) else static[view.rows]


def sum_up(
    pairs: list[tuple[ScorePlugin, int]], profile: Profile, cycle: Cycle, view: NodeView, total: Int64s
) -> Int64s:
    """Add the weighted scores of these plugins to `total`, asked one by one."""
    for plugin, weight in pairs:
        raw = ask(cycle, SCORE, plugin.name, _raw, profile, plugin, cycle, view)
        weighted = _weighted(plugin, weight, raw, cycle)
        total += weighted
        if cycle.trace is not None and (plugin.per_cycle or cycle.bare):
            cycle.trace.scores.append((plugin, weight, raw, weighted))
    return total


def normalized_total(
    plan: Plan, profile: Profile, cycle: Cycle, view: NodeView, versions: list[int]
) -> Int64s | int | None:
    """The weighted scores of the plugins that normalize by row, int64 as `view`, read only; a number if all are equal.

    None if there are no such plugins. `versions` are those of their raw scores, which are up to date.
    """
    if not plan.by_row:
        return None
    cache = profile.caches.of(cycle.shape)
    known: _Normalized | None = cache.memo.get(plan)
    if (
        known is None
        or known.versions != versions
        or (known.feasible is not None and known.feasible is not cycle.feasible)
    ):
        known = _uniform(plan, cycle, cache, versions)
        if known is None:
            total = np.zeros(len(view), np.int64)
            for plugin, weight in plan.by_row:
                total += _weighted(plugin, weight, _raw(profile, plugin, cycle, view), cycle)
            total.flags.writeable = False
            known = _Normalized(cycle.feasible, versions, total)
        cache.memo[plan] = known
    return known.total


def _uniform(plan: Plan, cycle: Cycle, cache: ShapeCache, versions: list[int]) -> _Normalized | None:
    """The sum where each plugin gives all nodes the same, as most do for most pods."""
    total = 0
    for plugin, weight in plan.by_row:
        rows = cache.score_cache(plugin.name)
        value = None if rows is None or not plugin.by_highest else rows.uniform()
        if value is None:
            return None
        total += int(_weighted(plugin, weight, np.array([value], np.int64), cycle)[0])
    return _Normalized(None, versions, total)


def detailed_scores(profile: Profile, cycle: Cycle, skipped: frozenset[str]) -> list[PluginScores]:
    """What `total_scores` adds up, plugin by plugin."""
    view = view_of(cycle)
    scores = []
    for plugin, weight in profile.score:
        if plugin.name not in skipped:
            raw = _raw(profile, plugin, cycle, view)
            scores.append(PluginScores(plugin.name, raw.copy(), _weighted(plugin, weight, raw, cycle), weight))
    return scores


def _is_final(plugin: ScorePlugin) -> bool:
    """Whether raw scores are what is added up: then the sum is kept as well."""
    return plugin.bounded and not plugin.normalizes and not plugin.per_cycle


def _is_normalized_by_row(plugin: ScorePlugin, cycle: Cycle) -> bool:
    return plugin.normalizes and not plugin.per_cycle and plugin.normalizer(cycle) is not None


def view_of(cycle: Cycle) -> NodeView:
    """The feasible nodes; all rows as they are where nothing is left out, so that no vector need be gathered."""
    feasible = cycle.feasible
    assert feasible is not None
    if cycle.bare:
        return BareNodeView(cycle.state.nodes, feasible)
    if len(feasible) == cycle.nodes.size:
        return cycle.nodes
    return NodeView(cycle.state.nodes, feasible)


def _raw(profile: Profile, plugin: ScorePlugin, cycle: Cycle, view: NodeView) -> Int64s:
    if plugin.per_cycle or cycle.bare:
        return plugin.score(cycle, view)
    return profile.caches.of(cycle.shape).raw_scores(plugin, cycle)[view.rows]


def _weighted(plugin: ScorePlugin, weight: int, raw: Int64s, cycle: Cycle) -> Int64s:
    scores = ask(cycle, NORMALIZE, plugin.name, plugin.normalize, cycle, raw) if plugin.normalizes else raw
    lowest, highest = (MIN_NODE_SCORE, MAX_NODE_SCORE) if plugin.bounded or not len(scores) else bounds(scores)
    if lowest < MIN_NODE_SCORE or highest > MAX_NODE_SCORE:
        wrong = scores[(scores < MIN_NODE_SCORE) | (scores > MAX_NODE_SCORE)][0]
        raise PluginError(
            f'applying score defaultWeights on Score plugins: plugin "{plugin.name}" returns an invalid score {wrong}, '
            f"it should in the range of [{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after normalizing"
        )
    return scores * weight
