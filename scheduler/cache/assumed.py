"""Objects as they will be once what was decided has been written, over those that exist.

Source: pkg/scheduler/framework/plugins/volumebinding/passive_assume_cache.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.cache.objects import ObjectStore

Key = tuple[str, str, str]


class OutOfSyncError(ValueError):
    """An object is not, or no longer, the one that something was decided about."""


class AssumedObjects:
    """Assumed versions by kind, namespace and name.

    One holds as long as the stored object has the resource version that it was made from: any newer one overrides it.
    """

    __slots__ = ("_assumed", "_objects")

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._assumed: dict[Key, Any] = {}

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """(kind, object) of all that is assumed."""
        return ((key[0], item) for key, item in self._assumed.items())

    def get(self, kind: str, namespace: str, name: str) -> Any | None:
        """The object, as assumed where it is; None if there is none."""
        stored = self._objects.get(kind, namespace, name)
        return None if stored is None else self.over(kind, stored)

    def over(self, kind: str, stored: Any) -> Any:
        """What is assumed of a stored object, or that object itself."""
        if not self._assumed:
            return stored
        key = (kind, stored.metadata.namespace, stored.metadata.name)
        assumed = self._assumed.get(key)
        if assumed is None:
            return stored
        if assumed.metadata.resource_version == stored.metadata.resource_version:
            return assumed
        del self._assumed[key]
        return stored

    def assume(self, kind: str, item: Any) -> None:
        """Take an object as changed. Raises OutOfSyncError if the stored one is another version, or gone."""
        meta = item.metadata
        shown = f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
        stored = self._objects.get(kind, meta.namespace, meta.name)
        if stored is None:
            raise OutOfSyncError(f'{kind.lower()}s "{shown}" not found')
        found = stored.metadata.resource_version
        if found != meta.resource_version:
            raise OutOfSyncError(f'"{shown}" is out of sync (stored: {found}, assume: {meta.resource_version})')
        self._assumed[kind, meta.namespace, meta.name] = item

    def restore(self, kind: str, item: Any) -> None:
        """Go back to the stored object, unless another version is assumed by now."""
        key = (kind, item.metadata.namespace, item.metadata.name)
        assumed = self._assumed.get(key)
        if assumed is not None and assumed.metadata.resource_version == item.metadata.resource_version:
            del self._assumed[key]
