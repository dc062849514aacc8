"""The syntax of Kubernetes names, with apimachinery's messages.

Source: apimachinery pkg/api/validate/content/{kube,dns}.go, kubernetes pkg/apis/core/v1/helper/helpers.go.
"""

from __future__ import annotations

import re

_PART = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_CHARACTERS = (
    "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_KEY_MESSAGE = (
    f"must {_CHARACTERS} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_PART}')"
)
_VALUE_MESSAGE = (
    f"a valid label must be an empty string or {_CHARACTERS} "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '({_PART})?')"
)
_SUBDOMAIN_MESSAGE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character "
    f"(e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_PART_PATTERN = re.compile(_PART)
_SUBDOMAIN_PATTERN = re.compile(_SUBDOMAIN)
_MAX_NAME = 63
_MAX_SUBDOMAIN = 253


def subdomain_problems(value: str) -> list[str]:
    """Why `value` is no lowercase RFC 1123 subdomain; empty if it is one."""
    problems = []
    if len(value.encode()) > _MAX_SUBDOMAIN:
        problems.append(f"must be no more than {_MAX_SUBDOMAIN} bytes")
    if not _SUBDOMAIN_PATTERN.fullmatch(value):
        problems.append(_SUBDOMAIN_MESSAGE)
    return problems


def label_key_problems(value: str) -> list[str]:
    """Why `value` is no qualified name (label key, resource name, topology key); empty if it is one."""
    prefix, slash, name = value.rpartition("/")
    if "/" in prefix:
        prefixed = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {_KEY_MESSAGE} {prefixed}"]
    problems = []
    if slash and not prefix:
        problems.append("prefix part must be non-empty")
    elif slash:
        problems += [f"prefix part {problem}" for problem in subdomain_problems(prefix)]
    if not name:
        problems.append("name part must be non-empty")
    elif len(name.encode()) > _MAX_NAME:
        problems.append(f"name part must be no more than {_MAX_NAME} bytes")
    if not _PART_PATTERN.fullmatch(name):
        problems.append(f"name part {_KEY_MESSAGE}")
    return problems


def label_value_problems(value: str) -> list[str]:
    """Why `value` is no label value; empty if it is one."""
    problems = []
    if len(value.encode()) > _MAX_NAME:
        problems.append(f"must be no more than {_MAX_NAME} bytes")
    if value and not _PART_PATTERN.fullmatch(value):
        problems.append(_VALUE_MESSAGE)
    return problems


def is_extended_resource(name: str) -> bool:
    """Whether `name` is an extended resource: of a domain of its own that isn't kubernetes.io's."""
    native = "/" not in name or "kubernetes.io/" in name
    return not native and not name.startswith("requests.") and not label_key_problems(f"requests.{name}")
