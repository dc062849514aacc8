"""Formulas that are compiled; their twins are in the plugins whose formulas they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from scheduler.kernels.compiled import compiled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.kernels._compiled import Formula

Kind = Literal["room", "least", "most", "balance"]
"""What is reckoned from the amounts of some resources.

- `room`: the code of what a node lacks: 1 for too many pods, 4 for the first resource, 8 for the second, and so on; 2
  if it is more than the node has in all.
- `least`, `most`: the weighted mean of the percentages that stay free, or are in use.
- `balance`: of two resources, 75 if they stay as far apart in use as they are, up to 100 if they come closer.
"""


def formula(
    kind: Kind, indices: Sequence[int], amounts: Sequence[int], *, weights: Sequence[int] = (), nonzero: bool = False
) -> Formula | None:
    """The compiled formula for so much of the resources with these indices; None if there is none, or it can't be.

    With `nonzero`, defaults count for CPU and memory that pods do not request.
    """
    if compiled is None:
        return None
    try:
        made: Formula = compiled.Formula(kind, indices, amounts, weights or [1] * len(amounts), nonzero)
    except (OverflowError, ValueError):  # more resources than it is made for, or larger numbers
        return None
    return made
