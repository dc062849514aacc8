"""What is kept of the nodes of a decision, and how the decision is restored from it, to the last point.

Nothing is copied that stays: vectors which the cycle keeps from one pod to the next are held as `Version`s, those that
are made anew in each cycle are packed, and whatever follows from these (who fits, normalized scores, totals, words) is
worked out when somebody asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

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
    from scheduler.framework.interface import FilterPlugin, Scores
    from scheduler.framework.pre_filter import PreFilterOutcome
    from scheduler.framework.shape_cache import ShapeCache
    from scheduler.framework.status import Status

    Vector = npt.NDArray[Any]
    Source = Version | Packed

_OBJECT = 300
_ENTRY = 96


class KeptVerdicts(NamedTuple):
    """A filter's codes over rows, and what they mean."""

    plugin: str
    words: Mapping[int, Status]
    codes: Source


class KeptScores(NamedTuple):
    """A plugin's raw scores: over rows as a `Version`, over the feasible nodes if packed.

    `weighted` are kept where `normalizer` does not say how to come to them; neither where raw scores are final.
    """

    plugin: str
    weight: int
    raw: Source
    normalizer: Callable[[Scores], Scores] | None
    weighted: Packed | None


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

    def pack(self, like: tuple[int, str], vector: Vector) -> Packed:
        """Keep a vector; `like` names those that it may differ from in a few places only."""
        packed = pack(vector, self._ledger, self._before.get(like))
        if packed.is_base:
            self._before.pop(like, None)
            self._before[like] = packed
            if len(self._before) > self._limit:
                del self._before[next(iter(self._before))]
        return packed

    def clear(self) -> None:
        """Forget what vectors differed from."""
        self._before.clear()


class Details:
    """The nodes of one decision. `bytes`: the memory that this takes besides what it shares through the ledger."""

    __slots__ = (
        "_absent",
        "_base",
        "_evaluated",
        "_feasible",
        "_names",
        "_nominated",
        "_overrides",
        "_pre_filter",
        "_scored",
        "_scores",
        "_size",
        "_verdicts",
        "bytes",
    )

    def __init__(self, attempt: Attempted, decision: Decision, ledger: Ledger, packer: Packer) -> None:
        cycle, rejections, profile = attempt.cycle, decision.rejections, attempt.profile
        nodes = cycle.state.nodes
        self._size = cycle.nodes.size
        self._names = nodes.names.hold(ledger)
        self._nominated = decision.nominated
        self._absent = rejections.absent
        self._pre_filter: PreFilterOutcome = decision.pre_filter
        self._overrides = dict(rejections.overrides) if rejections.overrides else None
        evaluated = rejections.evaluated
        self._evaluated = None if evaluated is rejections.live else np.packbits(evaluated)
        self._feasible = None if decision.derived else decision.feasible.astype(np.int32)
        cache = profile.caches.of(cycle.shape)
        self._verdicts = tuple(_verdicts(attempt, rejections, cache, ledger, packer))
        self._scored = decision.totals is not None
        self._base = 0 if profile.score or cycle.extenders else 1
        self._scores = tuple(_scores(attempt, decision, cache, ledger, packer)) if self._scored else ()
        self.bytes = _OBJECT + _ENTRY * (len(self._verdicts) + len(self._scores) + len(rejections.overrides))
        for array in (self._evaluated, self._feasible):
            if array is not None:
                self.bytes += memory_of(array)
        for kept in self._scores:
            if kept.normalizer is not None:
                self.bytes += held_by(kept.normalizer)

    def restore(self) -> Picture:
        """The nodes as they were."""
        size = self._size
        names = self._names.restore()[:size]
        live = np.array([name is not None for name in names.tolist()], np.bool_)
        rejections = self._rejections(live)
        feasible: npt.NDArray[np.intp]
        if self._feasible is not None:
            feasible = self._feasible.astype(np.intp)
        elif self._pre_filter.status is not None:
            feasible = np.empty(0, np.intp)
        else:
            feasible = np.flatnonzero(feasible_mask(rejections))
        left_out = None if self._nominated else left_out_by(rejections, self._pre_filter, names)
        totals, best, scores = None, feasible, [_restored(kept, feasible) for kept in self._scores]
        if self._scored:
            totals = np.full(len(feasible), self._base, np.int64)
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
        if self._evaluated is not None:
            evaluated = np.unpackbits(self._evaluated, count=self._size).astype(np.bool_)
        verdicts: list[tuple[FilterPlugin, Any]] = []
        for kept in self._verdicts:
            plugin: Any = _Worded(kept.plugin, kept.words)
            verdicts.append((plugin, kept.codes.restore()[: self._size]))
        rejections = Rejections.of(live, evaluated, verdicts, self._overrides or {})
        rejections.absent = self._absent
        return rejections


def held_by(normalizer: Callable[[Scores], Scores]) -> int:
    """The bytes of the arrays that a function holds on to as its arguments."""
    arguments = getattr(normalizer, "args", ())
    return sum(memory_of(argument) for argument in arguments if isinstance(argument, np.ndarray))


def _verdicts(
    attempt: Attempted, rejections: Rejections, cache: ShapeCache, ledger: Ledger, packer: Packer
) -> list[KeptVerdicts]:
    cycle = attempt.cycle
    found = []
    for plugin, codes in rejections.verdicts:
        name = plugin.name

        def word(code: int, plugin: FilterPlugin = plugin, name: str = name) -> Status:
            return plugin.status(cycle, code).by(name)

        rows = cache.filter_cache(name)
        if rows is not None and rows.vector is codes:
            found.append(KeptVerdicts(name, rows.words(word), rows.hold(ledger)))
            continue
        present = codes_in(codes)
        if present:
            words = {code: word(code) for code in present}
            found.append(KeptVerdicts(name, words, packer.pack((id(cycle.shape), name), codes)))
    return found


def _scores(
    attempt: Attempted, decision: Decision, cache: ShapeCache, ledger: Ledger, packer: Packer
) -> list[KeptScores]:
    cycle, skipped, trace = attempt.cycle, decision.pre_score_skipped, attempt.cycle.trace
    assert trace is not None
    made = {given.plugin: given for given in trace.scores}
    found = []
    for plugin, weight in attempt.profile.score:
        name = plugin.name
        if name in skipped:
            continue
        normalizer = plugin.normalizer(cycle) if plugin.normalizes else None
        given = made.get(name)
        weighted = None
        raw: Source
        if given is None:
            rows = cache.score_cache(name)
            assert rows is not None
            raw = rows.hold(ledger)
            if plugin.normalizes and normalizer is None:
                scores = rows.vector[decision.feasible]  # type: ignore[index]
                weighted = packer.pack((id(cycle.shape), f"{name}/weighted"), plugin.normalize(cycle, scores) * weight)
        else:
            raw = packer.pack((id(cycle.shape), name), given.raw)
            if plugin.normalizes and normalizer is None:
                weighted = packer.pack((id(cycle.shape), f"{name}/weighted"), given.weighted)
        found.append(KeptScores(name, weight, raw, normalizer, weighted))
    found += (
        KeptScores(extender.name, extender.weight, pack(extender.raw, ledger), None, pack(extender.weighted, ledger))
        for extender in trace.given
    )
    return found


def _restored(kept: KeptScores, feasible: npt.NDArray[np.intp]) -> PluginScores:
    raw = kept.raw.restore()
    if isinstance(kept.raw, Version):
        raw = raw[feasible]
    if kept.weighted is not None:
        weighted = kept.weighted.restore()
    else:
        weighted = (raw if kept.normalizer is None else kept.normalizer(raw)) * kept.weight
    return PluginScores(kept.plugin, raw, weighted, kept.weight)
