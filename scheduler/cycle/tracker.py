"""The pods that wait to be scheduled, as the API server last told of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.cache.pods import PodInfo


class UnscheduledPods:
    """Pods without a node that one of the profiles is responsible for; found by uid, and by name."""

    __slots__ = ("_by_uid", "_uids")

    def __init__(self) -> None:
        self._by_uid: dict[str, PodInfo] = {}
        self._uids: dict[tuple[str, str], str] = {}

    def __len__(self) -> int:
        return len(self._by_uid)

    def __iter__(self) -> Iterator[PodInfo]:
        return iter(self._by_uid.values())

    def get(self, uid: str) -> PodInfo | None:
        """The newest record of a pod, or None if it is gone, bound, or not ours."""
        return self._by_uid.get(uid)

    def find(self, namespace: str, name: str) -> PodInfo | None:
        """The newest record of the pod of that name, or None."""
        return self._by_uid.get(self._uids.get((namespace, name), ""))

    def has_name(self, namespace: str, name: str) -> bool:
        """Whether any of the pods has this name, be it another one than before."""
        return (namespace, name) in self._uids

    def set(self, pod: PodInfo) -> None:
        """A pod came or changed."""
        self._by_uid[pod.uid] = pod
        self._uids[pod.namespace, pod.name] = pod.uid

    def remove(self, uid: str) -> PodInfo | None:
        """A pod is gone, or bound; its last record."""
        pod = self._by_uid.pop(uid, None)
        if pod is not None and self._uids.get((pod.namespace, pod.name)) == uid:
            del self._uids[pod.namespace, pod.name]
        return pod
