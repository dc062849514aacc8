"""What a profile remembers of a shape: verdicts and raw scores of every node, brought up to date row by row."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from scheduler.framework.recorder import FILTER, SCORE
from scheduler.framework.row_cache import RowCache
from scheduler.framework.score_sum import ScoreSum

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from scheduler.cache.shapes import PodShape
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import FilterPlugin, ScorePlugin

Int64s = npt.NDArray[np.int64]
T = TypeVar("T")


class Shared:
    """What shapes share that are alike in a part of them, for as long as any of them has it."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What there is under the key, or is made now."""
        found: T | None = self._found.get(key)
        if found is None:
            found = self._found[key] = make()
        return found


class ShapeCache:
    """Row caches of all row-wise filters and scores for one shape, some of them `shared` with others.

    In `memo` others remember what holds for as long as the profile and the shape are the same.
    """

    __slots__ = ("_filters", "_scores", "_sum", "_sum_of", "memo", "shared")

    def __init__(self, shared: Shared | None = None) -> None:
        self.shared = shared or Shared()
        self._filters: dict[str, RowCache] = {}
        self._scores: dict[str, RowCache] = {}
        self._sum: ScoreSum | None = None
        self._sum_of: list[tuple[ScorePlugin, int]] = []
        self.memo: dict[Any, Any] = {}

    def verdicts(self, plugin: FilterPlugin, cycle: Cycle) -> npt.NDArray[Any] | None:
        """Codes over all rows, None where the pod fits everywhere."""
        cache = self._filters.get(plugin.name)
        if cache is None:
            cache = self._filters[plugin.name] = self._rows(plugin, FILTER, plugin.filter_key(cycle))
        table, epoch = cycle.state.nodes, plugin.epoch(cycle)
        if cache.is_current(table, epoch):
            return cache.vector
        return cache.refresh(table, partial(plugin.filter, cycle), epoch, partial(plugin.code_at, cycle))

    def filter_cache(self, name: str) -> RowCache | None:
        """The cache of a filter's verdicts; None if it was never asked for these."""
        return self._filters.get(name)

    def score_cache(self, name: str) -> RowCache | None:
        """The cache of a plugin's raw scores; None if it was never asked for these."""
        return self._scores.get(name)

    def seen_before(self, key: Hashable) -> bool:
        """Whether this was asked before with the same key: what makes work worth while that saves some later on."""
        if key in self.memo:
            return True
        self.memo[key] = None
        return False

    def close(self) -> None:
        """Nobody asks here any more: versions that are held keep what they need of the vectors."""
        for cache in (*self._filters.values(), *self._scores.values()):
            cache.before_change()

    def raw_scores(self, plugin: ScorePlugin, cycle: Cycle) -> Int64s:
        """Raw scores over all rows; read only."""
        return _scores(self._refreshed(plugin, cycle))

    def scores_version(self, plugin: ScorePlugin, cycle: Cycle) -> int:
        """Moves on when any of the raw scores changes."""
        return self._refreshed(plugin, cycle).version

    def static_total(self, plugins: list[tuple[ScorePlugin, int]], cycle: Cycle) -> Int64s | None:
        """The weighted sum over all rows of plugins whose raw scores are final; read only. None for no plugins."""
        if not plugins:
            return None
        caches = [self._refreshed(plugin, cycle) for plugin, _ in plugins]
        return self.sum_of(plugins, caches).total(cycle.nodes.size)

    def sum_of(self, plugins: list[tuple[ScorePlugin, int]], caches: list[RowCache]) -> ScoreSum:
        """The sum that `static_total` gives; there must be plugins."""
        if self._sum is None or plugins != self._sum_of:
            key = ScoreSum, tuple(plugins), tuple(map(id, caches))
            self._sum = self.shared.get(key, lambda: ScoreSum(plugins, caches))
            self._sum_of = plugins
        return self._sum

    def _rows(self, plugin: FilterPlugin | ScorePlugin, point: str, key: Hashable) -> RowCache:
        if key is None:
            return RowCache(plugin.depends)
        return self.shared.get((plugin, point, key), lambda: RowCache(plugin.depends))

    def _refreshed(self, plugin: ScorePlugin, cycle: Cycle) -> RowCache:
        cache = self._scores.get(plugin.name)
        if cache is None:
            cache = self._scores[plugin.name] = self._rows(plugin, SCORE, plugin.score_key(cycle))
        table, epoch = cycle.state.nodes, plugin.epoch(cycle)
        if not cache.is_current(table, epoch):
            cache.refresh(table, partial(plugin.score, cycle), epoch, partial(plugin.score_at, cycle))
        return cache


def _scores(cache: RowCache) -> Int64s:
    assert cache.vector is not None
    return cache.vector


class ShapeCaches:
    """The caches of the shapes that were scheduled lately; the least recently used goes when there are too many.

    In `memo` others remember what holds for all shapes, for as long as the profile is the same.
    """

    __slots__ = ("_by_shape", "_limit", "_shared", "memo")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._shared = Shared()
        self.memo: dict[Any, Any] = {}
        self._by_shape: OrderedDict[PodShape, ShapeCache] = OrderedDict()

    def close(self) -> None:
        """Nobody asks here any more; see `ShapeCache.close`."""
        for cache in self._by_shape.values():
            cache.close()
        self._by_shape.clear()

    def of(self, shape: PodShape) -> ShapeCache:
        """The cache of a shape, empty if it is new or was dropped."""
        cache = self._by_shape.get(shape)
        if cache is None:
            cache = self._by_shape[shape] = ShapeCache(self._shared)
            if len(self._by_shape) > self._limit:
                self._by_shape.popitem(last=False)[1].close()
        else:
            self._by_shape.move_to_end(shape)
        return cache
