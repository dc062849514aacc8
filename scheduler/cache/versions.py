"""Vectors that are patched in place, as they were at some earlier time.

Whoever wants to see a vector later as it is now holds a `Version` of it. No copy is made for that: each patch leaves
with the version before it what it overwrote, and a link to the version after it. So old versions are found by walking
to a newer one that is there in full and undoing what came since; what nobody holds any more is freed by itself.
"""

from __future__ import annotations

import sys
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from scheduler.kernels.rows import narrowed

Vector = npt.NDArray[Any]

FULL_EVERY: Final = 128
"""After so many patches a copy is kept: it bounds the walk to an old version, and what one old version keeps alive."""
_SHARE: Final = 16
"""A patch of more than one row in so many is not worth more than a copy."""

_OBJECT: Final = 88
_ARRAY: Final = sys.getsizeof(np.empty(0, np.int64))
_INT: Final = 32


class Ledger:
    """The bytes that are kept for the sake of records."""

    __slots__ = ("bytes",)

    def __init__(self) -> None:
        self.bytes = 0


class Version:
    """A vector as it was at one moment, for as long as this is held."""

    __slots__ = ("_age", "_copy", "_cost", "_ledger", "_next", "_owner", "_rows", "_values")

    def __init__(self, owner: Versioned, ledger: Ledger, age: int = 0) -> None:
        self._owner: Versioned | None = owner
        self._ledger = ledger
        self._age = age
        self._copy: Vector | None = None
        self._next: Version | None = None
        self._rows: Any = None
        self._values: Any = None
        self._cost = 0

    def restore(self) -> Vector:
        """The vector as it was, in an array of its own; it may have become longer at its end since."""
        chain = []
        version = self
        while version._next is not None:
            chain.append(version)
            version = version._next
        source = version._copy
        if source is None:
            assert version._owner is not None
            source = version._owner.vector
            assert source is not None
        # Codes and scores are kept in as few bytes as hold them; what is undone may need more.
        restored: Vector = source.astype(np.int64) if source.dtype.kind in "iu" else source.copy()
        for step in reversed(chain):
            restored[step._rows] = step._values
        return restored

    def patched(self, vector: Vector, rows: int | npt.NDArray[np.intp], known: Vector | None = None) -> Version:
        """These rows, or this one, are about to be overwritten; the version that the vector has then.

        `known` is what several rows hold so far, an array that nobody changes any more.
        """
        ledger, age, count = self._ledger, self._age + 1, 1 if isinstance(rows, int) else len(rows)
        owner = self._owner
        assert owner is not None
        follower = Version(owner, ledger, age)
        if age % FULL_EVERY == 0 or count * _SHARE > len(vector):
            self.keep(vector)
            return follower
        if isinstance(rows, int) or count == 1:
            row = self._rows = rows if isinstance(rows, int) else rows.item()
            self._values = vector[row]
            self._cost = _OBJECT + 2 * _INT
        else:
            self._rows = rows.astype(np.int32)
            self._values = vector[rows] if known is None else known
            self._cost = _OBJECT + 2 * _ARRAY + self._rows.nbytes + self._values.nbytes
        self._owner = None
        self._next = follower
        ledger.bytes += self._cost
        return follower

    def keep(self, vector: Vector) -> None:
        """The vector is about to go, or to become another one: keep a copy."""
        self._copy = shrunk(vector)
        self._owner = None
        self._cost = _OBJECT + memory_of(self._copy)
        self._ledger.bytes += self._cost

    def __del__(self) -> None:
        self._ledger.bytes -= self._cost


class Versioned:
    """A vector that tells its versions of every change. `vector` is None while there is nothing to store."""

    __slots__ = ("_version", "vector")

    def __init__(self) -> None:
        self.vector: Vector | None = None
        self._version: Version | None = None

    def hold(self, ledger: Ledger) -> Version:
        """The vector, which must be there, as it is now."""
        version = self._version
        if version is None:
            version = self._version = Version(self, ledger)
        return version

    def before_patch(self, rows: int | npt.NDArray[np.intp], known: Vector | None = None) -> None:
        """To be called before rows, or one, are overwritten; `known`: what several hold so far, if it is at hand."""
        if self._version is not None and self.vector is not None:
            self._version = self._version.patched(self.vector, rows, known)

    def before_change(self) -> None:
        """To be called before the vector becomes another one, or goes."""
        if self._version is not None and self.vector is not None:
            self._version.keep(self.vector)
            self._version = None


def memory_of(array: Vector) -> int:
    """The bytes that an array takes; of one whose values are all one and the same, that is one value."""
    if array.ndim and len(array) and not array.strides[0]:
        return 2 * _ARRAY + array.itemsize
    return _ARRAY + array.nbytes


def shrunk(vector: Vector) -> Vector:
    """A copy in as few bytes as hold all values: of integers that are all equal only one is kept."""
    if vector.dtype.kind not in "iu" or not len(vector):
        return vector.copy()
    narrow = narrowed(vector)
    if isinstance(narrow, int):
        return np.broadcast_to(np.array([narrow], vector.dtype), vector.shape)
    if narrow is not None:
        return narrow
    lowest, highest = np.minimum.reduce(vector), np.maximum.reduce(vector)
    # Of signed integers, one that holds ~highest holds highest.
    bound = highest if lowest >= 0 else min(lowest, ~highest)
    return vector.astype(np.min_scalar_type(bound))
