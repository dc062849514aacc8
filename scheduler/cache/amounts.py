"""What pods take, as columns like those of the node table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.cache.nodes import NodeTable
    from scheduler.cache.shapes import Usage


def amounts(table: NodeTable, usages: Sequence[Usage]) -> npt.NDArray[np.int64]:
    """int64[resources + 3, usages]: requests in the order of the table, nonzero CPU and memory, and 1 for the pod.

    Resources that the table does not know yet get a place there first.
    """
    indices = {name: table.resource(name) for usage in usages for name in usage.requests}
    found = np.zeros((len(table.resources) + 3, len(usages)), np.int64)
    for column, usage in enumerate(usages):
        for name, amount in usage.requests.items():
            found[indices[name], column] = amount
        found[-3:, column] = usage.nonzero_cpu, usage.nonzero_memory, 1
    return found
