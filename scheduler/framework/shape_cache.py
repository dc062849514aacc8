"""What a profile remembers of a shape: verdicts and raw scores of every node, brought up to date row by row."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from scheduler.framework.row_cache import RowCache

if TYPE_CHECKING:
    from collections.abc import Hashable

    from scheduler.cache.shapes import PodShape
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import FilterPlugin, ScorePlugin

Int64s = npt.NDArray[np.int64]


class ShapeCache:
    """Row caches of all row-wise filters and scores for one shape, and the sum of scores that need no normalizing.

    `sum_version` moves on when that sum changes; `sum_row` is the row where it did so last (None: in several).
    In `memo` others remember what holds for as long as the profile and the shape are the same.
    """

    __slots__ = (
        "_filters",
        "_scores",
        "_static",
        "_static_of",
        "_static_versions",
        "memo",
        "sum_row",
        "sum_version",
    )

    def __init__(self) -> None:
        self._filters: dict[str, RowCache] = {}
        self._scores: dict[str, RowCache] = {}
        self._static: Int64s | None = None
        self._static_of: list[tuple[ScorePlugin, int]] = []
        self._static_versions: list[int] = []
        self.sum_version = 0
        self.sum_row: int | None = None
        self.memo: dict[Any, Any] = {}

    def verdicts(self, plugin: FilterPlugin, cycle: Cycle) -> npt.NDArray[Any] | None:
        """Codes over all rows, None where the pod fits everywhere."""
        cache = self._filters.get(plugin.name)
        if cache is None:
            cache = self._filters[plugin.name] = RowCache(plugin.depends)
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
        return self.sum_of(plugins, [self._refreshed(plugin, cycle) for plugin, _ in plugins], cycle)

    def sum_of(self, plugins: list[tuple[ScorePlugin, int]], caches: list[RowCache], cycle: Cycle) -> Int64s | None:
        """As `static_total`, of caches that have just been brought up to date."""
        if not plugins:
            return None
        versions = [cache.version for cache in caches]
        if plugins == self._static_of and versions == self._static_versions:
            return self._static
        rows = self._stale_rows(plugins, versions, caches)
        self._static_of, self._static_versions = plugins, versions
        weighted = [(_scores(cache), weight) for cache, (_, weight) in zip(caches, plugins, strict=True)]
        self.sum_version += 1
        self.sum_row = None
        if rows is None:
            total = np.zeros(cycle.nodes.size, np.int64)
            for vector, weight in weighted:
                total += vector if weight == 1 else vector * weight
            self._static = total
        else:
            assert self._static is not None
            if len(self._static) < cycle.nodes.size:
                more = np.zeros(cycle.nodes.size - len(self._static), np.int64)
                self._static = np.concatenate([self._static, more])
            if isinstance(rows, int):  # as after each pod
                self._static[rows] = sum([vector.item(rows) * weight for vector, weight in weighted])
                self.sum_row = rows
            else:
                first, *others = (vector[rows] if weight == 1 else vector[rows] * weight for vector, weight in weighted)
                for one in others:
                    first += one
                self._static[rows] = first
        return self._static

    def _stale_rows(
        self, plugins: list[tuple[ScorePlugin, int]], versions: list[int], caches: list[RowCache]
    ) -> int | npt.NDArray[np.intp] | None:
        """The rows of the sum that the refresh just made stale, or the one; None for all of them."""
        if self._static is None or plugins != self._static_of:
            return None
        parts: list[int | npt.NDArray[np.intp]] = []
        for cache, version, seen in zip(caches, versions, self._static_versions, strict=True):
            if version == seen:
                continue
            if cache.patched is None or version != seen + 1:
                return None
            parts.append(cache.patched)
        first, *others = parts
        if isinstance(first, int):
            if all(isinstance(part, int) and part == first for part in others):
                return first
        elif all(part is first for part in others):  # parts that depend on the same are patched in the very same rows
            return first
        return np.unique(np.concatenate([np.atleast_1d(np.asarray(part, np.intp)) for part in parts]))

    def _refreshed(self, plugin: ScorePlugin, cycle: Cycle) -> RowCache:
        cache = self._scores.get(plugin.name)
        if cache is None:
            cache = self._scores[plugin.name] = RowCache(plugin.depends)
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

    __slots__ = ("_by_shape", "_limit", "memo")

    def __init__(self, limit: int) -> None:
        self._limit = limit
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
            cache = self._by_shape[shape] = ShapeCache()
            if len(self._by_shape) > self._limit:
                self._by_shape.popitem(last=False)[1].close()
        else:
            self._by_shape.move_to_end(shape)
        return cache
