"""The codes that filters answer with: which there are among those of many nodes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[Any]

_SHORT: Final = 64
_HIGH: Final = 64


def codes_in(codes: Codes) -> list[int]:
    """The distinct codes that are not 0, in ascending order; there are few of them, and mostly they are small."""
    if len(codes) <= _SHORT:
        return sorted({code for code in codes.tolist() if code})
    highest = int(np.maximum.reduce(codes))
    if highest > _HIGH:
        return [code for code in np.unique(codes).tolist() if code]
    return [code for code in range(1, highest + 1) if code == highest or np.count_nonzero(codes == code)]
