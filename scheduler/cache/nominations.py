"""Pods that have a node in prospect but are not assigned to it yet (backend/queue/nominator.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scheduler.cache.pods import PodInfo


class Nominations:
    """Which pods are nominated to which nodes. `version` moves on with every change."""

    __slots__ = ("_by_node", "_by_uid", "version")

    def __init__(self) -> None:
        self._by_node: dict[str, dict[str, PodInfo]] = {}
        self._by_uid: dict[str, str] = {}
        self.version = 0

    def __len__(self) -> int:
        return len(self._by_uid)

    def add(self, pod: PodInfo, node_name: str) -> None:
        """Nominate a pod to a node, instead of any that it was nominated to before; "" only takes that back."""
        self.remove(pod.uid)
        if node_name:
            self._by_node.setdefault(node_name, {})[pod.uid] = pod
            self._by_uid[pod.uid] = node_name
            self.version += 1

    def remove(self, uid: str) -> None:
        """Take a pod's nomination back, if it has one."""
        node_name = self._by_uid.pop(uid, None)
        if node_name is None:
            return
        nominated = self._by_node[node_name]
        del nominated[uid]
        if not nominated:
            del self._by_node[node_name]
        self.version += 1

    def node_of(self, uid: str) -> str:
        """The node that a pod is nominated to, or ""."""
        return self._by_uid.get(uid, "")

    def on_node(self, node_name: str) -> list[PodInfo]:
        """The pods nominated to a node."""
        return list(self._by_node.get(node_name, {}).values())

    def nodes(self) -> list[str]:
        """The names of all nodes with a nominated pod."""
        return list(self._by_node)
