"""YAML as kubectl reads it: text to the JSON value that the API server would be sent.

Plain scalars mean what they mean to Go's reader: "on", "yes" and "y" are booleans, "0755" is an octal number, "22:22"
and dates are texts. Keys that are numbers or booleans become texts.

Source: resolve.go of go.yaml.in/yaml/v2, yaml.go of sigs.k8s.io/yaml.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG: Final = "tag:yaml.org,2002:"
_MERGE: Final = "<<"
_MOST_COPIED: Final = 1_000_000
"""Values that aliases may repeat in one text: a few lines of nested aliases could stand for more than memory holds."""

_WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_INTEGER: Final = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([0-9]+))")
_BASES: Final = (16, 2, 8, 10)
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NUMBERS_BEGIN: Final = frozenset("0123456789+-.")
_WHOLE: Final = 1e21
"""Whole numbers below this are written to JSON without an exponent."""


class YamlError(ValueError):
    """A text that is not YAML, or that no JSON corresponds to; `line` and `column` count from 1, 0 if unknown."""

    def __init__(self, detail: str, line: int = 0, column: int = 0) -> None:
        super().__init__(detail)
        self.detail = detail
        self.line = line
        self.column = column


def documents(text: str) -> Iterator[tuple[int, Any]]:
    """(line at which it begins, value) of each document, empty ones included. Raises YamlError."""
    try:
        yield from _Reader(text).documents()
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        detail = getattr(problem, "problem", None) or getattr(problem, "reason", None) or str(problem)
        raise YamlError(detail, *((mark.line + 1, mark.column + 1) if mark is not None else ())) from problem
    except RecursionError as problem:
        raise YamlError("nested too deeply") from problem


def plain_scalar(text: str) -> Any:
    """What an unquoted scalar means: a text, number, boolean or None."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBERS_BEGIN:
        return text
    digits = text.replace("_", "") if text[0] != "." else text
    found = _INTEGER.fullmatch(digits)
    if found is not None:
        base, body = next((base, body) for base, body in zip(_BASES, found.groups()[1:], strict=True) if body)
        if len(body) <= 64:
            number = int(found[1] + body, base)
            if -(2**63) <= number < 2**64:
                return number
    if _FLOAT.fullmatch(digits):
        value = float(digits)
        return int(value) if value.is_integer() and abs(value) < _WHOLE else value
    return text


class _Reader:
    """Builds values from the parser's events, which takes half the time of PyYAML's own constructors."""

    def __init__(self, text: str) -> None:
        self._loader = _LOADER(text)
        self._next = self._loader.get_event
        self._plain: dict[str, Any] = {}
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._built = 0
        self._copied = 0

    def documents(self) -> Iterator[tuple[int, Any]]:
        try:
            while True:
                event = self._next()
                if isinstance(event, yaml.StreamEndEvent):
                    return
                if isinstance(event, yaml.DocumentStartEvent):
                    self._anchors.clear()
                    first = self._next()
                    yield first.start_mark.line + 1, self._value(first)
        finally:
            self._loader.dispose()

    def _value(self, event: Any) -> Any:
        if isinstance(event, yaml.AliasEvent):
            return self._repeated(event)
        before = self._built
        self._built += 1
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._sequence()
        else:
            value = self._mapping()
        if event.anchor is not None:
            self._anchors[event.anchor] = value, self._built - before
        return value

    def _repeated(self, event: Any) -> Any:
        if event.anchor not in self._anchors:
            raise _at(event, f"anchor '{event.anchor}' is not known here, or is of a value that contains itself")
        value, size = self._anchors[event.anchor]
        self._built += size
        self._copied += size
        if self._copied > _MOST_COPIED:
            raise _at(event, "aliases repeat too much")
        return value

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        if event.implicit[0]:
            try:
                value = self._plain[text]
            except KeyError:
                value = self._plain[text] = plain_scalar(text)
        elif event.tag in (f"{_TAG}int", f"{_TAG}float", f"{_TAG}bool", f"{_TAG}null"):
            value = plain_scalar(text)
        else:
            return text
        if isinstance(value, float) and not math.isfinite(value):
            raise _at(event, f"{text} is no number that JSON has")
        return value

    def _sequence(self) -> list[Any]:
        items = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            items.append(self._value(event))
        return items

    def _mapping(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: list[dict[str, Any]] = []
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            if isinstance(event, yaml.ScalarEvent) and event.implicit[0] and event.value == _MERGE:
                merged += self._merged(self._next())
                continue
            key = self._key(event)
            found[key] = self._value(self._next())
        for more in merged:
            found = {**more, **found}
        return found

    def _key(self, event: Any) -> str:
        key = self._value(event)
        if isinstance(key, str):
            return key
        if isinstance(key, bool):
            return "true" if key else "false"
        if isinstance(key, int | float):
            return f"{key:g}" if isinstance(key, float) else str(key)
        raise _at(event, "a key must be a text, a number or a boolean")

    def _merged(self, event: Any) -> list[dict[str, Any]]:
        value = self._value(event)
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(item, dict) for item in values):
            raise _at(event, "map merge requires map or sequence of maps as the value")
        return values


def _at(event: Any, detail: str) -> YamlError:
    return YamlError(detail, event.start_mark.line + 1, event.start_mark.column + 1)
