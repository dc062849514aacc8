"""A cluster inside this process: what ``simulate`` and fast tests run on, with the interfaces of a real one.

Objects are kept as they are given, by kind. Every change is delivered to the informers before the call that
made it returns. There is no network, no waiting, and no controller: nothing happens but what is asked for.
"""

from __future__ import annotations

import time
import uuid
from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from scheduler.api.conditions import is_terminating
from scheduler.api.objects import PodCondition
from scheduler.client.errors import ApiError, BindConflictError, PodGoneError
from scheduler.client.informer import Informer, KeepPolicy
from scheduler.client.interface import EventSink, Source, Writer
from scheduler.client.kinds import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS, Selection
from scheduler.client.kinds import resource as resource_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from scheduler.api.objects import PersistentVolume, PersistentVolumeClaim, PodStatus
    from scheduler.client.interface import Event
    from scheduler.client.kinds import Key, Resource, T

__all__ = ["MemoryCluster", "MemoryWriter"]


class MemoryCluster(Source, EventSink):
    """Objects, their informers (``interface.Source``), and synchronous writes as the API server would do them."""

    def __init__(self, objects: Iterable[Any] = (), *, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._version = 0
        self._second = (-1, "")
        self._objects: dict[str, dict[Key, Any]] = {}
        self._informers: dict[str, tuple[Informer[Any], Selection[Any]]] = {}
        self._deltas: deque[tuple[str, Any, Any]] = deque()
        self._delivering = False
        self.events: list[Event] = []
        for obj in objects:
            self.put(obj)

    # Reading.

    def informer(
        self,
        resource: Resource[T],
        *,
        selection: Selection[T] | None = None,
        keep: KeepPolicy | None = None,
        optional: bool = False,  # noqa: ARG002 (this cluster has every resource)
    ) -> Informer[T]:
        """The informer of a resource; see ``interface.Source``. It is empty until ``sync`` is called."""
        path = resource.path()
        if path not in self._informers:
            informer = Informer(resource, keep or KeepPolicy.WHOLE)
            self._informers[path] = (informer, selection or Selection())
        return self._informers[path][0]

    async def wait_for_sync(self, within: float) -> None:  # noqa: ARG002 (there is nothing to wait for)
        """Deliver what exists to all informers; see ``interface.Source``."""
        self.sync()

    def sync(self) -> None:
        """Deliver what exists to the informers that have not had it. Handlers are to be added before."""
        for path, (informer, selection) in list(self._informers.items()):
            if not informer.has_synced:
                informer.begin_replace()
                for obj in list(self._objects.get(path, {}).values()):
                    if selection.matches is None or selection.matches(obj):
                        informer.upsert(obj)
                informer.end_replace()

    def get(self, resource: Resource[T], namespace: str, name: str) -> T | None:
        """One object, or None."""
        found: T | None = self._objects.get(resource.path(), {}).get((namespace, name))
        return found

    def list(self, resource: Resource[T]) -> list[T]:
        """All objects of a resource, in the order of their coming."""
        return [*self._objects.get(resource.path(), {}).values()]

    # Writing.

    def put(self, obj: T) -> T:
        """Create the object, or replace the one of its name; answer it as stored.

        What the API server would give it is given: a resource version, and where they are missing a uid, a
        time of creation and the namespace "default".
        """
        resource = resource_for(type(obj))
        meta = obj.metadata
        namespace = (meta.namespace or "default") if resource.namespaced else ""
        old = self.get(resource, namespace, meta.name)
        self._version += 1
        stored: T = msgspec.structs.replace(
            obj,  # type: ignore[type-var]  # every kind is a struct; the protocol can't say so
            metadata=msgspec.structs.replace(
                meta,
                namespace=namespace,
                uid=meta.uid or (old.metadata.uid if old is not None else str(uuid.uuid4())),
                creation_timestamp=meta.creation_timestamp or self._timestamp(),
                resource_version=str(self._version),
            ),
        )
        self._objects.setdefault(resource.path(), {})[(namespace, meta.name)] = stored
        self._deliver(resource.path(), old, stored)
        return stored

    def delete(self, resource: Resource[T], namespace: str, name: str) -> T | None:
        """Remove an object and answer its last state; None if there was none."""
        old: T | None = self._objects.get(resource.path(), {}).pop((namespace, name), None)
        if old is not None:
            self._version += 1
            self._deliver(resource.path(), old, None)
        return old

    def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """Bind a pod, or raise PodGoneError or BindConflictError.

        As the Binding subresource does it (pkg/registry/core/pod/storage/storage.go).
        """
        pod = self.get(PODS, namespace, name)
        if pod is None:
            raise PodGoneError(f'pods "{name}" not found')
        found = pod.metadata.uid
        if uid and found != uid:
            raise PodGoneError(f"Precondition failed: UID in precondition: {uid}, UID in object meta: {found}")
        problem = ""
        if is_terminating(pod):
            problem = f"pod {name} is being deleted, cannot be assigned to a host"
        elif pod.spec.node_name:
            problem = f'pod {name} is already assigned to node "{pod.spec.node_name}"'
        elif pod.spec.scheduling_gates:
            problem = f"pod {name} has non-empty .spec.schedulingGates"
        if problem:
            raise BindConflictError(f'Operation cannot be fulfilled on pods/binding "{name}": {problem}')
        scheduled = PodCondition(type="PodScheduled", status="True", last_transition_time=self._timestamp())
        status = _with_conditions(pod.status, [scheduled])
        status = msgspec.structs.replace(status, nominated_node_name="")
        self.put(msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=node), status=status))

    def patch_pod_status(
        self,
        namespace: str,
        name: str,
        uid: str,
        *,
        conditions: Sequence[PodCondition] = (),
        nominated_node_name: str | None = None,
    ) -> None:
        """Set conditions and nomination of a pod that exists and is not bound; else do nothing."""
        pod = self.get(PODS, namespace, name)
        if pod is None or pod.metadata.uid != uid or pod.spec.node_name:
            return
        status = _with_conditions(pod.status, conditions)
        if nominated_node_name is not None:
            status = msgspec.structs.replace(status, nominated_node_name=nominated_node_name)
        if status != pod.status:
            self.put(msgspec.structs.replace(pod, status=status))

    def set_pod_condition(self, namespace: str, name: str, uid: str, condition: PodCondition) -> bool:
        """Set a condition of a pod, bound or not; False if it is gone or was replaced."""
        pod = self.get(PODS, namespace, name)
        if pod is None or pod.metadata.uid != uid:
            return False
        self.put(msgspec.structs.replace(pod, status=_with_conditions(pod.status, [condition])))
        return True

    def delete_pod(self, namespace: str, name: str, uid: str) -> bool:
        """Remove a pod at once (there is no kubelet to wait for), unless another one has taken its place."""
        pod = self.get(PODS, namespace, name)
        if pod is None or pod.metadata.uid != uid:
            return False
        self.delete(PODS, namespace, name)
        return True

    def update_volume(self, volume: PersistentVolume) -> PersistentVolume:
        """Write reference and annotations of a volume of the version that is stored, else raise ApiError."""
        stored = self._stored(PERSISTENT_VOLUMES, volume)
        spec = msgspec.structs.replace(stored.spec, claim_ref=volume.spec.claim_ref)
        return self.put(msgspec.structs.replace(_annotated(stored, volume), spec=spec))

    def update_claim(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        """Write annotations of a claim of the version that is stored, else raise ApiError."""
        return self.put(_annotated(self._stored(PERSISTENT_VOLUME_CLAIMS, claim), claim))

    def create_event(self, event: Event) -> None:
        """Keep the event in ``events``."""
        self.events.append(event)

    def patch_event(self, event: Event) -> None:
        """Replace the event of this name in ``events``, or add it."""
        for place, known in enumerate(self.events):
            if (known.namespace, known.name) == (event.namespace, event.name):
                self.events[place] = event
                return
        self.events.append(event)

    def _stored(self, resource: Resource[T], obj: T) -> T:
        meta, plural = obj.metadata, resource.plural
        found = self.get(resource, meta.namespace, meta.name)
        if found is None:
            raise ApiError(404, "NotFound", f'{plural} "{meta.name}" not found')
        if found.metadata.resource_version != meta.resource_version:
            problem = "the object has been modified; please apply your changes to the latest version and try again"
            message = f'Operation cannot be fulfilled on {plural} "{meta.name}": {problem}'
            raise ApiError(409, "Conflict", message)
        return found

    def _timestamp(self) -> str:
        second = int(self._now())
        if second != self._second[0]:
            self._second = (second, datetime.fromtimestamp(second, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
        return self._second[1]

    def _deliver(self, path: str, old: Any, new: Any) -> None:
        """Tell the informer. Changes made by handlers are delivered after the one that they answer to."""
        self._deltas.append((path, old, new))
        if self._delivering:
            return
        self._delivering = True
        try:
            while self._deltas:
                self._deliver_one(*self._deltas.popleft())
        finally:
            self._delivering = False

    def _deliver_one(self, path: str, old: Any, new: Any) -> None:
        informer, selection = self._informers.get(path, (None, None))
        if informer is None or selection is None or not informer.has_synced:
            return
        if new is not None and (selection.matches is None or selection.matches(new)):
            informer.upsert(new)
        else:
            last = new if new is not None else old
            informer.remove((last.metadata.namespace, last.metadata.name), last)


class MemoryWriter(Writer):
    """The write side of a MemoryCluster (``interface.Writer``): the same writes, as coroutines where those are."""

    def __init__(self, cluster: MemoryCluster) -> None:
        self._cluster = cluster

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """Bind a pod; see ``interface.Writer``."""
        self._cluster.bind(namespace, name, uid, node)

    async def set_pod_condition(
        self, namespace: str, name: str, uid: str, condition: PodCondition, *, present: Sequence[str] = ()
    ) -> bool:
        """Set a pod's condition; see ``interface.Writer``."""
        del present  # order is kept anyway
        return self._cluster.set_pod_condition(namespace, name, uid, condition)

    async def delete_pod(self, namespace: str, name: str, uid: str) -> bool:
        """Delete a pod; see ``interface.Writer``."""
        return self._cluster.delete_pod(namespace, name, uid)

    def pending_status(self, uid: str) -> None:
        """Nothing is ever under way; see ``interface.Writer``."""

    async def status_written(self, uid: str) -> None:
        """Nothing is ever under way; see ``interface.Writer``."""

    def patch_pod_status(
        self,
        namespace: str,
        name: str,
        uid: str,
        *,
        conditions: Sequence[PodCondition] = (),
        nominated_node_name: str | None = None,
    ) -> None:
        """Patch a pod's status; see ``interface.Writer``."""
        self._cluster.patch_pod_status(
            namespace, name, uid, conditions=conditions, nominated_node_name=nominated_node_name
        )

    async def update_volume(self, volume: PersistentVolume) -> PersistentVolume:
        """Reserve a volume; see ``interface.Writer``."""
        return self._cluster.update_volume(volume)

    async def update_claim(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        """Annotate a claim; see ``interface.Writer``."""
        return self._cluster.update_claim(claim)

    def create_event(self, event: Event) -> None:
        """Keep an event; see ``interface.EventSink``."""
        self._cluster.create_event(event)

    def patch_event(self, event: Event) -> None:
        """Keep a series; see ``interface.EventSink``."""
        self._cluster.patch_event(event)


def _with_conditions(status: PodStatus, conditions: Sequence[PodCondition]) -> PodStatus:
    kept = {condition.type: condition for condition in status.conditions}
    for condition in conditions:
        known = kept.get(condition.type)
        if condition.last_transition_time is None and known is not None:
            condition = msgspec.structs.replace(condition, last_transition_time=known.last_transition_time)
        kept[condition.type] = condition
    return msgspec.structs.replace(status, conditions=tuple(kept.values()))


def _annotated(stored: T, wanted: T) -> T:
    annotations = {**stored.metadata.annotations, **wanted.metadata.annotations}
    metadata = msgspec.structs.replace(stored.metadata, annotations=annotations)
    changed: T = msgspec.structs.replace(stored, metadata=metadata)  # type: ignore[type-var]  # as in `put`
    return changed
