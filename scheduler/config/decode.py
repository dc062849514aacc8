"""JSON values to structs, strictly: unknown fields, wrong types, numbers out of range are told with their paths."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import inspect

from scheduler.config.duration import Duration
from scheduler.config.errors import FieldError, child, invalid, unknown_field

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_TYPES: dict[type, inspect.Type] = {}  # what msgspec tells about a struct type, which takes it a while
_MAX_FLOAT32 = 3.4028234663852886e38
_ABSENT: Any = object()  # what a value that was refused decodes to: the field keeps its default


def decode_struct(
    kind: type[T], value: Any, *, path: str, errors: list[FieldError], ignore: frozenset[str] = frozenset()
) -> T:
    """`value` as a `kind`, a msgspec struct type; what doesn't fit goes to `errors` and keeps its default.

    As in Go's decoder null stands for "absent", names are case-sensitive, and numbers aren't made from text.
    Fields named in `ignore` are passed over.
    """
    if kind not in _TYPES:
        _TYPES[kind] = inspect.type_info(kind)
    result = _decode(_TYPES[kind], value, path, errors, ignore)
    return kind() if result is _ABSENT else result


def _decode(
    node: inspect.Type, value: Any, path: str, errors: list[FieldError], ignore: frozenset[str] = frozenset()
) -> Any:
    if isinstance(node, inspect.UnionType):
        return _decode_union(node, value, path, errors)
    if isinstance(node, inspect.StructType):
        if node.cls is Duration:
            return _decode_duration(value, path, errors)
        return _decode_object(node, value, path, errors, ignore)
    if isinstance(node, inspect.VarTupleType):
        return _decode_list(node, value, path, errors)
    if isinstance(node, inspect.DictType):
        return _decode_map(node, value, path, errors)
    if isinstance(node, inspect.AnyType):
        return value
    return _SCALARS[type(node)](node, value, path, errors)


def _refuse(value: Any, expected: str, path: str, errors: list[FieldError]) -> Any:
    errors.append(invalid(path, value, f"cannot unmarshal {_kind_of(value)} into {expected}"))
    return _ABSENT


def _kind_of(value: Any) -> str:
    kinds = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}
    return kinds.get(type(value), type(value).__name__)


def _decode_union(node: inspect.UnionType, value: Any, path: str, errors: list[FieldError]) -> Any:
    """Unions here are "T or None" only, and anything with Any, which takes the value as it is."""
    inner = [member for member in node.types if not isinstance(member, inspect.NoneType)]
    if any(isinstance(member, inspect.AnyType) for member in inner):
        return value
    return _decode(inner[0], value, path, errors)


def _decode_object(
    node: inspect.StructType, value: Any, path: str, errors: list[FieldError], ignore: frozenset[str]
) -> Any:
    if not isinstance(value, dict):
        return _refuse(value, "an object", path, errors)
    fields = {field.encode_name: field for field in node.fields}
    arguments: dict[str, Any] = {}
    for key, item in value.items():
        if key in ignore:
            continue
        field = fields.get(key)
        if field is None:
            errors.append(unknown_field(child(path, str(key)), fields))
        elif item is not None:
            decoded = _decode(field.type, item, child(path, key), errors)
            if decoded is not _ABSENT:
                arguments[field.name] = decoded
    return node.cls(**arguments)


def _decode_list(node: inspect.VarTupleType, value: Any, path: str, errors: list[FieldError]) -> Any:
    if not isinstance(value, list | tuple):
        return _refuse(value, "an array", path, errors)
    items = []
    for i, item in enumerate(value):
        # A null element is the element type's zero value in Go; the structs and strings here have one.
        at = f"{path}[{i}]"
        zero: Any = {} if isinstance(node.item_type, inspect.StructType) else ""
        decoded = _decode(node.item_type, zero if item is None else item, at, errors)
        if decoded is not _ABSENT:
            items.append(decoded)
        elif isinstance(node.item_type, inspect.StructType):
            items.append(node.item_type.cls())  # keeps the indexes of later elements true
    return tuple(items)


def _decode_map(node: inspect.DictType, value: Any, path: str, errors: list[FieldError]) -> Any:
    if not isinstance(value, dict):
        return _refuse(value, "an object", path, errors)
    decoded = {key: _decode(node.value_type, item, child(path, str(key)), errors) for key, item in value.items()}
    return {key: item for key, item in decoded.items() if item is not _ABSENT}


def _decode_duration(value: Any, path: str, errors: list[FieldError]) -> Any:
    if not isinstance(value, str):
        return _refuse(value, 'a duration such as "15s"', path, errors)
    try:
        return Duration.parse(value)
    except ValueError as error:
        errors.append(invalid(path, value, str(error)))
        return _ABSENT


def _decode_int(node: inspect.IntType, value: Any, path: str, errors: list[FieldError]) -> Any:
    size = "int32" if node.le is not None and node.le < 2**31 else "int64"
    if isinstance(value, bool) or not isinstance(value, int):
        return _refuse(value, size, path, errors)
    if (node.le is not None and value > node.le) or (node.ge is not None and value < node.ge):
        return _refuse(value, size, path, errors)
    return value


def _decode_float(node: inspect.FloatType, value: Any, path: str, errors: list[FieldError]) -> Any:
    del node
    # The comparison is false for NaN, too.
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _MAX_FLOAT32:
        return _refuse(value, "float32", path, errors)
    return float(value)


def _decode_bool(node: inspect.BoolType, value: Any, path: str, errors: list[FieldError]) -> Any:
    del node
    return value if isinstance(value, bool) else _refuse(value, "bool", path, errors)


def _decode_text(node: inspect.StrType, value: Any, path: str, errors: list[FieldError]) -> Any:
    del node
    return value if isinstance(value, str) else _refuse(value, "string", path, errors)


def _decode_bytes(node: inspect.BytesType, value: Any, path: str, errors: list[FieldError]) -> Any:
    del node
    if not isinstance(value, str):
        return _refuse(value, "base64 text", path, errors)
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error as error:
        errors.append(invalid(path, "<omitted>", f"not base64: {error}"))
        return _ABSENT


_SCALARS: dict[type[inspect.Type], Callable[[Any, Any, str, list[FieldError]], Any]] = {
    inspect.IntType: _decode_int,
    inspect.FloatType: _decode_float,
    inspect.BoolType: _decode_bool,
    inspect.StrType: _decode_text,
    inspect.BytesType: _decode_bytes,
}
