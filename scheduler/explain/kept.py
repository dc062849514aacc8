"""What is kept of the nodes of a decision (`keeping` says how), and how it is restored, to the last point.

Nothing is copied that stays: vectors which the cycle keeps from one pod to the next are held as `Version`s, those that
are made anew in each cycle are packed, and whatever follows from these (who fits, normalized scores, totals, words) is
worked out when somebody asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from scheduler.explain.decision_view import Picture, left_out_by, not_evaluated
from scheduler.framework.diagnosis import Rejections
from scheduler.framework.filtering import feasible_mask
from scheduler.framework.scoring import PluginScores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scheduler.cache.versions import Version
    from scheduler.explain.packing import Packed
    from scheduler.framework.interface import FilterPlugin, ScorePlugin, Scores
    from scheduler.framework.pre_filter import PreFilterOutcome
    from scheduler.framework.row_cache import RowCache
    from scheduler.framework.status import Status

    Vector = npt.NDArray[Any]
    Source = Version | Packed
    Normalizer = Callable[[Scores], Scores] | None

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
