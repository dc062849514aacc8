"""Objects as the API server has them, for those to whom a trimmed struct is not enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["whole_json"]

_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def whole_json(raw: bytes | msgspec.Raw, leave_out: Iterable[str] = ()) -> bytes:
    """The object's JSON without kind, apiVersion and the metadata fields in `leave_out`.

    client-go leaves kind and apiVersion out of the objects in its informers. Raises msgspec.MsgspecError for anything
    but an object.
    """
    fields = _FIELDS.decode(raw)
    fields.pop("kind", None)
    fields.pop("apiVersion", None)
    if leave_out and "metadata" in fields:
        metadata = _FIELDS.decode(fields["metadata"])
        for name in leave_out:
            metadata.pop(name, None)
        fields["metadata"] = msgspec.Raw(msgspec.json.encode(metadata))
    return msgspec.json.encode(fields)
