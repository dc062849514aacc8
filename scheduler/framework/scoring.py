"""Scoring the feasible nodes: PreScore, Score, NormalizeScore, weights (RunScorePlugins)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from scheduler.cache.bare import BareNodeView
from scheduler.cache.nodes import NodeView
from scheduler.framework.recorder import NORMALIZE, PRE_SCORE, SCORE, ask, skips
from scheduler.framework.status import Code, PluginError

if TYPE_CHECKING:
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import ScorePlugin
    from scheduler.framework.profile import Profile

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


def run_pre_scores(profile: Profile, cycle: Cycle) -> frozenset[str]:
    """Ask the PreScore plugins; the names of those that skip. Raises PluginError if one fails."""
    skipped: list[str] = []
    view = _view(cycle)
    recorder = cycle.recorder
    for plugin in profile.pre_score:
        answer = ask(cycle, PRE_SCORE, plugin.name, plugin.pre_score, cycle, view)
        if recorder is not None and not skips(answer):
            recorder.evaluated(PRE_SCORE, plugin.name)
        if answer is None:
            continue
        if answer.code is not Code.SKIP:
            raise PluginError(f'running PreScore plugin "{plugin.name}": {answer.message}')
        skipped.append(plugin.name)
    return frozenset(skipped)


def total_scores(profile: Profile, cycle: Cycle, skipped: frozenset[str]) -> Int64s:
    """The total of each feasible node, int64 in the order of `cycle.feasible`. Raises PluginError if a plugin fails."""
    view = _view(cycle)
    rows = view.rows
    cache = profile.caches.of(cycle.shape)
    active = [pair for pair in profile.score if pair[0].name not in skipped]
    final = [pair for pair in active if _is_final(pair[0]) and not cycle.bare]
    if cycle.recorder is not None:
        for plugin, _ in active:
            cycle.recorder.evaluated(SCORE, plugin.name, len(view))
        if cycle.sampled:
            # Each on its own, to be timed; their sum has nothing left to compute.
            for plugin, _ in final:
                ask(cycle, SCORE, plugin.name, cache.raw_scores, plugin, cycle)
    static = cache.static_total(final, cycle)
    total: Int64s = np.zeros(len(view), np.int64) if static is None else static[rows].copy()
    for plugin, weight in active:
        if cycle.bare or not _is_final(plugin):
            raw = ask(cycle, SCORE, plugin.name, _raw, profile, plugin, cycle, view)
            weighted = _weighted(plugin, weight, raw, cycle)
            total += weighted
            if cycle.trace is not None and (plugin.per_cycle or cycle.bare):
                cycle.trace.scores.append((plugin, weight, raw, weighted))
    return total


def detailed_scores(profile: Profile, cycle: Cycle, skipped: frozenset[str]) -> list[PluginScores]:
    """What `total_scores` adds up, plugin by plugin."""
    view = _view(cycle)
    scores = []
    for plugin, weight in profile.score:
        if plugin.name not in skipped:
            raw = _raw(profile, plugin, cycle, view)
            scores.append(PluginScores(plugin.name, raw.copy(), _weighted(plugin, weight, raw, cycle), weight))
    return scores


def _is_final(plugin: ScorePlugin) -> bool:
    """Whether raw scores are what is added up: then the sum is kept as well."""
    return plugin.bounded and not plugin.normalizes and not plugin.per_cycle


def _view(cycle: Cycle) -> NodeView:
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
    if not plugin.bounded and len(scores) and (scores.min() < MIN_NODE_SCORE or scores.max() > MAX_NODE_SCORE):
        wrong = scores[(scores < MIN_NODE_SCORE) | (scores > MAX_NODE_SCORE)][0]
        raise PluginError(
            f'applying score defaultWeights on Score plugins: plugin "{plugin.name}" returns an invalid score {wrong}, '
            f"it should in the range of [{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after normalizing"
        )
    return scores * weight
