"""The objects of one resource, kept up to date, and those who want to hear of changes."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Generic

import msgspec

from scheduler.api.objects import ObjectMeta
from scheduler.client.kinds import Key, T
from scheduler.client.whole import whole_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from scheduler.client.kinds import Resource

__all__ = ["Handler", "Informer", "KeepPolicy"]

#: Called with (None, new) for an object that came, (old, new) for one that changed, (old, None) for one that
#: went.
Handler: TypeAlias = "Callable[[T | None, T | None], None]"


class KeepPolicy(Enum):
    """What an informer remembers of an object after its handlers have seen it."""

    #: The object itself.
    WHOLE = "whole"
    #: Its key, uid and resource version. Handlers get (None, new) for changes as for new objects, and, for an
    #: object that went unseen, an ``old`` with nothing but these.
    INDEX = "index"


class Informer(Generic[T]):
    """A store of objects by namespace and name, and handlers that are called synchronously for each change.

    It is fed by a reflector or by the in-process cluster through ``begin_replace``, ``upsert``, ``remove``
    and ``end_replace``. An object whose uid differs from the stored one's is another object of the same name:
    handlers see the old one go before the new one comes. What a handler raises reaches the feeder: it is an
    error in this program, and must not be lost.
    """

    def __init__(self, resource: Resource[T], keep: KeepPolicy = KeepPolicy.WHOLE) -> None:
        self.resource = resource
        self._whole = keep is KeepPolicy.WHOLE
        self._versions: dict[Key, tuple[str, str]] = {}
        self._objects: dict[Key, T] = {}
        self._handlers: list[Handler[T]] = []
        self._whole_wanted: list[Callable[[T], bool]] = []
        self._left_out: set[str] = set()
        self._whole_json: dict[Key, bytes] = {}
        self._unseen: set[Key] | None = None
        self._synced = False

    @property
    def has_synced(self) -> bool:
        """Whether the first list has been delivered to the end."""
        return self._synced

    def __len__(self) -> int:
        """How many objects exist."""
        return len(self._versions)

    def __contains__(self, key: Key) -> bool:
        """Whether an object of this namespace and name exists."""
        return key in self._versions

    def get(self, namespace: str, name: str) -> T | None:
        """The object, or None; always None under KeepPolicy.INDEX."""
        return self._objects.get((namespace, name))

    def uid(self, namespace: str, name: str) -> str | None:
        """The uid of the object, or None if there is none."""
        version = self._versions.get((namespace, name))
        return version[0] if version else None

    def keys(self) -> Iterator[Key]:
        """Namespace and name of all objects."""
        return iter(self._versions)

    def objects(self) -> Iterator[T]:
        """All objects; none under KeepPolicy.INDEX. Not to be used across a yield to the event loop."""
        return iter(self._objects.values())

    def add_handler(self, handler: Handler[T]) -> None:
        """Call ``handler`` for all changes from now on, and first for the objects that are kept already.

        Under KeepPolicy.INDEX handlers must be added before the first object comes; later is a ValueError.
        """
        if self._versions and not self._whole:
            raise ValueError(f"a handler for {self.resource.plural} was added after objects had been let go")
        for obj in list(self._objects.values()):
            handler(None, obj)
        self._handlers.append(handler)

    def keep_whole(self, wanted: Callable[[T], bool], *, leave_out: Iterable[str] = ()) -> None:
        """Keep the JSON of the objects that ``wanted`` (by anyone) holds for, but for these fields of their metadata.

        Must be called before the first object comes; later is a ValueError.
        """
        if self._versions:
            raise ValueError(f"whole {self.resource.plural} were asked for after objects had been let go")
        self._whole_wanted.append(wanted)
        self._left_out.update(leave_out)

    def whole(self, namespace: str, name: str) -> bytes | None:
        """The object's JSON as the API server has it, without kind and apiVersion; None unless it is kept."""
        return self._whole_json.get((namespace, name))

    # The feeder's side.

    def begin_replace(self) -> None:
        """A full list begins: whatever is not seen until ``end_replace`` is gone."""
        self._unseen = set(self._versions)

    def mark_seen(self, key: Key) -> None:
        """The list holds this object, in a form that can't be read: an older state of it stays."""
        if self._unseen is not None:
            self._unseen.discard(key)

    def end_replace(self) -> None:
        """The list is complete: drop the objects that it did not hold, telling the handlers."""
        unseen, self._unseen = self._unseen or set(), None
        for key in unseen:
            self.remove(key)
        self._synced = True

    def upsert(self, obj: T, raw: msgspec.Raw | None = None) -> None:
        """An object came or changed; nothing happens if this very version is known.

        ``raw`` is its JSON, where there is any.
        """
        meta = obj.metadata
        key = (meta.namespace, meta.name)
        if self._unseen is not None:
            self._unseen.discard(key)
        known = self._versions.get(key)
        version = (meta.uid, meta.resource_version)
        if known == version and meta.resource_version:
            return
        if known is not None and known[0] != meta.uid:
            self.remove(key)
        old = self._objects.get(key)
        self._versions[key] = version
        if self._whole:
            self._objects[key] = obj
        if self._whole_wanted:
            self._keep_json(key, obj, raw)
        for handler in self._handlers:
            handler(old, obj)

    def remove(self, key: Key, last: T | None = None) -> None:
        """An object went; ``last`` is its last state where that is known."""
        if self._unseen is not None:
            self._unseen.discard(key)
        version = self._versions.pop(key, None)
        if version is None:
            return
        self._whole_json.pop(key, None)
        old = self._objects.pop(key, None)
        if old is None:
            old = last if last is not None and last.metadata.uid == version[0] else self._tombstone(key, version)
        for handler in self._handlers:
            handler(old, None)

    def _keep_json(self, key: Key, obj: T, raw: msgspec.Raw | None) -> None:
        if any(wanted(obj) for wanted in self._whole_wanted):
            self._whole_json[key] = whole_json(msgspec.json.encode(obj) if raw is None else raw, self._left_out)
        else:
            self._whole_json.pop(key, None)

    def _tombstone(self, key: Key, version: tuple[str, str]) -> T:
        meta = ObjectMeta(namespace=key[0], name=key[1], uid=version[0], resource_version=version[1])
        make: Callable[..., T] = self.resource.type
        return make(metadata=meta)
