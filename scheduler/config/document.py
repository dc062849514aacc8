"""Text to plain JSON values: one YAML or JSON document, where a key that is given twice is an error."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

import yaml

from scheduler.config.errors import ConfigError, FieldError, plain

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator


def parse_document(text: str | bytes, *, source: str) -> Any:
    """The document in `text` as dicts, lists, strings, numbers, booleans and None.

    Raises ConfigError, with the lines, if `text` is no UTF-8, YAML or JSON, repeats a key, uses a key that isn't a
    string, or holds several documents; all repeated keys are listed.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ConfigError(source, [plain(f"not UTF-8: {error.reason} at byte {error.start}")]) from error
    if text.lstrip().startswith("{"):
        try:
            return _parse_json(text, source)
        except ConfigError:
            raise
        except (ValueError, RecursionError):
            pass  # a YAML flow mapping is no JSON; the YAML reader tells what is wrong with it
    return _parse_yaml(text, source)


def _parse_json(text: str, source: str) -> Any:
    problems: list[FieldError] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                problems.append(plain(f'duplicate field "{key}"'))
            seen.add(key)
        return dict(pairs)

    value = json.loads(text, object_pairs_hook=unique)
    if problems:
        raise ConfigError(source, problems)
    return value


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader without dates, which notes keys that are repeated or aren't strings."""

    problems: list[FieldError]


_MERGE_TAG = "tag:yaml.org,2002:merge"


def _construct_mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Hashable, Any]:
    seen: set[Hashable] = set()
    for key_node, _ in node.value:
        if key_node.tag == _MERGE_TAG:
            continue
        key = loader.construct_object(key_node, deep=True)
        line = key_node.start_mark.line + 1
        if not isinstance(key, str):
            loader.problems.append(plain(f"line {line}: key {key!r} is not a string"))
        elif key in seen:
            loader.problems.append(plain(f'line {line}: key "{key}" already set in map'))
        else:
            seen.add(key)
    loader.flatten_mapping(node)
    return loader.construct_mapping(node, deep=True)


def _construct_float(loader: _Loader, node: yaml.ScalarNode) -> float | int:
    """A number; a whole one is an integer, as it is in the JSON that kube-scheduler makes of YAML."""
    value = yaml.SafeLoader.construct_yaml_float(loader, node)
    return int(value) if math.isfinite(value) and value.is_integer() else value


_FLOAT_TAG = "tag:yaml.org,2002:float"
_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _construct_mapping)
_Loader.add_constructor(_FLOAT_TAG, _construct_float)
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
# PyYAML wants a point in a number with an exponent; Go's reader takes 1e3, too.
_Loader.add_implicit_resolver(_FLOAT_TAG, re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+$"), list("-+0123456789"))


def _parse_yaml(text: str, source: str) -> Any:
    try:
        loader = _Loader(text)
        loader.problems = []
        documents = list(_documents(loader))
    except yaml.YAMLError as error:
        raise ConfigError(source, [plain(f"not YAML: {error}")]) from error
    except ValueError as error:  # a number of thousands of digits
        raise ConfigError(source, [plain(f"not a configuration: {error}")]) from error
    except RecursionError as error:
        raise ConfigError(source, [plain("not a configuration: nested too deeply")]) from error
    if loader.problems:
        raise ConfigError(source, loader.problems)
    filled = [document for document in documents if document is not None]
    if len(filled) > 1:
        raise ConfigError(source, [plain(f"holds {len(filled)} documents where one is expected")])
    return filled[0] if filled else None


def _documents(loader: _Loader) -> Iterator[Any]:
    while loader.check_node():
        node = loader.get_node()
        if node is not None:
            yield loader.construct_document(node)
