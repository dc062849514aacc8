"""What is wrong with a configuration: field errors in the wording of apimachinery's field.Error, collected.

Source of the wording: apimachinery pkg/util/validation/field/errors.go.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, Final

import msgspec

from scheduler.config.duration import Duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

INVALID: Final = "Invalid value"
REQUIRED: Final = "Required value"
DUPLICATE: Final = "Duplicate value"
UNSUPPORTED: Final = "Unsupported value"
FORBIDDEN: Final = "Forbidden"
UNKNOWN_FIELD: Final = "unknown field"
PLAIN: Final = ""

_WITHOUT_VALUE: Final = frozenset({REQUIRED, FORBIDDEN})


class FieldError(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong, and where.

    `path` is the field's place ("profiles[0].plugins.score.enabled[1]"), "" for the document as a whole. `kind`
    is one of this module's constants; `value` is what was found there, shown unless the kind has no value.
    """

    path: str
    kind: str
    value: Any = None
    detail: str = ""

    def __str__(self) -> str:
        if self.kind == UNKNOWN_FIELD:
            return f'unknown field "{self.path}"{self.detail}'
        if self.kind == PLAIN:
            return f"{self.path}: {self.detail}" if self.path else self.detail
        body = self.kind if self.kind in _WITHOUT_VALUE else f"{self.kind}: {show_value(self.value)}"
        body = f"{body}: {self.detail}" if self.detail else body
        return f"{self.path}: {body}" if self.path else body


class ConfigError(ValueError):
    """A configuration that can't be used; `errors` has every reason, `source` says where it was read from."""

    def __init__(self, source: str, errors: Iterable[FieldError]) -> None:
        self.source = source
        unique = {str(error): error for error in errors}
        self.errors: tuple[FieldError, ...] = tuple(unique.values())
        super().__init__("\n".join(f"{source}: {text}" if source else text for text in unique))


def show_value(value: Any) -> str:
    """`value` as field.Error prints it: numbers and booleans bare, the rest as JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Duration):
        return f'"{value}"'
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return msgspec.json.encode(value, enc_hook=str).decode()


def invalid(path: str, value: Any, detail: str) -> FieldError:
    """`path: Invalid value: value: detail`."""
    return FieldError(path=path, kind=INVALID, value=value, detail=detail)


def required(path: str, detail: str = "") -> FieldError:
    """`path: Required value: detail`."""
    return FieldError(path=path, kind=REQUIRED, detail=detail)


def duplicate(path: str, value: Any) -> FieldError:
    """`path: Duplicate value: value`."""
    return FieldError(path=path, kind=DUPLICATE, value=value)


def forbidden(path: str, detail: str) -> FieldError:
    """`path: Forbidden: detail`."""
    return FieldError(path=path, kind=FORBIDDEN, detail=detail)


def not_supported(path: str, value: Any, supported: Sequence[str]) -> FieldError:
    """`path: Unsupported value: value: supported values: ...`."""
    listed = ", ".join(f'"{name}"' for name in supported)
    return FieldError(path=path, kind=UNSUPPORTED, value=value, detail=f"supported values: {listed}")


def plain(detail: str, path: str = "") -> FieldError:
    """An error whose whole text is `detail`."""
    return FieldError(path=path, kind=PLAIN, detail=detail)


def unknown_field(path: str, known: Iterable[str]) -> FieldError:
    """`unknown field "path"`, with the field that was probably meant if one of `known` is close."""
    hint = closest(path.rpartition(".")[2], known)
    return FieldError(path=path, kind=UNKNOWN_FIELD, detail=hint and f", {hint}")


def closest(name: str, known: Iterable[str]) -> str:
    """`did you mean "..."?` for the known name most like `name`, or ""."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    matches = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.75)
    return f'did you mean "{by_lower[matches[0]]}"?' if matches else ""


def child(path: str, *names: str) -> str:
    """The path of a field below `path`, which may be ""."""
    return ".".join((path, *names) if path else names)
