"""Pods as compact records, and the table of those that are assigned to a node."""

from __future__ import annotations

import weakref
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

from scheduler.api.conditions import (
    DISRUPTION_TARGET,
    POD_SCHEDULED,
    find_condition,
    is_terminating,
    pod_priority,
)
from scheduler.api.objects import ObjectReference
from scheduler.api.times import parse_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from scheduler.api.objects import Pod, PodCondition
    from scheduler.cache.shapes import PodShape, ShapeTable, Usage

NO_ROW: Final = -1
"""The row of a pod whose node isn't there."""


class PodInfo(msgspec.Struct, gc=False, eq=False, kw_only=True):
    """What is kept of a pod; compared by identity. Everything else of it is in its `shape`.

    Times are seconds since the epoch. `row` is the node's row while the pod is counted there.
    """

    uid: str
    namespace: str
    name: str
    shape: PodShape
    usage: Usage
    node_name: str = ""
    nominated_node_name: str = ""
    scheduler_name: str = ""
    priority: int = 0
    preemption_policy: str | None = None
    created: float = 0.0
    start_time: float | None = None
    terminating: bool = False
    phase: str = ""
    resource_version: str = ""
    generation: int = 0
    scheduled_condition: PodCondition | None = None
    """The condition PodScheduled, so that only a changed one is written."""
    preempted: bool = False
    """Whether a scheduler has preempted it: condition DisruptionTarget with reason PreemptionByScheduler."""
    condition_types: tuple[str, ...] = ()
    """The types of all its conditions, in their order."""
    gates: tuple[str, ...] = ()
    row: int = NO_ROW

    @property
    def key(self) -> str:
        """namespace/name."""
        return f"{self.namespace}/{self.name}"

    @property
    def reference(self) -> ObjectReference:
        """How events refer to it."""
        return ObjectReference(
            api_version="v1",
            kind="Pod",
            namespace=self.namespace,
            name=self.name,
            uid=self.uid,
            resource_version=self.resource_version,
        )

    def on(self, node_name: str) -> PodInfo:
        """A record of the same pod as it will be once it is bound to a node."""
        placed: PodInfo = msgspec.structs.replace(self, node_name=node_name, row=NO_ROW)
        return placed


@lru_cache(maxsize=1024)
def _shared(types: tuple[str, ...]) -> tuple[str, ...]:
    """The same tuple for all pods that have the same conditions."""
    return types


def pod_info(pod: Pod, shapes: ShapeTable) -> PodInfo:
    """The record of a pod."""
    meta, spec, status = pod.metadata, pod.spec, pod.status
    shape = shapes.shape(pod)
    target = scheduled = None
    types: tuple[str, ...] = ()
    if status.conditions:
        target, scheduled = find_condition(pod, DISRUPTION_TARGET), find_condition(pod, POD_SCHEDULED)
        types = _shared(tuple([condition.type for condition in status.conditions]))
    return PodInfo(
        uid=meta.uid,
        namespace=meta.namespace,
        name=meta.name,
        shape=shape,
        usage=shapes.usage(shape, pod),
        node_name=spec.node_name,
        nominated_node_name=status.nominated_node_name,
        scheduler_name=spec.scheduler_name,
        priority=pod_priority(pod),
        preemption_policy=spec.preemption_policy,
        created=parse_time(meta.creation_timestamp) if meta.creation_timestamp else 0.0,
        start_time=parse_time(status.start_time) if status.start_time else None,
        terminating=is_terminating(pod),
        phase=status.phase,
        resource_version=meta.resource_version,
        generation=meta.generation,
        scheduled_condition=scheduled,
        preempted=target is not None and target.status == "True" and target.reason == "PreemptionByScheduler",
        condition_types=types,
        gates=tuple([gate.name for gate in spec.scheduling_gates]) if spec.scheduling_gates else (),
    )


class PodTable:
    """Assigned pods by uid and by the name of their node, which need not exist.

    The pods of a node are in kube-scheduler's order, which settles between victims of preemption that matter as much:
    a new one comes last, and the last one takes the place of one that goes (pkg/scheduler/framework/types.go,
    removeFromSlice). A pod that changes goes and comes.
    """

    __slots__ = ("_by_node", "_by_uid", "_followers", "_places")

    def __init__(self) -> None:
        self._by_uid: dict[str, PodInfo] = {}
        self._by_node: dict[str, list[PodInfo]] = {}
        self._places: dict[str, int] = {}
        self._followers: list[weakref.ref[set[str]]] = []

    def __len__(self) -> int:
        return len(self._by_uid)

    def __iter__(self) -> Iterator[PodInfo]:
        return iter(self._by_uid.values())

    def get(self, uid: str) -> PodInfo | None:
        """The pod of that uid, if assigned."""
        return self._by_uid.get(uid)

    def among(self, uids: AbstractSet[str]) -> AbstractSet[str]:
        """Those of these pods that are assigned."""
        return uids & self._by_uid.keys()

    def on_node(self, name: str) -> list[PodInfo]:
        """The pods assigned to a node."""
        return list(self._by_node.get(name, ()))

    def add(self, pod: PodInfo) -> None:
        """Store a pod, which is not there yet, under its node's name."""
        self._by_uid[pod.uid] = pod
        on_node = self._by_node.setdefault(pod.node_name, [])
        self._places[pod.uid] = len(on_node)
        on_node.append(pod)
        if self._followers:
            self._touch(pod.node_name)

    def remove(self, pod: PodInfo) -> None:
        """Forget a pod that was added."""
        del self._by_uid[pod.uid]
        place = self._places.pop(pod.uid)
        on_node = self._by_node[pod.node_name]
        last = on_node.pop()
        if place < len(on_node):
            on_node[place] = last
            self._places[last.uid] = place
        if not on_node:
            del self._by_node[pod.node_name]
        if self._followers:
            self._touch(pod.node_name)

    def follow(self) -> set[str]:
        """The names of the nodes whose pods, or their order, change from now on; for the caller to empty.

        It grows for as long as the caller holds it.
        """
        touched: set[str] = set()
        self._followers.append(weakref.ref(touched, self._followers.remove))
        return touched

    def _touch(self, name: str) -> None:
        for follower in self._followers:
            touched = follower()
            if touched is not None:
                touched.add(name)

    def arrange(self, name: str, pods: Sequence[PodInfo]) -> None:
        """Put the pods of a node in an order that they were in before."""
        if pods:
            self._by_node[name] = list(pods)
            self._places.update((pod.uid, place) for place, pod in enumerate(pods))
            self._touch(name)
