"""Ways to come to the state of a case: straight, or by a history of other states with decisions in between.

The second leaves behind all that is kept from one decision to the next, and must make no difference.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from scheduler.api.conditions import is_terminal
from scheduler.api.objects import Namespace, Node, Pod
from scheduler.cycle.algorithm import Algorithm, FitError, NoNodesError
from scheduler.framework.status import PluginError
from scheduler.plugins.defaultpreemption.plugin import DefaultPreemption

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from scheduler.cache.pods import PodInfo
    from scheduler.cache.state import ClusterState
    from scheduler.cycle.algorithm import Decision
    from scheduler.framework.profile import Profile

_CHANGED_ALONE = 2
"""So many nodes change with decisions in between, the others at once."""
_CHANGED_LATE = 2
"""And so many when the pods are there."""


def fill(
    state: ClusterState,
    objects: Sequence[Any],
    profiles: Mapping[str, Profile],
    rehearse: Callable[[], None] | None = None,
    *,
    ordered: bool = False,
) -> None:
    """Put objects into a state; None among them is left out.

    With `rehearse`, which is to take decisions, they come by a history: nodes and pods are first a half of them, some
    are first like their neighbours (so that a node changes its zone, its taints and its size, and a pod its labels, its
    node or its status), and other objects go and come back. `ordered` says that the order of nodes counts, which a
    change of zone changes for good.
    """
    others = [item for item in objects if item is not None and not isinstance(item, Pod)]
    pods = [item for item in objects if isinstance(item, Pod) and not is_terminal(item)]
    if rehearse is None:
        for item in others:
            _set(state, item)
        for pod in pods:
            _set_pod(state, pod, profiles)
        return
    late = _others_by_history(state, others, rehearse, ordered=ordered)
    restarted = _pods_by_history(state, pods, profiles, rehearse)
    rehearse()
    for node in late:
        _set(state, node)
    for pod in restarted:
        _set_pod(state, pod, profiles)


def rehearsal(state: ClusterState, profile: Profile, pod: PodInfo) -> None:
    """Decide while another pod has a node in prospect, on the state so far, and while a pod comes and goes.

    Where no node fits, preemption is rehearsed.
    """
    names = [state.nodes.name(row) for row in np.flatnonzero(state.nodes.live).tolist()]
    twin = replace(pod, uid=f"{pod.uid}-twin", name=f"{pod.name}-twin")
    if names:
        state.nominations.add(twin, names[len(names) // 3])
        _decide(state, profile, pod)
        state.nominations.remove(twin.uid)
    _decide(state, profile, pod)
    with state.what_if() as trial:
        trial.add(twin, names[len(names) // 2] if names else "")
        _decide(state, profile, pod)


def _decide(state: ClusterState, profile: Profile, pod: PodInfo) -> None:
    begun: list[Decision] = []
    try:
        Algorithm(state, all_nodes=True).decide(profile, pod, observe=begun.append)
    except FitError as misfit:
        cycle = begun[0].cycle
        for plugin in profile.post_filter:
            if isinstance(plugin, DefaultPreemption):
                with suppress(PluginError):
                    plugin.rehearse(cycle, misfit.rejections)
    except (NoNodesError, PluginError):
        pass  # there is no decision that anything would be kept of


def _others_by_history(
    state: ClusterState, others: Sequence[Any], rehearse: Callable[[], None], *, ordered: bool
) -> list[Node]:
    """Put in all but pods; the nodes that are still to be made what they are when the pods are there."""
    nodes = [] if ordered else [item for item in others if isinstance(item, Node)]
    disguised = list(zip(nodes[1::2], nodes[::2], strict=False))
    stand_ins = {id(node): _like(node, other) for node, other in disguised}
    for number, item in enumerate(others):
        _set(state, stand_ins.get(id(item), item))
        if number == len(others) // 2:
            rehearse()
    early, late = disguised[:-_CHANGED_LATE], [node for node, _ in disguised[-_CHANGED_LATE:]]
    for number, (node, _) in enumerate(early):
        if number < _CHANGED_ALONE:
            rehearse()
        _set(state, node)
    rehearse()
    gone = [item for item in others if not isinstance(item, Node | Namespace)][::2]
    if gone:
        for item in gone:
            state.remove_object(type(item).__name__, item.metadata.namespace, item.metadata.name)
        rehearse()
        for item in gone:
            _set(state, item)
    return late


def _pods_by_history(
    state: ClusterState, pods: Sequence[Pod], profiles: Mapping[str, Profile], rehearse: Callable[[], None]
) -> list[Pod]:
    """Put in the pods; those whose status is still another one."""
    placed = [pod for pod in pods if pod.spec.node_name]
    disguised = list(zip(placed[1::3], placed[::3], strict=False))
    stand_ins = {id(pod): _in_place_of(pod, other) for pod, other in disguised}
    restarted = placed[2::3]
    for pod, other in zip(restarted, placed[1::3], strict=False):
        stand_ins[id(pod)] = replace(pod, status=other.status)
    for number, pod in enumerate(pods):
        _set_pod(state, stand_ins.get(id(pod), pod), profiles)
        if number == len(pods) // 2:
            rehearse()
    if disguised:
        rehearse()
    for pod, _ in disguised:
        # A pod does not move: it goes, and another one comes.
        state.remove_pod(pod.metadata.uid)
        _set_pod(state, pod, profiles)
    return restarted


def _like(node: Node, other: Node) -> Node:
    """The node as it would be with all that another one has but the name."""
    return replace(
        node, metadata=replace(node.metadata, labels=other.metadata.labels), spec=other.spec, status=other.status
    )


def _in_place_of(pod: Pod, other: Pod) -> Pod:
    """The pod with the labels and on the node of another one."""
    return replace(
        pod,
        metadata=replace(pod.metadata, labels=other.metadata.labels),
        spec=replace(pod.spec, node_name=other.spec.node_name),
    )


def _set(state: ClusterState, item: Any) -> None:
    if isinstance(item, Node):
        state.set_node(item)
    elif isinstance(item, Namespace):
        state.set_namespace(item)
    else:
        state.set_object(type(item).__name__, item)


def _set_pod(state: ClusterState, item: Pod, profiles: Mapping[str, Profile]) -> None:
    pod = state.info(item)
    if pod.node_name:
        state.set_pod(pod)
    elif pod.nominated_node_name and pod.scheduler_name in profiles:
        state.nominations.add(pod, pod.nominated_node_name)
