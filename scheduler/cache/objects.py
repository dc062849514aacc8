"""Objects that plugins look up by name: services, controllers, claims, classes, ..."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Name = tuple[str, str]
"""Namespace ("" for kinds without) and name."""

_KEEP: Final = 1 << 16
"""Changes of a kind that are kept before the older half is dropped; whoever is behind that starts over."""


class ObjectStore:
    """Objects by kind, namespace and name. Each kind has a version that moves on with every change."""

    __slots__ = ("_changes", "_items", "_listeners", "_versions")

    def __init__(self) -> None:
        self._items: dict[str, dict[str, dict[str, Any]]] = {}
        self._versions: dict[str, int] = {}
        self._changes: dict[str, list[Name]] = defaultdict(list)
        self._listeners: dict[str, list[Callable[[Name], None]]] = {}

    def set(self, kind: str, item: Any) -> None:
        """Add or replace an object."""
        meta = item.metadata
        self._items.setdefault(kind, {}).setdefault(meta.namespace, {})[meta.name] = item
        self._changed(kind, (meta.namespace, meta.name))

    def remove(self, kind: str, namespace: str, name: str) -> None:
        """Remove an object, if it is there."""
        if self._items.get(kind, {}).get(namespace, {}).pop(name, None) is not None:
            self._changed(kind, (namespace, name))

    def get(self, kind: str, namespace: str, name: str) -> Any | None:
        """An object, or None."""
        return self._items.get(kind, {}).get(namespace, {}).get(name)

    def in_namespace(self, kind: str, namespace: str) -> Iterable[Any]:
        """All objects of a kind in a namespace ("" for kinds without)."""
        return self._items.get(kind, {}).get(namespace, {}).values()

    def all(self, kind: str) -> Iterable[Any]:
        """All objects of a kind."""
        return (item for names in self._items.get(kind, {}).values() for item in names.values())

    def kinds(self) -> Iterable[str]:
        """The kinds of which there is, or was, any object."""
        return self._items.keys()

    def version(self, kind: str) -> int:
        """Moves on by one when any object of the kind changes."""
        return self._versions.get(kind, 0)

    def changes(self, kind: str, version: int) -> list[Name] | None:
        """Which objects changed since a version, as often as they did; None if that is no longer known."""
        log = self._changes.get(kind, [])
        first = len(log) - (self.version(kind) - version)
        return log[first:] if first >= 0 else None

    def listen(self, kind: str, listener: Callable[[Name], None]) -> None:
        """Have `listener` called after each change of an object of the kind, from now on."""
        self._listeners.setdefault(kind, []).append(listener)

    def unlisten(self, kind: str, listener: Callable[[Name], None]) -> None:
        """Call `listener` no more."""
        self._listeners[kind].remove(listener)

    def _changed(self, kind: str, name: Name) -> None:
        self._versions[kind] = self._versions.get(kind, 0) + 1
        log = self._changes[kind]
        log.append(name)
        if len(log) > _KEEP:
            del log[: _KEEP // 2]
        for listener in self._listeners.get(kind, ()):
            listener(name)
