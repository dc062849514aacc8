"""What a list page and a line of a watch look like, and reading the objects in them one by one.

An object that can't be read is named, counted by the caller and left out; it never stops the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

import msgspec

from scheduler.api.decode import DecodeError, decode_as
from scheduler.client.errors import StreamError, error_from_status
from scheduler.client.kinds import T

if TYPE_CHECKING:
    from scheduler.client.errors import ApiError
    from scheduler.client.kinds import Key, Resource

__all__ = ["Change", "GarbageError", "ObjectReader", "Page", "Unreadable"]

_INITIAL_EVENTS_END = "k8s.io/initial-events-end"
_DECODE_ERRORS = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)


_HEADS = {f'{{"type":"{kind}","object":'.encode(): kind for kind in ("ADDED", "MODIFIED", "DELETED")}
"""How the API server's lines begin that bring an object, which then goes on to the last brace but one."""
_LONGEST_HEAD = max(map(len, _HEADS))


class GarbageError(Exception):
    """A line of a watch that is no watch event at all."""


class _Envelope(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str | None = ""
    continue_: str | None = msgspec.field(default="", name="continue")


class _List(msgspec.Struct):
    metadata: _ListMeta
    items: list[msgspec.Raw] | None = None


class _Meta(msgspec.Struct, rename="camel"):
    name: str | None = ""
    namespace: str | None = ""
    resource_version: str | None = ""
    annotations: dict[str, msgspec.Raw] | None = None


class _Named(msgspec.Struct):
    metadata: _Meta


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An object that could not be decoded; its name and version are empty where even those can't be read."""

    key: Key
    resource_version: str
    problem: str

    def __str__(self) -> str:
        """The object by name, for messages."""
        return "/".join(part for part in self.key if part) or "(object without a readable name)"


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list: the version that the list shows, the token for the next page, the raw items."""

    resource_version: str
    next_token: str
    items: list[msgspec.Raw]


class Change(msgspec.Struct, Generic[T], frozen=True):
    """One event of a watch.

    ``kind`` is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR. ``object`` is the object, or why it can't be
    read; None for bookmarks and errors; ``raw`` is its JSON. ``initial_end`` marks the bookmark that ends a streamed
    list.
    """

    kind: str
    resource_version: str = ""
    object: T | Unreadable | None = None
    raw: msgspec.Raw | None = None
    error: ApiError | None = None
    initial_end: bool = False


class ObjectReader(Generic[T]):
    """Reads lists and watch lines of one resource."""

    def __init__(self, resource: Resource[T]) -> None:
        self._type = resource.type
        self._envelopes = msgspec.json.Decoder(_Envelope)
        self._lists = msgspec.json.Decoder(_List)
        self._names = msgspec.json.Decoder(_Named)
        self._plural = resource.plural

    def page(self, body: bytes) -> Page:
        """Read a list's frame. Raises StreamError where it is none."""
        try:
            page = self._lists.decode(body)
        except _DECODE_ERRORS as error:
            raise StreamError(f"the list of {self._plural} can't be read: {error}") from error
        return Page(page.metadata.resource_version or "", page.metadata.continue_ or "", page.items or [])

    def item(self, raw: msgspec.Raw) -> T | Unreadable:
        """Read one object."""
        try:
            return decode_as(self._type, raw)
        except DecodeError as error:
            problem = str(error)
        try:
            meta = self._names.decode(raw).metadata
        except _DECODE_ERRORS:
            return Unreadable(("", ""), "", problem)
        return Unreadable((meta.namespace or "", meta.name or ""), meta.resource_version or "", problem)

    def change(self, line: bytes) -> Change[T]:
        """Read one line of a watch. Raises GarbageError where it is no watch event."""
        start = line.find(b":{", 8, _LONGEST_HEAD + 1) + 1
        kind = _HEADS.get(line[:start])
        if kind is not None and line.endswith(b"}"):
            raw = msgspec.Raw(line[start:-1])
            try:
                readable = decode_as(self._type, raw)
            except DecodeError:
                pass  # of a line that goes on in another way, or of an object that can't be read: see below
            else:
                return Change(kind, readable.metadata.resource_version, readable, raw)
        try:
            event = self._envelopes.decode(line)
            if event.type == "BOOKMARK":
                meta = self._names.decode(event.object).metadata
                end = bytes((meta.annotations or {}).get(_INITIAL_EVENTS_END, b"")) == b'"true"'
                return Change("BOOKMARK", meta.resource_version or "", initial_end=end)
        except _DECODE_ERRORS as error:
            raise GarbageError(f"{type(error).__name__}: {error}") from error
        if event.type == "ERROR":
            return Change("ERROR", error=error_from_status(event.object))
        if event.type not in ("ADDED", "MODIFIED", "DELETED"):
            raise GarbageError(f"unknown type of watch event {event.type[:40]!r}")
        obj = self.item(event.object)
        version = obj.resource_version if isinstance(obj, Unreadable) else obj.metadata.resource_version
        return Change(event.type, version, obj, event.object)
