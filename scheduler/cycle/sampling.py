"""Which nodes are looked at when not all of them are to be scored (pkg/scheduler/schedule_one.go)."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

MIN_FEASIBLE_NODES: Final = 100
MIN_PERCENTAGE: Final = 5

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]


def nodes_to_find(percentage: int, nodes: int) -> int:
    """How many feasible nodes are enough (numFeasibleNodesToFind). A percentage of 0 adapts to the number of nodes."""
    if nodes < MIN_FEASIBLE_NODES:
        return nodes
    if percentage == 0:
        percentage = max(50 - nodes // 125, MIN_PERCENTAGE)
    return max(nodes * percentage // 100, MIN_FEASIBLE_NODES)


def sample(order: Rows, start: int, fits: Mask, wanted: int) -> tuple[Rows, Rows]:
    """Go through `order` from position `start` and round, until more than `wanted` nodes that fit were seen.

    Returns the rows of the first `wanted` that fit, and the rows that were looked at without fitting, both in the order
    in which they were seen. As with one worker of kube-scheduler, the search ends at the first surplus node that fits.
    """
    turned = np.concatenate([order[start:], order[:start]]) if start else order
    good = fits[turned]
    positions = np.flatnonzero(good)
    if len(positions) > wanted:
        end = int(positions[wanted])
        return turned[positions[:wanted]], turned[:end][~good[:end]]
    return turned[positions], turned[~good]
