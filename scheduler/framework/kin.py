"""What the usual course does row by row, for all shapes at once whose verdicts and scores by row are the very same.

Pods of two templates may differ in labels only, which few plugins look at. Then it is the same vectors that are kept
for both, and what follows from these: which nodes fit, the sum of the scores, and who leads.
"""

from __future__ import annotations

import time
from collections import deque
from functools import partial
from operator import is_
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from scheduler.framework.filtering import Selection, in_turn, select
from scheduler.framework.interface import FilterPlugin, ScorePlugin
from scheduler.framework.scoring import normalized_total, own_sum, sum_up
from scheduler.framework.standing import Leaders

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from scheduler.cache.nodes import NodeView
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.diagnosis import Codes, Rejections
    from scheduler.framework.profile import Profile
    from scheduler.framework.row_cache import RowCache
    from scheduler.framework.scoring import Plan
    from scheduler.framework.shape_cache import ShapeCache
    from scheduler.framework.standing import Standing

Int64s = npt.NDArray[np.int64]

_CONSTANT: Final = (FilterPlugin.epoch, ScorePlugin.epoch)
"""The epochs of plugins that have none of their own."""


_LATELY: Final = 4


class _Row(NamedTuple):
    """A plugin that is asked about many rows, by `ask`, or about one, by `ask_at`; and what is kept of its answers."""

    plugin: FilterPlugin | ScorePlugin
    cache: RowCache
    ask: Callable[[Cycle, NodeView], npt.NDArray[Any] | None]
    ask_at: Callable[[Cycle, int], int | None]

    def refresh(self, cycle: Cycle, epoch: Hashable, spent: dict[str, float]) -> None:
        """Bring the cache up to date."""
        start = time.perf_counter() if cycle.sampled else 0.0
        self.cache.refresh(cycle.state.nodes, partial(self.ask, cycle), epoch, partial(self.ask_at, cycle))
        if cycle.sampled:
            self.has_taken(time.perf_counter() - start, spent)

    def has_taken(self, seconds: float, spent: dict[str, float]) -> None:
        """Add to what the plugin has spent."""
        name = self.plugin.name
        spent[name] = spent.get(name, 0.0) + seconds


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

    def catch_up(self, cycle: Cycle, spent: dict[str, float]) -> list[int]:
        """Bring all of them up to date; their versions. `spent` gets the seconds by plugin in a cycle that is timed."""
        for part in self._moody:
            epoch = part.plugin.epoch(cycle)
            if epoch != part.cache.epoch:
                part.refresh(cycle, epoch, spent)
        log = cycle.state.nodes.log
        end = log.end
        if end != self._position:
            kinds = log.kinds(self._position)
            for mask, parts in self._by_mask:
                if kinds & mask:
                    self._follow(mask, parts, cycle, spent)
                else:
                    for part in parts:
                        part.cache.position = end
            self._position = end
        return [cache.version for cache in self.caches]

    def _follow(self, mask: int, parts: list[_Row], cycle: Cycle, spent: dict[str, float]) -> None:
        """Bring those that depend on the same up to date."""
        table = cycle.state.nodes
        end = table.log.end
        row = table.log.only_row(self._position, mask)  # as after each pod
        changed = table.changed(self._position, mask) if row is None else None
        for part in parts:
            cache = part.cache
            if cache.position == end:  # by a pod of another shape
                continue
            start = time.perf_counter() if cycle.sampled else 0.0
            if row is not None:
                done = cache.follow(row, part.ask_at(cycle, row), end)
            elif changed is not None and cache.can_take(changed, self._position):
                cache.take(changed, part.ask(cycle, changed), end)
                done = True
            else:
                done = False
            if not done:
                part.refresh(cycle, cache.epoch, spent)
            elif cycle.sampled:
                part.has_taken(time.perf_counter() - start, spent)


class Kin:
    """The row-wise part of a `Course`. `parts` are the filters, each with its verdicts if these are kept by row."""

    __slots__ = (
        "__weakref__",
        "_filter_rows",
        "_lately",
        "_leaders",
        "_of_final",
        "_row_wise",
        "_score_rows",
        "_selection",
        "_sum",
        "_verdicts",
        "_versions",
        "parts",
        "plan",
    )

    def __init__(self, cycle: Cycle, cache: ShapeCache, filters: list[FilterPlugin], plan: Plan) -> None:
        self.parts = _parts(cache, filters)
        self.plan = plan
        self._filter_rows = _Together(
            [_Row(plugin, rows, plugin.filter, plugin.code_at) for plugin, rows in self.parts if rows is not None],
            cycle,
        )
        self._score_rows = _Together(
            [_Row(plugin, rows, plugin.score, plugin.score_at) for plugin, rows in _scored(cache, plan)], cycle
        )
        self._of_final = len(plan.final)
        self._sum = cache.sum_of(plan.final, self._score_rows.caches[: self._of_final]) if plan.final else None
        self._leaders = Leaders(self._sum) if self._sum is not None else None
        self._row_wise = all(rows is not None for _, rows in self.parts)
        self._versions: list[int] = []
        self._verdicts: list[tuple[FilterPlugin, Codes]] = []
        self._selection: Selection | None = None
        self._lately: deque[tuple[list[Codes | None], Selection]] = deque(maxlen=_LATELY)

    @classmethod
    def of(cls, cycle: Cycle, cache: ShapeCache, filters: list[FilterPlugin], plan: Plan) -> Kin:
        """That of a shape which has just been decided on: the same for all with which it shares all rows."""
        rows = [rows for _, rows in (*_parts(cache, filters), *_scored(cache, plan))]
        key = cls, tuple(filters), plan, tuple(map(id, rows))
        return cache.shared.get(key, lambda: cls(cycle, cache, filters, plan))

    def select(self, cycle: Cycle, cache: ShapeCache, rejections: Rejections, spent: dict[str, float]) -> Selection:
        """The nodes that fit; `spent` gets the seconds by plugin in a cycle that is timed."""
        versions = self._filter_rows.catch_up(cycle, spent)
        versions.append(cycle.state.nodes.version)
        if self._row_wise:
            return self._known(cycle, cache, rejections, versions)
        return self._new(cycle, rejections, versions, spent)

    def _new(self, cycle: Cycle, rejections: Rejections, versions: list[int], spent: dict[str, float]) -> Selection:
        """Ask those filters that are asked in each cycle: the same nodes as lately, if these give the very same arrays,
        which nobody can have written to meanwhile."""
        said: list[Codes | None] = []
        for plugin, rows in self.parts:
            start = time.perf_counter() if cycle.sampled else 0.0
            codes = plugin.filter(cycle, cycle.nodes) if rows is None else rows.vector
            if rows is None:
                said.append(codes)
                if cycle.sampled:
                    spent[plugin.name] = time.perf_counter() - start
            if codes is not None:
                rejections.verdicts.append((plugin, codes))
        if versions != self._versions:
            self._versions = versions
            self._lately.clear()
        for lately, known in self._lately:
            if all(map(is_, lately, said)):
                return known
        asked, left = in_turn(cycle.filters, rejections)
        feasible = np.flatnonzero(left)
        feasible.flags.writeable = False
        found = Selection([], feasible, asked)
        if all(codes is None or not codes.flags.writeable for codes in said):
            self._lately.append((said, found))
        return found

    def _known(self, cycle: Cycle, cache: ShapeCache, rejections: Rejections, versions: list[int]) -> Selection:
        """The same nodes as before, unless a verdict has changed."""
        if self._selection is None or versions != self._versions:
            self._verdicts = [
                (plugin, rows.vector) for plugin, rows in self.parts if rows is not None and rows.vector is not None
            ]
            rejections.verdicts += self._verdicts
            self._selection = select(cycle, cycle.filters, rejections, cache)
            self._versions = versions
        else:
            rejections.verdicts += self._verdicts
        return self._selection

    def score(
        self, profile: Profile, cycle: Cycle, selection: Selection, view: NodeView, spent: dict[str, float]
    ) -> Standing | Int64s:
        """The totals of the nodes that fit, or how they stand where that is known. Raises PluginError if a plugin
        fails."""
        plan = self.plan
        versions = self._score_rows.catch_up(cycle, spent)
        static = None if self._sum is None else self._sum.total(cycle.nodes.size)
        normalized = normalized_total(plan, profile, cycle, view, versions[self._of_final :])
        if self._leaders is not None and not plan.others and not isinstance(normalized, np.ndarray):
            assert static is not None
            return self._leaders.standing(selection, static, normalized or 0, view)
        return sum_up(plan.others, profile, cycle, view, own_sum(static, normalized, view))


def _parts(cache: ShapeCache, filters: list[FilterPlugin]) -> list[tuple[FilterPlugin, RowCache | None]]:
    return [(plugin, None if plugin.per_cycle else cache.filter_cache(plugin.name)) for plugin in filters]


def _scored(cache: ShapeCache, plan: Plan) -> list[tuple[ScorePlugin, RowCache]]:
    found = [(plugin, cache.score_cache(plugin.name)) for plugin, _ in (*plan.final, *plan.by_row)]
    return [(plugin, rows) for plugin, rows in found if rows is not None]
