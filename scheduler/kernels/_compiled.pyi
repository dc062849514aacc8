# What `_compiled.c` has. Arrays of another type or form than asked for raise TypeError, rows beyond them IndexError.

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Int64s: TypeAlias = npt.NDArray[np.int64]
Vector: TypeAlias = npt.NDArray[Any]
Rows: TypeAlias = npt.NDArray[np.intp]

# Allocatable and requested, int64[R, n]; nonzero, int64[2, n]; allowed pods and pods, int64[n].
Columns: TypeAlias = tuple[Int64s, Int64s, Int64s, Int64s, Int64s]

# What follows for a node from amounts: see `formula.py`. Raises ValueError and OverflowError for what it can not be
# made for.
class Formula:
    def __init__(
        self, kind: str, indices: Sequence[int], amounts: Sequence[int], weights: Sequence[int], nonzero: bool
    ) -> None: ...

    # The value of one node; None if a number is not exact.
    def at(self, columns: Columns, row: int, /) -> int | None: ...

    # Those of some rows, or of so many of the first ones: int64 scores or uint8 codes. None as before.
    def of(self, columns: Columns, rows: Rows | int, /) -> Vector | None: ...

# These are told of in `rows.py`. False stands for vectors of types that they are not made for.
def known(vector: Vector, rows: Rows, part: Vector, /) -> Vector | Literal[False] | None: ...
def add_up(total: Int64s, rows: Rows | None, vectors: list[Int64s], weights: list[int], /) -> Literal[False] | None: ...
def leaders(totals: Int64s, rows: Rows, /) -> tuple[int, Rows]: ...
def distinct(rows: list[int], values: list[int], first: int, mask: int, /) -> Rows: ...
def narrowed(vector: Vector, /) -> int | npt.NDArray[np.uint8] | Literal[False] | None: ...
