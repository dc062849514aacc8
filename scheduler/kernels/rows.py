"""What is done to vectors in some rows."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from scheduler.kernels.compiled import compiled

Int64s = npt.NDArray[np.int64]
Vector = npt.NDArray[Any]
Rows = npt.NDArray[np.intp]


def known(vector: Vector, rows: Rows, part: Vector) -> Vector | None:
    """What a vector holds in these rows; None if that is the `part` already."""
    if compiled is not None:
        found: Vector | Literal[False] | None = compiled.known(vector, rows, part)
        if found is not False:
            return found
    there = vector[rows]
    return there if np.count_nonzero(there != part) else None


def add_up(total: Int64s, rows: Rows | None, vectors: list[Int64s], weights: list[int]) -> None:
    """Make the `total` in these rows (None: in all) the weighted sum of the vectors, of which there must be any."""
    if compiled is not None:
        done: Literal[False] | None = compiled.add_up(total, rows, vectors, weights)
        if done is None:
            return
    where = slice(len(total)) if rows is None else rows
    found = vectors[0][where] * weights[0]
    for vector, weight in zip(vectors[1:], weights[1:], strict=True):
        found += vector[where] * weight
    total[where] = found


def leaders(totals: Int64s, rows: Rows) -> tuple[int, Rows]:
    """The highest total in these rows, of which there must be any; and the rows that have it, in their order."""
    if compiled is not None:
        leading: tuple[int, Rows] = compiled.leaders(totals, rows)
        return leading
    there = totals[rows]
    top = np.maximum.reduce(there)
    return int(top), rows[(there == top).nonzero()[0]]


def distinct(rows: list[int], values: list[int], first: int, mask: int) -> Rows:
    """The rows from the place `first` on whose value has a bit of the mask, each once."""
    if compiled is not None:
        told_once: Rows = compiled.distinct(rows, values, first, mask)
        return told_once
    found = {row for row, value in zip(rows[first:], values[first:], strict=True) if value & mask}
    return np.fromiter(found, np.intp, len(found))


def narrowed(vector: Vector) -> int | npt.NDArray[np.uint8] | None:
    """The value of all entries of integers, of which there must be any, if they are all the same; else a copy in bytes.

    None if that is beyond bytes.
    """
    if compiled is not None:
        found: int | npt.NDArray[np.uint8] | Literal[False] | None = compiled.narrowed(vector)
        if found is not False:
            return found
    lowest, highest = int(np.minimum.reduce(vector)), int(np.maximum.reduce(vector))
    if lowest == highest:
        return lowest
    return vector.astype(np.uint8) if lowest >= 0 and highest <= _BYTE else None


_BYTE = 255
