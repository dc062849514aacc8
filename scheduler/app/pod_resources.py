"""The pods behind /metrics/resources, put together from the compact records that are kept of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from msgspec.structs import replace

from scheduler.api.objects import ObjectMeta
from scheduler.metrics.resources import pod_resource_metrics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.api.objects import Pod
    from scheduler.cache.pods import PodInfo
    from scheduler.cycle.scheduler import Scheduler


class PodResources:
    """All unfinished pods of the cluster: assigned ones, waiting ones, and those that wait for other schedulers.

    `pod` is a handler for the informer of pods: the last kind is kept here, as nothing else needs it.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._others: dict[str, PodInfo] = {}

    def pod(self, old: Pod | None, new: Pod | None) -> None:
        """A pod came, changed or went."""
        if new is None:
            assert old is not None
            self._others.pop(old.metadata.uid, None)
        elif new.spec.node_name or new.spec.scheduler_name in self._scheduler.profiles:
            self._others.pop(new.metadata.uid, None)
        else:
            self._others[new.metadata.uid] = self._scheduler.state.info(new)

    @property
    def others(self) -> frozenset[str]:
        """The uids of the pods that wait for other schedulers."""
        return frozenset(self._others)

    def text(self) -> Iterator[bytes]:
        """The response, in pieces. It shows the pods of the moment when the first piece is asked for."""
        scheduler = self._scheduler
        placed = {pod.uid: pod for pod in scheduler.unscheduled}
        placed.update((pod.uid, pod) for pod in scheduler.state.pods)
        return pod_resource_metrics(_Pods([*placed.values(), *self._others.values()]))


class _Pods(Sequence["Pod"]):
    """Pods with what counts in metrics, made from their records when they are looked at."""

    def __init__(self, records: list[PodInfo]) -> None:
        self._records = records

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, index: int) -> Pod: ...

    @overload
    def __getitem__(self, index: slice) -> list[Pod]: ...

    def __getitem__(self, index: int | slice) -> Pod | list[Pod]:
        if isinstance(index, slice):
            return [_restored(record) for record in self._records[index]]
        return _restored(self._records[index])


def _restored(record: PodInfo) -> Pod:
    pod = record.shape.pod
    spec = replace(pod.spec, node_name=record.node_name, scheduler_name=record.scheduler_name, priority=record.priority)
    meta = ObjectMeta(namespace=record.namespace, name=record.name, uid=record.uid)
    return replace(pod, metadata=meta, spec=spec, status=replace(pod.status, phase=record.phase))
