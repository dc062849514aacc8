"""How the nodes of a decision are kept that was just taken: nothing is copied that the cycle keeps as well."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from scheduler.cache.versions import memory_of
from scheduler.explain.kept import Details, ScorePlan
from scheduler.explain.packing import pack
from scheduler.framework.codes import codes_in

if TYPE_CHECKING:
    from scheduler.cache.versions import Ledger, Version
    from scheduler.cycle.algorithm import Decision
    from scheduler.cycle.journal import Attempted
    from scheduler.explain.kept import KeptVerdicts, MadeScores, Normalizer
    from scheduler.explain.packing import Packer
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.diagnosis import Rejections
    from scheduler.framework.interface import FilterPlugin
    from scheduler.framework.shape_cache import ShapeCache
    from scheduler.framework.status import Status

    Vector = npt.NDArray[Any]

_OBJECT: Final = 300
_ENTRY: Final = 96


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
    if decision.scored:
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
