"""The sum of scores that need no normalizing, brought up to date row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scheduler.kernels.rows import add_up

if TYPE_CHECKING:
    from scheduler.framework.interface import ScorePlugin
    from scheduler.framework.row_cache import RowCache

Int64s = npt.NDArray[np.int64]


class ScoreSum:
    """The weighted sum over all rows of raw scores that are kept.

    `version` moves on when the sum changes; `row` is the row where it did so last (None: in several).
    """

    __slots__ = ("__weakref__", "_caches", "_seen", "_total", "_weights", "row", "version")

    def __init__(self, plugins: list[tuple[ScorePlugin, int]], caches: list[RowCache]) -> None:
        self._weights = [weight for _, weight in plugins]
        self._caches = caches
        self._seen: list[int] = []
        self._total: Int64s = np.empty(0, np.int64)
        self.version = 0
        self.row: int | None = None

    def total(self, size: int) -> Int64s:
        """The sum over rows 0..size, read only, of caches that are up to date."""
        versions = [cache.version for cache in self._caches]
        if versions == self._seen:
            return self._total
        rows = self._stale_rows(versions)
        self._seen = versions
        self.version += 1
        self.row = None
        if rows is None:
            self._total = np.empty(size, np.int64)
        elif len(self._total) < size:
            self._total = np.concatenate([self._total, np.zeros(size - len(self._total), np.int64)])
        if isinstance(rows, int):  # as after each pod
            pairs = zip(self._caches, self._weights, strict=True)
            self._total[rows] = sum([_scores(cache).item(rows) * weight for cache, weight in pairs])
            self.row = rows
        else:
            add_up(self._total, rows, [_scores(cache) for cache in self._caches], self._weights)
        return self._total

    def _stale_rows(self, versions: list[int]) -> int | npt.NDArray[np.intp] | None:
        """The rows of the sum that are stale by now, or the one; None for all of them."""
        if not self._seen:
            return None
        parts: list[int | npt.NDArray[np.intp]] = []
        for cache, version, seen in zip(self._caches, versions, self._seen, strict=True):
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


def _scores(cache: RowCache) -> Int64s:
    assert cache.vector is not None
    return cache.vector
