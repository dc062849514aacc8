"""Objects that plugins look up by name: services, controllers, claims, classes, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


class ObjectStore:
    """Objects by kind, namespace and name. Each kind has a version that moves on with every change."""

    __slots__ = ("_items", "_versions")

    def __init__(self) -> None:
        self._items: dict[str, dict[str, dict[str, Any]]] = {}
        self._versions: dict[str, int] = {}

    def set(self, kind: str, item: Any) -> None:
        """Add or replace an object."""
        meta = item.metadata
        self._items.setdefault(kind, {}).setdefault(meta.namespace, {})[meta.name] = item
        self._versions[kind] = self._versions.get(kind, 0) + 1

    def remove(self, kind: str, namespace: str, name: str) -> None:
        """Remove an object, if it is there."""
        if self._items.get(kind, {}).get(namespace, {}).pop(name, None) is not None:
            self._versions[kind] += 1

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
        """Moves on when any object of the kind changes."""
        return self._versions.get(kind, 0)
