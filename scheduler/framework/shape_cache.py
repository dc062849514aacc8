"""What a profile remembers of a shape: verdicts and raw scores of every node, brought up to date row by row."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from scheduler.cache.shapes import PinnedShape, PodBody, PodShape
from scheduler.framework.recorder import FILTER, SCORE
from scheduler.framework.row_cache import RowCache
from scheduler.framework.score_sum import ScoreSum

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

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

    In `memo` others remember what holds for as long as the profile and the shape are the same, and in `answers` what
    plugins have answered at which extension point: that holds for all shapes that are pinned to a node and have all
    else in common.
    """

    __slots__ = ("_filters", "_scores", "_sum", "_sum_of", "answers", "memo", "shared", "users")

    def __init__(self, shared: Shared | None = None, answers: dict[str, Any] | None = None) -> None:
        self.users = 0
        """How many shapes have it, which is for the one to count who hands it out."""
        self.shared = shared or Shared()
        self.answers: dict[str, Any] = {} if answers is None else answers
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

    def seen_before(self, point: str) -> bool:
        """Whether this was asked before of the point: what makes it worth while to note its answers."""
        if point in self.answers:
            return True
        self.answers[point] = None
        return False

    def close(self) -> None:
        """Nobody asks here any more: versions that are held keep what they need of vectors that nobody else has."""
        for cache in (*self._filters.values(), *self._scores.values()):
            cache.users -= 1
            if not cache.users:
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
        rows = (
            RowCache(plugin.depends)
            if key is None
            else self.shared.get((plugin, point, key), lambda: RowCache(plugin.depends))
        )
        rows.users += 1
        return rows

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

    Shapes that differ in labels only have one in common, unless some plugin `sees_labels`. In `memo` others remember
    what holds for all shapes, for as long as the profile is the same.
    """

    __slots__ = ("_by_body", "_by_shape", "_limit", "_pinned", "_sees_labels", "_shared", "memo")

    def __init__(self, limit: int, *, sees_labels: bool = True) -> None:
        self._limit = limit
        self._sees_labels = sees_labels
        self._shared = Shared()
        self.memo: dict[Any, Any] = {}
        self._by_shape: _Latest = OrderedDict()
        self._by_body: dict[PodBody, ShapeCache] = {}
        self._pinned: _Latest = OrderedDict()
        """Those of shapes that are pinned to a node: most are asked for once, and must not drive out the others."""

    def close(self) -> None:
        """Nobody asks here any more; see `ShapeCache.close`."""
        for latest in (self._by_shape, self._pinned):
            while latest:
                self._drop(latest)

    def of(self, shape: PodShape) -> ShapeCache:
        """The cache of a shape, empty if it is new or was dropped."""
        cache = self._by_shape.get(shape)
        if cache is not None:
            self._by_shape.move_to_end(shape)
            return cache
        if isinstance(shape, PinnedShape):
            return self._of_pinned(shape)
        cache = None if self._sees_labels else self._by_body.get(shape.body)
        if cache is None:
            cache = ShapeCache(self._shared)
            if not self._sees_labels:
                self._by_body[shape.body] = cache
        return self._add(self._by_shape, self._limit, shape, cache)

    def _of_pinned(self, shape: PinnedShape) -> ShapeCache:
        cache = self._pinned.get(shape)
        if cache is None:
            answers = self.of(shape.template).memo.setdefault(_PINNED, {})
            cache = self._add(self._pinned, _MOST_PINNED, shape, ShapeCache(self._shared, answers))
        return cache

    def _add(self, latest: _Latest, limit: int, shape: PodShape, cache: ShapeCache) -> ShapeCache:
        latest[shape] = cache
        cache.users += 1
        if len(latest) > limit:
            self._drop(latest)
        return cache

    def _drop(self, latest: _Latest) -> None:
        """Let the least recently used one go."""
        shape, cache = latest.popitem(last=False)
        cache.users -= 1
        if not cache.users:
            if self._by_body.get(shape.body) is cache:
                del self._by_body[shape.body]
            cache.close()


_Latest = OrderedDict[PodShape, ShapeCache]

_MOST_PINNED: Final = 8
_PINNED: Final = "pinned"
