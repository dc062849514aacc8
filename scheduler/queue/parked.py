"""Pods that wait for something to change, grouped by what they wait for (backend/queue/unschedulable_entities.go).

Pods that were turned down by the same plugins and share a shape can only be helped together, so an event is weighed
once for each group. Where these plugins do not look at labels, sharing all else is enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.queue.history import KeptEvents

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from scheduler.queue.entry import QueuedPod
    from scheduler.queue.history import HistoryEntry

Group = tuple[str, int, frozenset[str], frozenset[str], str]


def _group_of(entry: QueuedPod, kind: object) -> Group:
    """Profile, kind (by its identity), rejecting and pending plugins, and gating plugin of a pod."""
    return (
        entry.pod.scheduler_name,
        id(kind),
        entry.unschedulable_plugins,
        entry.pending_plugins,
        entry.gating_plugin,
    )


class ParkedGroup(dict[str, "QueuedPod"]):
    """Pods that can only be helped together, by uid; `kept`: the events that did not help them."""

    __slots__ = ("kept",)

    def __init__(self) -> None:
        super().__init__()
        self.kept = KeptEvents()

    def catch_up(self, entry: QueuedPod) -> None:
        """Note in the history of one of the pods what it has slept through."""
        if entry.history is not None and entry.kept_from != self.kept.position:
            entry.history.extend(self.kept.since(entry.kept_from, entry.timestamp))
        entry.kept_from = self.kept.position


class ParkedPods:
    """Unschedulable and gated pods.

    `kind_of` gives what a pod has in common with those that events may only help together; it is there as long as they.
    """

    __slots__ = ("_groups", "_kind_of", "_pods")

    def __init__(self, kind_of: Callable[[QueuedPod], object]) -> None:
        self._kind_of = kind_of
        self._pods: dict[tuple[str, str], tuple[Group, QueuedPod]] = {}
        self._groups: dict[Group, ParkedGroup] = {}

    def __len__(self) -> int:
        return len(self._pods)

    def __iter__(self) -> Iterator[QueuedPod]:
        return (entry for _, entry in self._pods.values())

    def get(self, name: tuple[str, str]) -> QueuedPod | None:
        """The entry of that name, or None."""
        found = self._pods.get(name)
        return None if found is None else found[1]

    def add(self, entry: QueuedPod) -> bool:
        """Add a pod, or group it anew if it is there; whether it is new."""
        is_new = self.remove(entry.name) is None
        group = _group_of(entry, self._kind_of(entry))
        self._pods[entry.name] = (group, entry)
        members = self._groups.get(group)
        if members is None:
            members = self._groups[group] = ParkedGroup()
        members[entry.pod.uid] = entry
        entry.kept_from = members.kept.position
        return is_new

    def remove(self, name: tuple[str, str]) -> QueuedPod | None:
        """Take a pod out; None if it isn't there."""
        found = self._pods.pop(name, None)
        if found is None:
            return None
        group, entry = found
        members = self._groups[group]
        members.catch_up(entry)
        del members[entry.pod.uid]
        if not members:
            del self._groups[group]
        return entry

    def slept_through(self, entry: QueuedPod) -> list[HistoryEntry]:
        """The events that did not help a pod since it is here; none if it isn't."""
        found = self._pods.get(entry.name)
        if found is None:
            return []
        return self._groups[found[0]].kept.since(entry.kept_from, entry.timestamp)

    def groups(self) -> Collection[ParkedGroup]:
        """The pods group by group; not to be changed meanwhile."""
        return self._groups.values()
