"""Why a choice may be right although it is not the best here: what the other scheduler knew, and where it looked.

A scheduler counts a pod on its node as soon as it has decided, while others hear of it when it is bound, and binds
overtake each other. And kube-scheduler looks at a sample of the nodes, from a place that only it knows.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from scheduler.cache.order import zone_key
from scheduler.cycle.algorithm import ALL_NODES, Algorithm, Decision, FitError
from scheduler.cycle.sampling import nodes_to_find
from scheduler.framework.cycle import Cycle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scheduler.cache.pods import PodInfo
    from scheduler.cache.state import ClusterState
    from scheduler.framework.profile import Profile

_COUNTS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
_STARTS: Final = 12
"""From how many places, evenly spread, a sample is tried at most."""


def decide(state: ClusterState, profile: Profile, pod: PodInfo, *, algorithm: Algorithm | None = None) -> Decision:
    """A decision on a pod, feasible nodes or none; all nodes are looked at unless the algorithm says otherwise.

    Raises PluginError, and NoNodesError.
    """
    begun: list[Decision] = []
    cycle = Cycle(pod, state, profile.name)
    with suppress(FitError):
        (algorithm or Algorithm(state, all_nodes=True)).decide(profile, pod, cycle=cycle, observe=begun.append)
    return begun[0]


@contextmanager
def without(state: ClusterState, uids: Sequence[str]) -> Iterator[bool]:
    """The state without some of its pods, for a while; yields whether all of them were there."""
    with state.what_if() as trial:
        pods = [state.pods.get(uid) for uid in uids]
        for pod in pods:
            if pod is not None:
                trial.remove(pod)
        yield all(pod is not None for pod in pods)


def chosen_among_best(decision: Decision, node: str) -> bool:
    """Whether a node is among those of the highest total; whether there is none, where none was chosen."""
    if not node:
        return not len(decision.feasible)
    row = decision.cycle.state.nodes.rows.get(node)
    return row is not None and bool(np.any(decision.best == row))


class Explanation(NamedTuple):
    """What must be assumed for a choice to be the best: the pods in flight that the other scheduler had not counted,
    and how many nodes that fit it looked at (None for all)."""

    left_out: int
    sampled: int | None


def explanation(
    state: ClusterState,
    profile: Profile,
    pod: PodInfo,
    node: str,
    *,
    earlier: Sequence[str],
    later: Sequence[str] = (),
    percentage: int,
) -> Explanation | None:
    """Under which circumstances `node` ("" for none) is among the best, the simplest first; None if under none.

    `earlier` and `later` are the uids of pods that were bound shortly before and after, the last one first; with
    `later` the pod itself is bound by now, and never counted. `percentage` is the percentageOfNodesToScore of profiles
    without one of their own. Raises PluginError, NoNodesError.
    """
    itself = [pod.uid] if state.pods.get(pod.uid) is not None else []
    ways = list(_uncounted(state, node, earlier, later))
    for sampling in (False, True):
        for uids in ways:
            with without(state, [*itself, *uids]) as known:
                if not known:
                    continue
                if not sampling:
                    if chosen_among_best(decide(state, profile, pod), node):
                        return Explanation(len(uids), None)
                elif (sampled := agreeing_sample(state, profile, pod, node, percentage)) is not None:
                    return Explanation(len(uids), len(sampled.feasible))
    return None


def _uncounted(
    state: ClusterState, node: str, earlier: Sequence[str], later: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    """Pods in flight that the other scheduler may not have counted: the last ones, those on the chosen node, and those
    in its zone. Any set may be the right one, and these are the ones that speak against the node."""
    yield ()
    if not later:
        for count in _COUNTS:
            if count <= len(earlier):
                yield tuple(earlier[:count])
    row = state.nodes.rows.get(node)
    if row is None:
        return
    flying = [(uid, place.node_name) for uid in (*later, *earlier) if (place := state.pods.get(uid)) is not None]
    beside = tuple(uid for uid, name in flying if name == node)
    if beside:
        yield beside
    zone = zone_key(state.nodes.node(row))
    near = tuple(
        uid
        for uid, name in flying
        if name in state.nodes and zone_key(state.nodes.node(state.nodes.rows[name])) == zone
    )
    if near not in ((), beside):
        yield near


def agreeing_sample(state: ClusterState, profile: Profile, pod: PodInfo, node: str, percentage: int) -> Decision | None:
    """A decision on a sample of the nodes in which `node` is among the best; None where none was found.

    Where a search would have to begin so that it ends before it comes to a better node is tried first, then some places
    evenly spread, since scores depend on the other nodes in the sample. Raises PluginError, NoNodesError.
    """
    total = len(state.nodes)
    own = profile.percentage_of_nodes_to_score
    percentage = percentage if own is None else own
    row = state.nodes.rows.get(node)
    if row is None or percentage >= ALL_NODES or nodes_to_find(percentage, total) >= total:
        return None
    algorithm = Algorithm(state, percentage_of_nodes_to_score=percentage)
    for start in _starts(decide(state, profile, pod), row):
        algorithm.next_start = start
        decision = decide(state, profile, pod, algorithm=algorithm)
        if chosen_among_best(decision, node):
            return decision
    return None


def _starts(decision: Decision, row: int) -> Iterator[int]:
    """Places in the order of nodes from which a search may find the node in a row to be the best, by promise."""
    if decision.totals is None or row not in decision.feasible:
        return
    order = decision.cycle.state.nodes.order.rows()
    totals = np.full(decision.cycle.nodes.size, -1, np.int64)
    totals[decision.feasible] = decision.totals
    place = int(np.flatnonzero(order == row)[0])
    turned = np.roll(totals[order], -place)  # the node itself comes first
    better = np.flatnonzero(turned > turned[0])
    if len(better):
        yield (place + int(better[-1]) + 1) % len(order)
    yield from ((place - back) % len(order) for back in range(0, len(order), max(1, len(order) // _STARTS)))
