"""Which nodes are near enough to, and far enough from, other pods (interpodaffinity/filtering.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from scheduler.api.topology_labels import HOSTNAME_LABEL
from scheduler.cache.counters import REQUIRED_ANTI
from scheduler.framework.arithmetic import some
from scheduler.plugins.interpodaffinity.terms import add_up

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scheduler.cache.counters import DomainTally
    from scheduler.cache.nodes import NodeView
    from scheduler.cache.shapes import LabelClass
    from scheduler.cache.state import ClusterState
    from scheduler.plugins.interpodaffinity.terms import OwnTerms

Codes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

NO_AFFINITY: Final = 1
"""No pod that the pod wants to be near to is in the node's domains."""
OWN_ANTI_AFFINITY: Final = 2
"""A pod that the pod keeps away from is in a domain of the node."""
EXISTING_ANTI_AFFINITY: Final = 3
"""A pod that keeps away from the pod is in a domain of the node."""


def affinity_codes(own: OwnTerms, state: ClusterState, label_class: LabelClass, nodes: NodeView) -> Codes | None:
    """uint8, one a row of the view: 0, or the code of the first rule that the node breaks; None if all fit."""
    broken = (
        (EXISTING_ANTI_AFFINITY, _occupied(existing_anti_affinity(state, label_class), nodes)),
        (OWN_ANTI_AFFINITY, _occupied(own.anti_affinity, nodes)),
        (NO_AFFINITY, _far(own, nodes) if own.affinity else None),
    )
    codes: Codes | None = None
    for code, mask in broken:
        if mask is None:
            continue
        if codes is None:
            codes = mask.view(np.uint8) * np.uint8(code)  # several times as quick as an assignment under a mask
        else:
            np.copyto(codes, code, where=mask)
    return codes


def existing_anti_affinity(state: ClusterState, label_class: LabelClass) -> list[DomainTally]:
    """Tallies of the pods whose anti-affinity keeps pods of a label class away."""
    counters = state.counters
    return [
        counters.tally(held.counter, held.term.topology_key)
        for held in counters.held_matching(REQUIRED_ANTI, label_class)
    ]


def any_keeps_hostname_free(state: ClusterState) -> bool:
    """Whether any assigned pod has a required anti-affinity term by hostname, whomever it is against."""
    held_terms = state.counters.held[REQUIRED_ANTI].values()
    return any(held.counter.total and held.term.topology_key == HOSTNAME_LABEL for held in held_terms)


def _occupied(tallies: Iterable[DomainTally], nodes: NodeView) -> Mask | None:
    """Which nodes are in a domain with a counted pod; None if none is. Nodes without the label are in no domain."""
    occupied: Mask | None = None
    for column, totals in add_up(((tally, 1) for tally in tallies), nodes.table.size).items():
        here = (totals > 0)[column.ids[nodes.rows]]
        occupied = here if occupied is None else occupied | here
    return occupied


def _far(own: OwnTerms, nodes: NodeView) -> Mask:
    """Which nodes lack a topology key, or a matching pod in the domain of one.

    If no domain at all has such a pod, a pod that matches its own terms may be the first (satisfiesSelfAffinityCheck).
    """
    size = nodes.table.size
    sums = [tally.sums(size) for tally in own.affinity]
    is_first = own.self_match and not any(some(counts) for counts in sums)
    far: Mask | None = None
    for tally, counts in zip(own.affinity, sums, strict=True):
        ids = tally.column.ids[nodes.rows]
        here = ids == 0 if is_first else (counts <= 0)[ids]
        far = here if far is None else far | here
    assert far is not None
    return far
