"""JSON to typed objects.

Strict decoding is quick and takes all that an API server usually sends. What it refuses is looked at once
more: JSON null becomes the empty value, and numbers are taken for quantities, as Go's decoder does.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, TypeAlias, TypeVar, cast

import msgspec
from msgspec import inspect

from scheduler.api.meta import Model
from scheduler.api.resources import KINDS
from scheduler.api.times import parse_time

__all__ = ["DecodeError", "decode_as", "decode_object", "parse_time"]

T = TypeVar("T")

#: JSON, or what JSON was decoded to.
Input: TypeAlias = bytes | bytearray | memoryview | msgspec.Raw | dict[str, Any]

_MESSAGE: Final = re.compile(r"(.*) - at `(?:key in )?\$\.?(.*)`", re.DOTALL)


class DecodeError(ValueError):
    """Input is not an object of the type that was asked for.

    ``path`` is the field that is wrong ("spec.containers[0].name"), "" if it is the whole input.
    """

    def __init__(self, detail: str, path: str = "") -> None:
        self.path = path
        self.detail = detail
        super().__init__(f"{path}: {detail}" if path else detail)


class _Envelope(Model, frozen=True, kw_only=True):
    api_version: str = ""
    kind: str = ""


def decode_object(raw: Input) -> Model:
    """Decode an object of any kind in ``resources.KINDS``, given as JSON or as what JSON was decoded to.

    Raises DecodeError if its apiVersion and kind aren't among those, or as ``decode_as``.
    """
    envelope = decode_as(_Envelope, raw)
    kind = KINDS.get((envelope.api_version, envelope.kind))
    if kind is None:
        shown = f"apiVersion {envelope.api_version!r} and kind {envelope.kind!r}"
        raise DecodeError(f"{shown} are of no object that scheduling reads")
    return decode_as(kind, raw)


def decode_as(type_: type[T], raw: Input) -> T:
    """Decode an object of a known type, given as JSON or as what JSON was decoded to.

    Fields that the type doesn't have are skipped. Raises DecodeError if it is not JSON, is nested too deeply, or
    has a field of the wrong type.
    """
    try:
        try:
            if isinstance(raw, dict):
                return msgspec.convert(raw, type_)
            kind: Any = type_
            found: T = _decoder(kind).decode(raw)
            return found
        except msgspec.ValidationError:
            lenient = raw if isinstance(raw, dict) else _ANY.decode(raw)
            return msgspec.convert(_completed(lenient, _description(cast("Any", type_))), type_)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _explained(error) from error
    except RecursionError as error:
        raise DecodeError("nested too deeply") from error


class _Number(str):
    """The text of a JSON number with a fraction or an exponent."""

    __slots__ = ()


_ANY: Final = msgspec.json.Decoder(float_hook=_Number)


@lru_cache(maxsize=256)
def _decoder(type_: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(type_)


@lru_cache(maxsize=256)
def _description(type_: Any) -> inspect.Type:
    return inspect.type_info(type_)


@lru_cache(maxsize=1024)
def _fields(type_: Any) -> dict[str, inspect.Type]:
    """Return the types of a struct's fields by their JSON names."""
    description = _description(type_)
    assert isinstance(description, inspect.StructType)
    return {field.encode_name: field.type for field in description.fields}


def _completed(value: Any, expected: inspect.Type) -> Any:
    """Return a decoded JSON value with nulls made empty values and numbers quantities, where the type has them.

    What doesn't fit the type stays as it is, for the strict conversion to complain about.
    """
    expected, quantity = _unwrapped(expected)
    if isinstance(expected, inspect.StructType) and isinstance(value, dict):
        fields = _fields(expected.cls)
        return {
            name: _completed(item, fields[name]) for name, item in value.items() if item is not None and name in fields
        }
    if isinstance(expected, inspect.DictType) and isinstance(value, dict):
        return {name: _completed_item(item, expected.value_type) for name, item in value.items()}
    if isinstance(expected, inspect.VarTupleType) and isinstance(value, list | tuple):
        return [_completed_item(item, expected.item_type) for item in value]
    if isinstance(value, bool):
        return value
    if quantity and isinstance(value, int | float | _Number):
        return str(value)
    return float(value) if isinstance(value, _Number) else value


def _completed_item(value: Any, expected: inspect.Type) -> Any:
    if value is not None:
        return _completed(value, expected)
    unwrapped, quantity = _unwrapped(expected)
    if quantity:
        return "0"
    return {} if isinstance(unwrapped, inspect.StructType) else _zero(expected)


def _zero(expected: inspect.Type) -> Any:
    return "" if isinstance(expected, inspect.StrType) else None


def _unwrapped(expected: inspect.Type) -> tuple[inspect.Type, bool]:
    """Return the type without its annotations and without None, and whether it is marked as a quantity."""
    quantity = False
    while isinstance(expected, inspect.Metadata | inspect.UnionType):
        if isinstance(expected, inspect.Metadata):
            quantity = quantity or bool((expected.extra or {}).get("quantity"))
            expected = expected.type
        else:
            expected = next(t for t in expected.types if not isinstance(t, inspect.NoneType))
    return expected, quantity


def _explained(error: Exception) -> DecodeError:
    match = _MESSAGE.fullmatch(str(error))
    return DecodeError(match[1], match[2]) if match else DecodeError(str(error))
