"""Kubernetes objects from files: multi-document YAML or JSON, directories, standard input, snapshots."""

from __future__ import annotations

import codecs
import re
import sys
from collections import Counter
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from scheduler.api.decode import DecodeError, decode_as
from scheduler.api.defaults import apply_defaults, default_in_place
from scheduler.api.meta import Model
from scheduler.api.resources import KINDS, resource_of
from scheduler.api.stored import decode_stored
from scheduler.app.fields import explained
from scheduler.app.json_text import json_values
from scheduler.app.problems import ManifestError
from scheduler.app.progress import unseen
from scheduler.app.whatif.workloads import is_workload, workload_of
from scheduler.app.yaml_text import YamlError, documents
from scheduler.config.load import is_scheduler_config

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scheduler.app.progress import Progress
    from scheduler.app.whatif.workloads import Workload

__all__ = ["STDIN", "ManifestError", "Manifests", "read_manifests"]

STDIN: Final = "-"
_SUFFIXES: Final = (".yaml", ".yml", ".json")
_LIST: Final = "List"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
"""How a snapshot begins, as does whatever zstd has compressed."""
_JSON_BEGINS: Final = re.compile(rb"\s*[{\[]")


class Manifests:
    """What was read: objects with the API server's defaults, the configuration among them, and what was left out.

    - `config`: where the KubeSchedulerConfiguration was, and its value.
    - `workloads`: the objects that pods can be made of, by kind, namespace and name.
    - `skipped`: how many objects there were of kinds that scheduling does not read, by kind.
    - `replaced`: how many objects took the place of one that was read before, by where the new ones came from.
    - `left_out`: by plural name what could not be read of the cluster, and what that means.
    - `notes`: what else there is to tell of the input, a sentence each.

    Inputs lie one over the other: an object takes the place of the one of its kind and name in an earlier input, in the
    order of which it stays. Within one input a name may be there once only.
    """

    def __init__(self) -> None:
        self.config: tuple[str, dict[str, Any]] | None = None
        self.workloads: dict[tuple[str, str, str], Workload] = {}
        self.skipped: Counter[str] = Counter()
        self.replaced: Counter[str] = Counter()
        self.left_out: dict[str, str] = {}
        self.notes: list[str] = []
        self._objects: dict[_Key, Model] = {}
        self._places: dict[_Key, str] = {}
        self._here: set[_Key] = set()
        self._input = ""

    @property
    def objects(self) -> list[Model]:
        """All objects, in the order of the input."""
        return list(self._objects.values())

    def begin(self, source: str) -> None:
        """What is added from now on comes from another input, and lies over what was added before."""
        self._here = set()
        self._input = source

    def add(self, place: str, item: Model) -> None:
        """Add an object. Raises ManifestError if this input has one of its kind and name already."""
        key = _key(item)
        if key in self._here:
            _, namespace, name = key
            named = f"{type(item).__name__} {f'{namespace}/' if namespace else ''}{name}"
            raise ManifestError(f"{place}: {named} is there twice; it is in {self._places[key]} as well")
        if key in self._objects:
            self.replaced[self._input] += 1
        self._here.add(key)
        self._places[key] = place
        self._objects[key] = item

    def place_of(self, item: Model) -> str:
        """Where the object of this kind and name was read, "" if there is none."""
        return self._places.get(_key(item), "")


_Key: TypeAlias = "tuple[type[Model], str, str]"


def _key(item: Model) -> _Key:
    """What tells an object from others: its type, namespace and name."""
    metadata: Any = item.metadata  # type: ignore[attr-defined]  # every kind has it; their base class does not say so
    namespace = (metadata.namespace or "default") if resource_of(type(item)).namespaced else ""
    return type(item), namespace, metadata.name


def read_manifests(paths: Iterable[str], *, over: Manifests | None = None, progress: Progress = unseen) -> Manifests:
    """Read files, directories (their .yaml, .yml and .json files, not below), "-" for standard input, and snapshots.

    Each lies over those before it, and over what is in `over`. Raises ManifestError for the first input that can't be
    read.
    """
    found = over if over is not None else Manifests()
    for path in paths:
        found.begin(path)
        for source, stream in _streams(path):
            progress(f"reading {source}", 0, None)
            if stream.peek(len(_ZSTD))[: len(_ZSTD)] == _ZSTD:
                _take_snapshot(found, source, stream, progress)
                continue
            for place, value, own in _documents(source, _utf8(source, stream.read())):
                _take(found, place, value, own=own)
    return found


def _streams(path: str) -> Iterator[tuple[str, BufferedReader]]:
    if path == STDIN:
        stdin = sys.stdin.buffer
        yield "standard input", stdin if isinstance(stdin, BufferedReader) else BufferedReader(stdin)  # type: ignore[arg-type]
        return
    for file in _files(path):
        try:
            with file.open("rb") as stream:
                yield str(file), stream
        except OSError as problem:
            raise ManifestError(f"{file}: {problem.strerror or problem}") from problem


def _take_snapshot(found: Manifests, source: str, stream: BufferedReader, progress: Progress) -> None:
    from scheduler.app.snapshot.archive import read_snapshot

    about, items = read_snapshot(stream, source, progress=progress)
    found.left_out.update(about.left_out)
    found.notes += [f"{source} was taken without {plural}: {meaning}." for plural, meaning in about.left_out.items()]
    for place, item in items:
        found.add(place, item)


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


def _utf8(source: str, raw: bytes) -> bytes:
    text = raw.removeprefix(codecs.BOM_UTF8)
    try:
        if not text.isascii():
            text.decode()
    except UnicodeDecodeError as problem:
        raise ManifestError(f"{source}: not UTF-8 text: {problem.reason} at byte {problem.start}") from problem
    return text


def _documents(source: str, text: bytes) -> Iterator[tuple[str, Any, bool]]:
    """(where, value, whether it is free of aliases) of each document.

    JSON is read as such, since that is much quicker than YAML.
    """
    if _JSON_BEGINS.match(text):
        values = json_values(text)
        if values is not None:
            for number, value in enumerate(values, 1):
                yield (source if len(values) == 1 else f"{source}, document {number}"), value, True
            return
    try:
        for number, (line, value) in enumerate(documents(text.decode()), 1):
            if value is not None:
                yield f"{source}, document {number} (line {line})", value, False
    except YamlError as problem:
        where = f"{source}, line {problem.line}, column {problem.column}" if problem.line else source
        raise ManifestError(f"{where}: {problem.detail}") from problem


def _take(found: Manifests, place: str, value: Any, *, own: bool) -> None:
    if isinstance(value, Model):
        found.add(place, value)
        return
    if isinstance(value, list):
        for index, item in enumerate(value):
            _take(found, f"{place}, item {index}", item, own=own)
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
        _take_items(found, place, value, api_version, kind.removesuffix(_LIST), own=own)
    elif is_scheduler_config(value):
        if found.config is not None:
            raise ManifestError(f"{place}: a second KubeSchedulerConfiguration; the first is in {found.config[0]}")
        found.config = (place, value)
    else:
        _take_object(found, place, value, KINDS.get((api_version, kind)), own=own)


def _take_object(found: Manifests, place: str, value: dict[str, Any], type_: type[Model] | None, *, own: bool) -> None:
    made = _workload(place, value) if is_workload(value["apiVersion"], value["kind"]) else None
    if made is not None:
        found.workloads[made.kind, made.namespace, made.name] = made
    if type_ is not None:
        found.add(place, _object(place, value, type_, own=own))
    elif made is None:
        found.skipped[value["kind"]] += 1


def _workload(place: str, value: dict[str, Any]) -> Workload | None:
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    try:
        return workload_of(value, place)
    except DecodeError as problem:
        named = f"{value['kind']} {name}" if name else value["kind"]
        raise ManifestError(f"{place}: {named}: {explained(problem, value)}") from problem


def _take_items(found: Manifests, place: str, value: dict[str, Any], api_version: str, kind: str, *, own: bool) -> None:
    """The items of a list; those of a list of one kind (PodList) need not repeat what they are."""
    for index, item in enumerate(value.get("items") or ()):
        if isinstance(item, dict) and kind:
            item = {"apiVersion": api_version, "kind": kind, **item}
        _take(found, f"{place}, items[{index}]", item, own=own)


def _object(place: str, value: dict[str, Any], type_: type[Model], *, own: bool) -> Model:
    """One object of a known type, with the API server's defaults. Raises ManifestError that names the field.

    `own` allows to change `value`.
    """
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    try:
        if name is None or name == "":
            raise DecodeError("missing; an object needs a name", "metadata.name")
        return _decoded(type_, value, own=own)
    except DecodeError as problem:
        named = f"{value['kind']} {name}" if name else value["kind"]
        raise ManifestError(f"{place}: {named}: {explained(problem, value)}") from problem


def _decoded(type_: type[Model], value: dict[str, Any], *, own: bool) -> Model:
    if own:
        return decode_as(type_, default_in_place(value))
    try:
        found = decode_stored(type_, msgspec.json.encode(value))
    except (TypeError, ValueError, RecursionError):
        found = None
    return found if found is not None else decode_as(type_, apply_defaults(value))


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    return {str: "a text", bool: "a boolean", int: "a number", float: "a number"}.get(type(value), type(value).__name__)
