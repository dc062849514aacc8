"""Kubernetes objects from files: multi-document YAML or JSON, directories, standard input."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from scheduler.api.decode import DecodeError, decode_as
from scheduler.api.defaults import apply_defaults
from scheduler.api.resources import KINDS, resource_of
from scheduler.app.fields import explained
from scheduler.app.yaml_text import YamlError, documents
from scheduler.config.load import is_scheduler_config

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scheduler.api.meta import Model

STDIN: Final = "-"
_SUFFIXES: Final = (".yaml", ".yml", ".json")
_LIST: Final = "List"
_SPACE: Final = re.compile(r"[ \t\r\n]*")


class ManifestError(ValueError):
    """An input that can't be read; the text says which file, which document, which field."""


class Manifests:
    """What was read: objects with the API server's defaults, the configuration among them, and what was left out.

    - `objects`: in the order of the input.
    - `config`: where the KubeSchedulerConfiguration was, and its value.
    - `skipped`: how many objects there were of kinds that scheduling does not read, by kind.
    """

    def __init__(self) -> None:
        self.objects: list[Model] = []
        self.config: tuple[str, dict[str, Any]] | None = None
        self.skipped: Counter[str] = Counter()
        self._places: dict[tuple[type[Model], str, str], str] = {}

    def add(self, place: str, item: Model) -> None:
        """Add an object. Raises ManifestError if there is one of its kind and name already."""
        key = _key(item)
        if key in self._places:
            _, namespace, name = key
            named = f"{type(item).__name__} {f'{namespace}/' if namespace else ''}{name}"
            raise ManifestError(f"{place}: {named} is there twice; it is in {self._places[key]} as well")
        self._places[key] = place
        self.objects.append(item)

    def place_of(self, item: Model) -> str:
        """Where the object of this kind and name was read, "" if there is none."""
        return self._places.get(_key(item), "")


def _key(item: Model) -> tuple[type[Model], str, str]:
    """What tells an object from others: its type, namespace and name."""
    metadata: Any = item.metadata  # type: ignore[attr-defined]  # every kind has it; their base class does not say so
    namespace = (metadata.namespace or "default") if resource_of(type(item)).namespaced else ""
    return type(item), namespace, metadata.name


def read_manifests(paths: Iterable[str]) -> Manifests:
    """Read files, directories (their .yaml, .yml and .json files, not below) and "-" for standard input.

    Raises ManifestError for the first input that can't be read.
    """
    found = Manifests()
    for path in paths:
        for source, text in _texts(path):
            for place, value in _documents(source, text):
                _take(found, place, value)
    return found


def _texts(path: str) -> Iterator[tuple[str, str]]:
    if path == STDIN:
        yield "standard input", _decoded("standard input", sys.stdin.buffer.read())
        return
    for file in _files(path):
        try:
            raw = file.read_bytes()
        except OSError as problem:
            raise ManifestError(f"{file}: {problem.strerror or problem}") from problem
        yield str(file), _decoded(str(file), raw)


def _files(path: str) -> list[Path]:
    place = Path(path)
    try:
        if not place.is_dir():
            return [place]
        files = sorted(file for file in place.iterdir() if file.suffix in _SUFFIXES and file.is_file())
    except (OSError, ValueError) as problem:
        raise ManifestError(f"{path}: {getattr(problem, 'strerror', None) or problem}") from problem
    if not files:
        raise ManifestError(f"{path}: no {', '.join(_SUFFIXES)} files in this directory")
    return files


def _decoded(source: str, raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise ManifestError(f"{source}: not UTF-8 text: {problem.reason} at byte {problem.start}") from problem


def _documents(source: str, text: str) -> Iterator[tuple[str, Any]]:
    """(where, value) of each document. JSON is read as such, since that is much quicker than YAML."""
    if text.lstrip()[:1] in ("{", "["):
        values = _json_values(text)
        if values is not None:
            for number, value in enumerate(values, 1):
                yield (source if len(values) == 1 else f"{source}, document {number}"), value
            return
    try:
        for number, (line, value) in enumerate(documents(text), 1):
            if value is not None:
                yield f"{source}, document {number} (line {line})", value
    except YamlError as problem:
        where = f"{source}, line {problem.line}, column {problem.column}" if problem.line else source
        raise ManifestError(f"{where}: {problem.detail}") from problem


def _json_values(text: str) -> list[Any] | None:
    """The JSON values that a text consists of, one after another; None if it is not JSON (YAML in flow style, say)."""
    try:
        return [msgspec.json.decode(text)]
    except (msgspec.DecodeError, RecursionError):
        pass
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


def _take(found: Manifests, place: str, value: Any) -> None:
    if isinstance(value, list):
        for index, item in enumerate(value):
            _take(found, f"{place}, item {index}", item)
        return
    if not isinstance(value, dict):
        raise ManifestError(f"{place}: not a Kubernetes object but {_json_type(value)}")
    api_version, kind = value.get("apiVersion"), value.get("kind")
    for field, given in (("apiVersion", api_version), ("kind", kind)):
        if not isinstance(given, str) or not given:
            raise ManifestError(
                f"{place}: {field}: {'missing' if given is None else 'not a name'}; every object needs one"
            )
    assert isinstance(api_version, str)
    assert isinstance(kind, str)
    if kind.endswith(_LIST) and isinstance(value.get("items", []), list | None):
        _take_items(found, place, value, api_version, kind.removesuffix(_LIST))
    elif is_scheduler_config(value):
        if found.config is not None:
            raise ManifestError(f"{place}: a second KubeSchedulerConfiguration; the first is in {found.config[0]}")
        found.config = (place, value)
    elif (type_ := KINDS.get((api_version, kind))) is None:
        found.skipped[kind] += 1
    else:
        found.add(place, _object(place, value, type_))


def _take_items(found: Manifests, place: str, value: dict[str, Any], api_version: str, kind: str) -> None:
    """The items of a list; those of a list of one kind (PodList) need not repeat what they are."""
    for index, item in enumerate(value.get("items") or ()):
        if isinstance(item, dict) and kind:
            item = {"apiVersion": api_version, "kind": kind, **item}
        _take(found, f"{place}, items[{index}]", item)


def _object(place: str, value: dict[str, Any], type_: type[Model]) -> Model:
    """One object of a known type, with the API server's defaults. Raises ManifestError that names the field."""
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    try:
        if not name:
            raise DecodeError("missing; an object needs a name", "metadata.name")
        return decode_as(type_, apply_defaults(value))
    except DecodeError as problem:
        named = f"{value['kind']} {name}" if name else value["kind"]
        raise ManifestError(f"{place}: {named}: {explained(problem, value)}") from problem


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    return {str: "a text", bool: "a boolean", int: "a number", float: "a number"}.get(type(value), type(value).__name__)
