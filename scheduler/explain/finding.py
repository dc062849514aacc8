"""Pods and nodes by a part of their names."""

from __future__ import annotations

import heapq
from itertools import chain, count
from typing import TYPE_CHECKING, TypeVar

from scheduler.explain.pod_view import PENDING, SCHEDULED
from scheduler.explain.views import Found, FoundPod

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scheduler.cache.pods import PodInfo
    from scheduler.cycle.scheduler import Scheduler

K = TypeVar("K", bound="tuple[bool, str] | tuple[bool, str, str, str]")


def find(scheduler: Scheduler, text: str, limit: int) -> Found:
    """Pods and nodes that have `text` in their name, in capitals or not; at most `limit` of each.

    A slash stands between the end of a namespace and the beginning of a pod's name. Names that begin with the text come
    first, and so what is called just that; else they are sorted, so that an answer changes with the cluster only. It
    takes one pass over the names and room for the best: an index would have to be kept right with every pod that comes
    and goes, for somebody who types some letters a day.
    """
    wanted, state = text.lower(), scheduler.state
    waiting = (pod for pod in scheduler.unscheduled if state.pods.get(pod.uid) is None)
    pods, pod_count = _best(limit, _pods(chain(state.pods, waiting), wanted))
    nodes, node_count = _best(limit, _nodes(state.nodes.rows, wanted))
    return Found(
        pods=tuple(_found(scheduler, *key) for _, *key in pods),
        pod_count=pod_count,
        nodes=tuple(name for _, name in nodes),
        node_count=node_count,
    )


def _pods(pods: Iterable[PodInfo], wanted: str) -> Iterable[tuple[bool, str, str, str]]:
    """What those that match are sorted by: whether it is not from the beginning, name, namespace, uid."""
    namespace, slash, start = wanted.partition("/")
    if slash:
        return (
            (pod.namespace != namespace, pod.name, pod.namespace, pod.uid)
            for pod in pods
            if pod.name.startswith(start) and pod.namespace.endswith(namespace)
        )
    return ((not pod.name.startswith(wanted), pod.name, pod.namespace, pod.uid) for pod in pods if wanted in pod.name)


def _nodes(names: Iterable[str], wanted: str) -> Iterable[tuple[bool, str]]:
    return ((not name.startswith(wanted), name) for name in names if wanted in name)


def _found(scheduler: Scheduler, name: str, namespace: str, uid: str) -> FoundPod:
    placed = scheduler.state.pods.get(uid)
    state = PENDING if placed is None or scheduler.state.is_assumed(uid) else SCHEDULED
    return FoundPod(pod=f"{namespace}/{name}", state=state, node=placed.node_name if placed is not None else "")


def _best(limit: int, keys: Iterable[K]) -> tuple[list[K], int]:
    """The smallest keys, and how many there are in all."""
    counter = count()
    best = heapq.nsmallest(limit, zip(keys, counter, strict=False))
    return [key for key, _ in best], next(counter)
