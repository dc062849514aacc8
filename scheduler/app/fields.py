"""Telling which field of an object does not decode."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from scheduler.api.decode import DecodeError

_ANY_KEY: Final = "..."
_STEP: Final = re.compile(r"\[(\.\.\.|[0-9]+)\]|([^.\[\]]+)")
_WRONG_TYPE: Final = re.compile(r"Expected `(?P<wanted>[^`]+)`, got `(?P<got>bool|int|float)`")


def explained(problem: DecodeError, value: dict[str, Any]) -> str:
    """What is wrong with an object, and in which field, down to the key of a map.

    A decoder knows the map only ("metadata.labels[...]"); `value` is the object that it was given.
    """
    path, detail = problem.path, problem.detail
    found = _WRONG_TYPE.match(detail)
    if found is not None and found["wanted"] == "str":
        detail = f"{detail}; put it in quotes if a text is meant"
        if path.endswith(f"[{_ANY_KEY}]"):
            path = _with_key(path, value)
    return f"{path}: {detail}" if path else detail


def _with_key(path: str, value: Any) -> str:
    for index, name in _STEP.findall(path)[:-1]:
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and index.isdigit() and int(index) < len(value):
            value = value[int(index)]
    items = value.items() if isinstance(value, dict) else ()
    key = next((key for key, item in items if isinstance(item, bool | int | float)), _ANY_KEY)
    return f"{path.removesuffix(f'[{_ANY_KEY}]')}[{key}]"
