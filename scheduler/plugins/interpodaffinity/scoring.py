"""How much a node is liked for the pods near it (interpodaffinity/scoring.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from scheduler.cache.counters import PREFERRED, REQUIRED
from scheduler.framework.arithmetic import bounds
from scheduler.plugins.interpodaffinity.terms import add_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.cache.counters import DomainTally
    from scheduler.cache.labels import LabelColumn
    from scheduler.cache.nodes import NodeView
    from scheduler.cache.shapes import LabelClass
    from scheduler.cache.state import ClusterState
    from scheduler.plugins.interpodaffinity.terms import OwnTerms

Int64s = npt.NDArray[np.int64]
TopologyScores = dict["LabelColumn", Int64s]

MAX_NODE_SCORE: Final = 100


def topology_scores(own: OwnTerms, state: ClusterState, label_class: LabelClass, hard_weight: int) -> TopologyScores:
    """The score of each domain, int64 over ids of each topology key; empty if no term matches a pod in any domain.

    What counts is the pod's own preferences, those of existing pods, and the required affinity of existing pods, each
    term of which weighs `hard_weight`.
    """
    counters = state.counters
    if not own.preferred and not counters.held[PREFERRED] and not counters.held[REQUIRED]:
        return {}

    def weighted() -> Iterator[tuple[DomainTally, int]]:
        yield from own.preferred
        for held in counters.held_matching(PREFERRED, label_class):
            yield counters.tally(held.counter, held.term.topology_key), held.weight
        if hard_weight > 0:
            for held in counters.held_matching(REQUIRED, label_class):
                yield counters.tally(held.counter, held.term.topology_key), hard_weight

    return add_up(weighted(), state.nodes.size)


def raw_scores(scores: TopologyScores, nodes: NodeView) -> Int64s:
    """int64, one a row of the view: the sum over the node's domains."""
    total = np.zeros(len(nodes), np.int64)
    for column, by_domain in scores.items():
        total += by_domain[column.ids[nodes.rows]]
    return total


def normalized(scores: Int64s) -> Int64s:
    """int64 in 0..100, spread out between the lowest and the highest; all 0 if these are equal.

    As in kube-scheduler the division comes first, and the product is truncated: 29 of 100 gives 28.
    """
    if not len(scores):
        return scores
    lowest, highest = bounds(scores)
    if lowest == highest:
        return np.zeros(len(scores), np.int64)
    return (float(MAX_NODE_SCORE) * ((scores - lowest) / float(highest - lowest))).astype(np.int64)
