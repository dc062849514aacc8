"""The two sides of a cluster as the scheduler sees it: where objects come from and where decisions go.

Both the real API server (``informers.Informers``, ``dispatcher.Dispatcher``) and the in-process cluster
(``memory.MemoryCluster``, ``memory.MemoryWriter``) implement them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

from scheduler.api.objects import Model, ObjectReference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.api.objects import PersistentVolume, PersistentVolumeClaim, PodCondition
    from scheduler.client.informer import Informer, KeepPolicy
    from scheduler.client.kinds import Resource, Selection, T
    from scheduler.client.status import StatusPatch

__all__ = ["Event", "EventSeries", "EventSink", "Source", "Writer"]


class EventSeries(Model, frozen=True, omit_defaults=True):
    """events.k8s.io/v1 EventSeries: how often an event was repeated, and when last (RFC 3339, microseconds)."""

    count: int
    last_observed_time: str


class Event(Model, frozen=True, omit_defaults=True):
    """events.k8s.io/v1 Event, without what the API server fills in. Times are RFC 3339 texts."""

    name: str
    namespace: str
    event_time: str
    reporting_controller: str
    reporting_instance: str
    action: str
    reason: str
    regarding: ObjectReference
    type: str
    note: str = ""
    related: ObjectReference | None = None
    series: EventSeries | None = None
    annotations: dict[str, str] = msgspec.field(default_factory=dict)


class Source(Protocol):
    """The read side: informers of resources."""

    def informer(
        self,
        resource: Resource[T],
        *,
        selection: Selection[T] | None = None,
        keep: KeepPolicy | None = None,
        optional: bool = False,
    ) -> Informer[T]:
        """The informer of a resource, begun on first demand (whose arguments stay in force).

        With ``optional`` a server that does not have the resource counts as one that has no objects of it.
        """

    async def wait_for_sync(self, within: float) -> None:
        """Return when all informers have delivered their first list.

        Raises SyncTimeoutError after ``within`` seconds; it names the resources that are missing and why.
        """


class EventSink(Protocol):
    """Where event objects go. Neither call waits or fails: what can't be written is dropped and counted."""

    def create_event(self, event: Event) -> None:
        """Write a new event."""

    def patch_event(self, event: Event) -> None:
        """Write the event's series onto the event that exists; create it whole if it is gone."""


class Writer(EventSink, Protocol):
    """The write side: everything that the scheduler does to a cluster."""

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """Bind the pod to the node, and return when it is known to be bound there.

        Raises PodGoneError, BindConflictError, BindTimeoutError (all BindError), or ApiError for any other
        refusal.
        """

    def patch_pod_status(
        self,
        namespace: str,
        name: str,
        uid: str,
        *,
        conditions: Sequence[PodCondition] = (),
        nominated_node_name: str | None = None,
    ) -> None:
        """Set conditions (by type) and, unless None, ``status.nominatedNodeName``; an empty name clears it.

        Does not wait. A later patch of the same pod is merged into one that has not been sent; no patch is
        sent once a bind of the pod was begun, unless that bind has failed.
        """

    def pending_status(self, uid: str) -> StatusPatch | None:
        """What patches of the pod's status that are waiting or under way set together, None if there are none."""

    async def status_written(self, uid: str) -> None:
        """Return once no patch of the pod's status is waiting or under way, whatever came of them."""

    async def set_pod_condition(
        self, namespace: str, name: str, uid: str, condition: PodCondition, *, present: Sequence[str] = ()
    ) -> bool:
        """Set one condition of a pod, bound or not, and return when that is done.

        ``present`` are the types of all conditions that the pod has, in their order, which stays; a new one comes last.
        Answers False if the pod is gone. Raises ApiError (a conflict, if it was replaced) or TransportError.
        """

    async def delete_pod(self, namespace: str, name: str, uid: str) -> bool:
        """Delete the pod; False if it is gone already or was replaced. Raises ApiError or TransportError."""

    async def update_volume(self, volume: PersistentVolume) -> PersistentVolume:
        """Write the volume's reference to its claim, and its annotations; answers the volume as it is then.

        Raises ApiError (a conflict, if the volume has another resource version by now) or TransportError.
        """

    async def update_claim(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        """Write the claim's annotations; answers and raises as ``update_volume`` does."""
