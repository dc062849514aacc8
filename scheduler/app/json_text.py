"""JSON as it is given to `-f`: values one after another, with the pods and nodes of a list decoded at once."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

from scheduler.api.resources import KINDS
from scheduler.api.stored import decode_stored

_LIST: Final = "List"
_SPACE: Final = re.compile(r"[ \t\r\n]*")


class _List(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    items: list[msgspec.Raw]


class _Head(msgspec.Struct, rename="camel"):
    api_version: Any = msgspec.UNSET
    kind: Any = msgspec.UNSET


_as_list: Final = msgspec.json.Decoder(_List).decode
_as_head: Final = msgspec.json.Decoder(_Head).decode


def json_values(text: bytes) -> list[Any] | None:
    """The JSON values that a text consists of, one after another; None if it is not JSON (YAML in flow style, say).

    Where one list is all there is, as kubectl writes it, items that are as an API server stores them are objects
    already (`Model`).
    """
    try:
        listed = _as_list(text)
        if listed.kind.endswith(_LIST):
            kind = listed.kind.removesuffix(_LIST)
            named = (listed.api_version, kind) if kind else ("", "")
            items = [_item(raw, *named) for raw in listed.items]
            return [{"apiVersion": listed.api_version, "kind": listed.kind, "items": items}]
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return [msgspec.json.decode(text)]
    except (msgspec.DecodeError, RecursionError):
        return _one_by_one(text.decode())


def _item(raw: msgspec.Raw, api_version: str, kind: str) -> Any:
    """One item of a list; where it does not say what it is the list does. Raises DecodeError, RecursionError."""
    try:
        head = _as_head(raw)
    except msgspec.ValidationError:  # not an object
        return msgspec.json.decode(raw)
    if head.kind is not msgspec.UNSET:
        kind = head.kind
    if head.api_version is not msgspec.UNSET:
        api_version = head.api_version
    type_ = KINDS.get((api_version, kind)) if isinstance(api_version, str) and isinstance(kind, str) else None
    found = decode_stored(type_, raw) if type_ is not None else None
    return found if found is not None else msgspec.json.decode(raw)


def _one_by_one(text: str) -> list[Any] | None:
    values: list[Any] = []
    decode = json.JSONDecoder().raw_decode
    place = _end_of_space(text, 0)
    try:
        while place < len(text):
            value, place = decode(text, place)
            values.append(value)
            place = _end_of_space(text, place)
    except (ValueError, RecursionError):
        return None
    return values


def _end_of_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return place if found is None else found.end()
