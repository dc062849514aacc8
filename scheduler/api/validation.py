"""Validation of label keys and values, with the API machinery's messages.

Source: k8s.io/apimachinery/pkg/api/validate/content, pkg/util/validation/field/errors.go.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_KEY_FORMAT: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE_FORMAT: Final = f"({_KEY_FORMAT})?"
_LABEL_FORMAT: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_FORMAT: Final = rf"{_LABEL_FORMAT}(\.{_LABEL_FORMAT})*"

_KEY: Final = re.compile(_KEY_FORMAT)
_VALUE: Final = re.compile(_VALUE_FORMAT)
_SUBDOMAIN: Final = re.compile(_SUBDOMAIN_FORMAT)


def _explained(rule: str, pattern: str, *examples: str) -> str:
    """Return the text of ``content.RegexError``, with its own way of joining the examples."""
    listed = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {listed}regex used for validation is '{pattern}')"


_CHARACTERS: Final = "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
_KEY_MESSAGE: Final = _explained(f"must consist of {_CHARACTERS}", _KEY_FORMAT, "MyName", "my.name", "123-abc")
_PREFIX_HINT: Final = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
_VALUE_MESSAGE: Final = _explained(
    f"a valid label must be an empty string or consist of {_CHARACTERS}",
    _VALUE_FORMAT,
    "MyValue",
    "my_value",
    "12345",
)
_SUBDOMAIN_MESSAGE: Final = _explained(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character",
    _SUBDOMAIN_FORMAT,
    "example.com",
)

_MAX_LABEL: Final = 63
_MAX_SUBDOMAIN: Final = 253


@lru_cache(maxsize=8_192)
def label_key_problems(key: str) -> tuple[str, ...]:
    """Return what is wrong with a label key (``content.IsLabelKey``); nothing if it is valid."""
    parts = key.split("/")
    if len(parts) > 2:
        return (f"a valid label key {_KEY_MESSAGE} {_PREFIX_HINT}",)
    problems: list[str] = []
    if len(parts) == 2:
        problems += [f"prefix part {problem}" for problem in _prefix_problems(parts[0])]
    name = parts[-1]
    if not name:
        problems.append("name part must be non-empty")
    elif _bytes(name) > _MAX_LABEL:
        problems.append(f"name part must be no more than {_MAX_LABEL} bytes")
    if not _KEY.fullmatch(name):
        problems.append(f"name part {_KEY_MESSAGE}")
    return tuple(problems)


@lru_cache(maxsize=8_192)
def label_value_problems(value: str) -> tuple[str, ...]:
    """Return what is wrong with a label value (``content.IsLabelValue``); nothing if it is valid."""
    problems: list[str] = []
    if _bytes(value) > _MAX_LABEL:
        problems.append(f"must be no more than {_MAX_LABEL} bytes")
    if not _VALUE.fullmatch(value):
        problems.append(_VALUE_MESSAGE)
    return tuple(problems)


def invalid(path: str, value: str | tuple[str, ...], detail: str) -> str:
    """Return the text of ``field.Invalid(path, value, detail)``."""
    return f"{path}: Invalid value: {_shown(value)}: {detail}"


def not_supported(path: str, value: str, supported: tuple[str, ...]) -> str:
    """Return the text of ``field.NotSupported(path, value, supported)``."""
    return f"{path}: Unsupported value: {_shown(value)}: supported values: {', '.join(map(_shown, supported))}"


def aggregate(problems: Iterable[str]) -> str:
    """Return the text of an aggregate of errors: distinct messages, in brackets if there are several."""
    distinct = tuple(dict.fromkeys(problems))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"


def _prefix_problems(prefix: str) -> list[str]:
    if not prefix:
        return ["must be non-empty"]
    problems = []
    if _bytes(prefix) > _MAX_SUBDOMAIN:
        problems.append(f"must be no more than {_MAX_SUBDOMAIN} bytes")
    if not _SUBDOMAIN.fullmatch(prefix):
        problems.append(_SUBDOMAIN_MESSAGE)
    return problems


def _bytes(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


def _shown(value: str | tuple[str, ...]) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if value else "null"
