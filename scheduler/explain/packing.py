"""Vectors that are made anew in each cycle, kept in little memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from scheduler.cache.versions import memory_of, shrunk

if TYPE_CHECKING:
    from scheduler.cache.versions import Ledger

Vector = npt.NDArray[Any]

_BYTE: Final = 256
_SHARE: Final = 8
"""A difference in more than one place in so many is not worth more than the vector."""
_SHORTEST: Final = 256
"""Shorter vectors are kept whole."""
_OBJECT: Final = 80
_PATIENCE: Final = 4
"""After so many vectors without a likeness to the one before only every so many-th is compared."""
_AGAIN: Final = 16


class Packed:
    """A vector of integers: whole, or as what differs from another one."""

    __slots__ = ("_base", "_cost", "_ledger", "_places", "_values", "length")

    def __init__(
        self, length: int, values: Vector, ledger: Ledger, base: Packed | None = None, places: Vector | None = None
    ) -> None:
        self.length = length
        self._values = values
        self._base = base
        self._places = places
        self._ledger = ledger
        self._cost = _OBJECT + memory_of(values) + (0 if places is None else memory_of(places))
        ledger.bytes += self._cost

    def restore(self) -> npt.NDArray[np.int64]:
        """The vector, in an array of its own."""
        if self._base is None:
            return self._values.astype(np.int64)
        whole = self._base.restore()
        whole[self._places] = self._values
        return whole

    @property
    def is_base(self) -> bool:
        """Whether it is kept whole, and so may be what others differ from."""
        return self._base is None

    def difference(self, values: Vector) -> Packed | None:
        """A vector as what differs from this one; None where that is worth nothing, or this is no base."""
        own = self._values
        if self._base is not None or len(values) != self.length or own.dtype != values.dtype:
            return None
        places = np.flatnonzero(values != own)
        if len(places) * _SHARE > self.length:
            return None
        return Packed(self.length, values[places], self._ledger, self, places.astype(np.int32))

    def __del__(self) -> None:
        self._ledger.bytes -= self._cost


def pack(vector: Vector, ledger: Ledger, before: Packed | None = None) -> Packed:
    """Keep a vector, which must not be changed afterwards; `before` may differ from it in a few places only."""
    values = _bytes(vector)
    if before is not None and len(vector) >= _SHORTEST:
        if not before.is_base:
            before = before._base
        found = before.difference(values) if before is not None else None
        if found is not None:
            return found
    return Packed(len(vector), values, ledger)


def _bytes(vector: Vector) -> Vector:
    """The same numbers in bytes, where they are small; negative ones show as very large."""
    if vector.dtype == np.int64 and len(vector) and np.maximum.reduce(vector.view(np.uint64)) < _BYTE:
        vector = vector.astype(np.uint8)
    elif vector.dtype != np.uint8:
        return shrunk(vector)
    if len(vector) and vector[0] == vector[-1] and np.minimum.reduce(vector) == np.maximum.reduce(vector):
        return np.broadcast_to(vector[:1].copy(), vector.shape)
    return vector


class Packer:
    """Packs the vectors that are made anew in each cycle, each as what differs from one of its like before."""

    def __init__(self, ledger: Ledger, limit: int = 256) -> None:
        self._ledger = ledger
        self._limit = limit
        self._before: dict[tuple[int, str], Packed] = {}
        self._in_vain: dict[tuple[int, str], int] = {}
        """How many vectors of a kind in a row had too little in common with the one before."""

    def pack(self, like: tuple[int, str], vector: Vector) -> Packed:
        """Keep a vector; `like` names those that it may differ from in a few places only."""
        in_vain = self._in_vain.get(like, 0)
        before = self._before.get(like) if in_vain < _PATIENCE or in_vain % _AGAIN == 0 else None
        packed = pack(vector, self._ledger, before)
        if packed.is_base:
            self._in_vain[like] = in_vain + 1
            self._before.pop(like, None)
            self._before[like] = packed
            if len(self._before) > self._limit:
                oldest = next(iter(self._before))
                del self._before[oldest], self._in_vain[oldest]
        elif in_vain:
            self._in_vain[like] = 0
        return packed

    def clear(self) -> None:
        """Forget what vectors differed from."""
        self._before.clear()
        self._in_vain.clear()
