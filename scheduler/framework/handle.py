"""What a plugin is built with, besides its arguments."""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from scheduler.framework.waiting import WaitingPods
from scheduler.metrics.scheduler_metrics import SchedulerMetrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.api.objects import ObjectReference, PersistentVolume, PersistentVolumeClaim, PodCondition
    from scheduler.cache.state import ClusterState
    from scheduler.framework.interface import Plugin


class Binder(Protocol):
    """The write that DefaultBinder needs; the API writer and the in-process cluster both have it."""

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """Bind a pod through the Binding subresource. Raises an exception whose text goes into the pod's condition."""


class Evictor(Protocol):
    """The writes that preemption needs, of the same two writers. Both raise an exception where the API refuses."""

    async def set_pod_condition(
        self, namespace: str, name: str, uid: str, condition: PodCondition, *, present: Sequence[str] = ()
    ) -> bool:
        """Set a condition of a pod, bound or not; False if there is no such pod.

        `present` are the types of its conditions, in the order that they are to keep.
        """

    async def delete_pod(self, namespace: str, name: str, uid: str) -> bool:
        """Delete a pod; False if there is no such pod."""

    def patch_pod_status(
        self,
        namespace: str,
        name: str,
        uid: str,
        *,
        conditions: Sequence[PodCondition] = (),
        nominated_node_name: str | None = None,
    ) -> None:
        """Set conditions and, unless None, the nominated node of a pod that is not bound, without waiting."""

    async def status_written(self, uid: str) -> None:
        """Return once no patch of the pod's status is waiting or under way, whatever came of them."""


class VolumeWriter(Protocol):
    """The writes that binding volumes needs, of the same two writers.

    Both answer the object as it is stored then, and raise an exception where the API refuses: if the object has changed
    since, say.
    """

    async def update_volume(self, volume: PersistentVolume) -> PersistentVolume:
        """Write a volume's reference to its claim, and its annotations."""

    async def update_claim(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        """Write a claim's annotations."""


class Recorder(Protocol):
    """Records events in the name of a profile."""

    def record(
        self,
        regarding: ObjectReference,
        *,
        type: str,  # noqa: A002 (the field's name in Kubernetes)
        reason: str,
        action: str,
        note: str,
        related: ObjectReference | None = None,
    ) -> None:
        """Record that something happened to `regarding`; `type` is Normal or Warning."""


def _drop(work: Coroutine[Any, Any, None]) -> None:
    work.close()


class Handle(msgspec.Struct, frozen=True):
    """The scheduler as plugins see it: cluster state, writers, feature gates (by name).

    What has a default does nothing there: that is for taking single decisions, which have no consequences.
    """

    state: ClusterState
    binder: Binder
    feature_enabled: Callable[[str], bool]
    activate: Callable[[list[str]], None] = lambda _keys: None
    """Moves waiting pods ("namespace/name") to the active queue."""
    evictor: Evictor | None = None
    volume_writer: VolumeWriter | None = None
    turn_down: Callable[[str, str], bool] = lambda _uid, _plugin: False
    """(uid, plugin) -> whether a pod that waits at Permit or is in PreBind was turned down for the plugin's sake."""
    spawn: Callable[[Coroutine[Any, Any, None]], None] = _drop
    """Begins work that goes on beside scheduling."""
    recorders: Mapping[str, Recorder] = {}
    """By profile."""
    metrics: SchedulerMetrics = msgspec.field(default_factory=SchedulerMetrics)
    waiting: WaitingPods = msgspec.field(default_factory=WaitingPods)
    """The pods that wait at Permit: `waiting.get(uid).allow(name)` lets one go on, `.reject(name, why)` does not."""
    random: random.Random = msgspec.field(default_factory=random.Random)


Factory = Callable[[Any, Handle], "Plugin"]
"""(typed arguments or None, handle) -> plugin. Raises ValueError if the arguments make no sense."""
