"""What is kept of the nodes of a decision, and how the decision is restored from it, to the last point.

Nothing is copied that stays: vectors which the cycle keeps from one pod to the next are held as `Version`s, those that
are made anew in each cycle are packed, and whatever follows from these (who fits, normalized scores, totals, words) is
worked out when somebody asks.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from scheduler.cache.versions import Ledger, Version, memory_of
from scheduler.explain.decision_view import Picture, left_out_by, not_evaluated
from scheduler.explain.packing import Packed, pack
from scheduler.framework.diagnosis import Rejections
from scheduler.framework.filtering import feasible_mask
from scheduler.framework.row_cache import codes_in
from scheduler.framework.scoring import PluginScores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scheduler.cycle.algorithm import Decision
    from scheduler.cycle.journal import Attempted
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import FilterPlugin, ScorePlugin, Scores
    from scheduler.framework.pre_filter import PreFilterOutcome
    from scheduler.framework.row_cache import RowCache
    from scheduler.framework.shape_cache import ShapeCache
    from scheduler.framework.status import Status

    Vector = npt.NDArray[Any]
    Source = Version | Packed
    Normalizer = Callable[[Scores], Scores] | None

_PATIENCE = 4
"""After so many vectors without a likeness to the one before only every so many-th is compared."""
_AGAIN = 16
_OBJECT = 300
_ENTRY = 96


KeptVerdicts: TypeAlias = "tuple[str, Mapping[int, Status], Source]"
"""A filter's name, what its codes mean, and the codes over rows."""

MadeScores: TypeAlias = "tuple[str, int, Packed, Normalizer, Packed | None]"
"""Scores that were made for one cycle: plugin, weight, raw scores of the feasible nodes, how to normalize these, and
the weighted ones where nobody can say how."""


class ScorePlan(msgspec.Struct, frozen=True):
    """Which scores of a shape are kept by row, as (plugin, weight, how to normalize) with their caches.

    `loose` are made for each cycle, though their raw scores are kept: nobody can say how to normalize these later. In
    `order` all plugins have their place.
    """

    order: tuple[str, ...]
    kept: tuple[tuple[str, int, Normalizer], ...]
    rows: tuple[RowCache, ...]
    loose: tuple[tuple[ScorePlugin, int], ...]


class _Worded:
    """Stands in for a filter whose cycle is over."""

    def __init__(self, name: str, words: Mapping[int, Status]) -> None:
        self.name = name
        self._words = words

    def status(self, _cycle: object, code: int) -> Status:
        return self._words[code]


class Packer:
    """Packs the vectors that are made anew in each cycle, each as what differs from one of its like before."""

    def __init__(self, ledger: Ledger, limit: int = 256) -> None:
        self._ledger = ledger
        self._limit = limit
        self._before: dict[tuple[int, str], Packed] = {}
        self._in_vain: dict[tuple[int, str], int] = {}
        """How many vectors of a kind in a row had too little in common with the one before."""

    def pack(self, like: tuple[int, str], vector: Vector) -> Packed:
        """Keep a vector; `like` names those that it may differ from in a few places only."""
        in_vain = self._in_vain.get(like, 0)
        before = self._before.get(like) if in_vain < _PATIENCE or in_vain % _AGAIN == 0 else None
        packed = pack(vector, self._ledger, before)
        if packed.is_base:
            self._in_vain[like] = in_vain + 1
            self._before.pop(like, None)
            self._before[like] = packed
            if len(self._before) > self._limit:
                oldest = next(iter(self._before))
                del self._before[oldest], self._in_vain[oldest]
        elif in_vain:
            self._in_vain[like] = 0
        return packed

    def clear(self) -> None:
        """Forget what vectors differed from."""
        self._before.clear()
        self._in_vain.clear()


class Details(msgspec.Struct, gc=False, eq=False):
    """The nodes of one decision. `bytes`: the memory that this takes besides what it shares through the ledger.

    `evaluated` is None where all nodes were looked at, else bits; `feasible` None where it follows from the verdicts.
    `plan` and `versions` are the scores that are kept by row, `made` those that were made for this cycle. `scored`:
    whether there are totals; then these begin with `least`.
    """

    names: Version
    size: int
    nominated: bool
    absent: Status | None
    pre_filter: PreFilterOutcome
    overrides: dict[int, Status] | None
    evaluated: Vector | None
    feasible: Vector | None
    verdicts: list[KeptVerdicts]
    scored: bool
    least: int
    plan: ScorePlan | None
    versions: list[Version]
    made: list[MadeScores]
    bytes: int

    def restore(self) -> Picture:
        """The nodes as they were."""
        names = self.names.restore()[: self.size]
        live = np.array([name is not None for name in names.tolist()], np.bool_)
        rejections = self._rejections(live)
        feasible: npt.NDArray[np.intp]
        if self.feasible is not None:
            feasible = self.feasible.astype(np.intp)
        elif self.pre_filter.status is not None:
            feasible = np.empty(0, np.intp)
        else:
            feasible = np.flatnonzero(feasible_mask(rejections))
        left_out = None if self.nominated else left_out_by(rejections, self.pre_filter, names)
        totals, best, scores = None, feasible, self._scores(feasible)
        if self.scored:
            totals = np.full(len(feasible), self.least, np.int64)
            for given in scores:
                totals += given.weighted
            best = feasible[totals == totals.max()]
        return Picture(
            names=names,
            feasible=feasible,
            totals=totals,
            best=best,
            scores=scores,
            groups=list(rejections.groups()),
            left_out=left_out,
            not_evaluated=not_evaluated(rejections, left_out),
        )

    def _rejections(self, live: npt.NDArray[np.bool_]) -> Rejections:
        evaluated = live.copy()
        if self.evaluated is not None:
            evaluated = np.unpackbits(self.evaluated, count=self.size).astype(np.bool_)
        verdicts: list[tuple[FilterPlugin, Any]] = []
        for name, words, codes in self.verdicts:
            plugin: Any = _Worded(name, words)
            verdicts.append((plugin, codes.restore()[: self.size]))
        rejections = Rejections.of(live, evaluated, verdicts, self.overrides or {})
        rejections.absent = self.absent
        return rejections

    def _scores(self, feasible: npt.NDArray[np.intp]) -> list[PluginScores]:
        """In the order in which they are added up."""
        if self.plan is None:
            return []
        kept: dict[str, PluginScores] = {}
        for (name, weight, normalizer), version in zip(self.plan.kept, self.versions, strict=True):
            raw = version.restore()[feasible]
            kept[name] = PluginScores(name, raw, (raw if normalizer is None else normalizer(raw)) * weight, weight)
        for name, weight, packed, normalizer, weighted in self.made:
            raw = packed.restore()
            if weighted is not None:
                kept[name] = PluginScores(name, raw, weighted.restore(), weight)
            else:
                kept[name] = PluginScores(name, raw, (raw if normalizer is None else normalizer(raw)) * weight, weight)
        known = set(self.plan.order)
        return [kept[name] for name in self.plan.order] + [kept[name] for name in kept if name not in known]


def details(attempt: Attempted, decision: Decision, ledger: Ledger, packer: Packer) -> Details:
    """Keep the nodes of a decision that was just taken."""
    cycle, rejections, profile = attempt.cycle, decision.rejections, attempt.profile
    nodes = cycle.state.nodes
    cache = profile.caches.of(cycle.shape)
    evaluated: Vector | None = rejections.evaluated
    feasible: Vector | None = None
    overrides = dict(rejections.overrides) if rejections.overrides else None
    size = _OBJECT
    if evaluated is rejections.live:
        evaluated = None
    else:
        evaluated = np.packbits(rejections.evaluated)
        size += memory_of(evaluated)
    if not decision.derived:
        feasible = decision.feasible.astype(np.int32)
        size += memory_of(feasible)
    if overrides is not None:
        size += _ENTRY * len(overrides)
    verdicts = _verdicts(attempt, rejections, cache, ledger, packer) if rejections.verdicts else []
    plan: ScorePlan | None = None
    versions: list[Version] = []
    made: list[MadeScores] = []
    if decision.totals is not None:
        plan = _plan(attempt, decision, cache)
        versions = [rows.hold(ledger) for rows in plan.rows]
        trace = cycle.trace
        assert trace is not None
        if trace.scores or trace.given or plan.loose:
            made = _made(attempt, decision, plan, cache, ledger, packer)
            for scores in made:
                size += _ENTRY + held_by(scores[3])
    return Details(
        nodes.names.hold(ledger),
        cycle.nodes.size,
        decision.nominated,
        rejections.absent,
        decision.pre_filter,
        overrides,
        evaluated,
        feasible,
        verdicts,
        plan is not None,
        0 if profile.score or cycle.extenders else 1,
        plan,
        versions,
        made,
        size + _ENTRY * len(verdicts) + 8 * len(versions),
    )


def held_by(normalizer: Normalizer) -> int:
    """The bytes of the arrays that a function holds on to as its arguments."""
    arguments = getattr(normalizer, "args", ())
    return sum(memory_of(argument) for argument in arguments if isinstance(argument, np.ndarray))


def _verdicts(
    attempt: Attempted, rejections: Rejections, cache: ShapeCache, ledger: Ledger, packer: Packer
) -> list[KeptVerdicts]:
    cycle = attempt.cycle
    found: list[KeptVerdicts] = []
    for plugin, codes in rejections.verdicts:
        name = plugin.name
        rows = cache.filter_cache(name)
        if rows is not None and rows.vector is codes:
            found.append((name, rows.words(partial(_worded, plugin, cycle)), rows.hold(ledger)))
            continue
        present = codes_in(codes)
        if present:
            words = {code: _worded(plugin, cycle, code) for code in present}
            found.append((name, words, packer.pack((id(cycle.shape), name), codes)))
    return found


def _worded(plugin: FilterPlugin, cycle: Cycle, code: int) -> Status:
    return plugin.status(cycle, code).by(plugin.name)


def _plan(attempt: Attempted, decision: Decision, cache: ShapeCache) -> ScorePlan:
    """The plan of the shape, which is the same for most cycles."""
    trace = attempt.cycle.trace
    assert trace is not None
    skipped, given = decision.pre_score_skipped, tuple([scores[0].name for scores in trace.scores])
    plan: ScorePlan | None = cache.memo.get((skipped, given))
    if plan is None:
        plan = cache.memo[skipped, given] = _new_plan(attempt, skipped, given, cache)
    return plan


def _new_plan(attempt: Attempted, skipped: frozenset[str], given: tuple[str, ...], cache: ShapeCache) -> ScorePlan:
    active = [pair for pair in attempt.profile.score if pair[0].name not in skipped]
    kept, rows, loose = [], [], []
    for plugin, weight in active:
        if plugin.name in given:
            continue
        normalizer = plugin.normalizer(attempt.cycle) if plugin.normalizes else None
        if plugin.normalizes and normalizer is None:
            loose.append((plugin, weight))
        else:
            known = cache.score_cache(plugin.name)
            assert known is not None
            kept.append((plugin.name, weight, normalizer))
            rows.append(known)
    return ScorePlan(tuple(plugin.name for plugin, _ in active), tuple(kept), tuple(rows), tuple(loose))


def _made(
    attempt: Attempted, decision: Decision, plan: ScorePlan, cache: ShapeCache, ledger: Ledger, packer: Packer
) -> list[MadeScores]:
    cycle, trace = attempt.cycle, attempt.cycle.trace
    assert trace is not None
    shape = id(cycle.shape)
    found: list[MadeScores] = []
    for plugin, weight, raw, weighted in trace.scores:
        name = plugin.name
        normalizer = plugin.normalizer(cycle) if plugin.normalizes else None
        kept = None
        if plugin.normalizes and normalizer is None:
            kept = packer.pack((shape, f"{name}/weighted"), weighted)
        found.append((name, weight, packer.pack((shape, name), raw), normalizer, kept))
    for plugin, weight in plan.loose:
        raw = cache.raw_scores(plugin, cycle)[decision.feasible]
        weighted = plugin.normalize(cycle, raw) * weight
        found.append((plugin.name, weight, pack(raw, ledger), None, pack(weighted, ledger)))
    found += [
        (given.name, given.weight, pack(given.raw, ledger), None, pack(given.weighted, ledger)) for given in trace.given
    ]
    return found
