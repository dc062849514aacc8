"""Snapshots as files: a tar archive, compressed with zstd, of one list a kind and a page about the whole."""

from __future__ import annotations

import io
import sys
import tarfile
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import msgspec

from scheduler.api.decode import DecodeError, decode_as
from scheduler.api.resources import RESOURCES, resource_of
from scheduler.app.problems import ManifestError
from scheduler.app.progress import unseen
from scheduler.app.snapshot.pseudonyms import Collected, Pseudonyms
from scheduler.app.snapshot.renames import Renames
from scheduler.app.snapshot.trimming import Trimmer
from scheduler.version import __version__

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scheduler.api.meta import Model
    from scheduler.api.objects import Pod
    from scheduler.api.resources import Resource
    from scheduler.app.progress import Progress

SUFFIX: Final = ".tar.zst"
API_VERSION: Final = "snapshot.berth.dev/v1"
KIND: Final = "Snapshot"
MOST_BYTES: Final = 4 * 2**30
"""What a snapshot may come to when it is unpacked."""
_HEAD: Final = "snapshot.json"
_MOST_MEMBERS: Final = 2 * len(RESOURCES)
_WINDOW_LOG: Final = 27
"""The largest window (as a power of two) that is unpacked: 128 MiB."""
_LEVEL: Final = 9
_CHUNK: Final = 2**20
_BY_FILE: Final = {f"{resource.plural}.json": resource for resource in RESOURCES}


class About(msgspec.Struct, frozen=True, rename="camel"):
    """What a snapshot is: when it was taken, of how many objects, what was not seen, and whether names are real."""

    api_version: str = API_VERSION
    kind: str = KIND
    taken: str = ""
    berth: str = __version__
    anonymized: bool = False
    counts: dict[str, int] = {}
    left_out: dict[str, str] = {}


class _List(msgspec.Struct):
    items: list[msgspec.Raw] = []


def write_snapshot(
    out: BinaryIO,
    objects: Iterable[Model],
    *,
    taken: str,
    left_out: dict[str, str] | None = None,
    anonymize: bool = False,
    progress: Progress = unseen,
) -> tuple[About, Pseudonyms | None]:
    """Write a snapshot of objects; what was written, and the pseudonyms if there are any.

    `taken` is a time as RFC 3339 has it; `left_out` says by plural name what could not be read, and what that means.
    """
    by_kind = _sorted_by_kind(objects)
    total = sum(map(len, by_kind.values()))
    names = _collect(by_kind, total, progress) if anonymize else None
    counts = {resource.plural: len(items) for resource, items in by_kind.items()}
    about = About(taken=taken, anonymized=anonymize, counts=counts, left_out=left_out or {})
    renames = Renames(names) if names is not None else None
    trimmer = Trimmer(renames.table() if renames is not None else None)
    with (
        zstd.ZstdFile(out, "w", level=_LEVEL) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        _add(archive, _HEAD, msgspec.json.format(msgspec.json.encode(about), indent=2) + b"\n")
        done = 0
        for resource, items in by_kind.items():
            if renames is not None:
                renames.kind = resource.kind
            lines = []
            for item in items:
                lines.append(msgspec.json.encode(trimmer.value(item)))
                done += 1
                if done % 500 == 0:
                    progress("writing the snapshot", done, total)
            head = f'{{"apiVersion":"{resource.api_version}","kind":"{resource.kind}List","items":[\n'.encode()
            _add(archive, f"{resource.plural}.json", head + b",\n".join(lines) + b"\n]}\n")
    return about, names


def read_snapshot(
    stream: BinaryIO, source: str, *, most_bytes: int = MOST_BYTES, progress: Progress = unseen
) -> tuple[About, list[tuple[str, Model]]]:
    """What a snapshot is, and its objects with the place that each was read from.

    Nothing in it is trusted: files of other names, links, and more than `most_bytes` are refused, and nothing is ever
    written. Raises ManifestError, which names `source`.
    """
    about: About | None = None
    found: list[tuple[str, Model]] = []
    try:
        for name, content in _members(stream, source, most_bytes):
            if name == _HEAD:
                about = _about(source, content)
            else:
                resource = _BY_FILE[name]
                progress(f"reading {resource.plural} of {source}", 0, None)
                found += _objects(source, name, resource, content)
    except (tarfile.TarError, zstd.ZstdError, EOFError) as problem:
        raise ManifestError(f"{source}: not a whole snapshot: {problem}") from problem
    if about is None:
        raise ManifestError(f"{source}: no snapshot of berth: there is no {_HEAD} in it")
    return about, found


def _sorted_by_kind(objects: Iterable[Model]) -> dict[Resource, list[Model]]:
    found: dict[Resource, list[Model]] = {}
    for item in objects:
        found.setdefault(resource_of(type(item)), []).append(item)
    return found


def _collect(by_kind: dict[Resource, list[Model]], total: int, progress: Progress) -> Pseudonyms:
    collected = Collected()
    renames = Renames(collected)
    trimmer = Trimmer(renames.table())
    done = 0
    for resource, items in by_kind.items():
        renames.kind = resource.kind
        for item in items:
            if resource.kind == "Pod":
                pod: Pod = item  # type: ignore[assignment]  # as its kind says
                renames.pod(pod)
            trimmer.value(item)
            done += 1
            if done % 500 == 0:
                progress("collecting names", done, total)
    return collected.pseudonyms()


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mode = 0o644
    archive.addfile(member, io.BytesIO(content))


def _members(stream: BinaryIO, source: str, most_bytes: int) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file, read one after the other without a place to go back to."""
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}
    seen: set[str] = set()
    with zstd.ZstdFile(stream, "r", options=options) as unpacked:
        limited = _Limited(unpacked, source, most_bytes)
        with tarfile.open(fileobj=limited, mode="r|", bufsize=_CHUNK) as archive:  # type: ignore[call-overload]
            for member in archive:
                name = member.name
                if not member.isreg() or (name != _HEAD and name not in _BY_FILE):
                    raise ManifestError(f"{source}: {name[:80]!r} has no place in a snapshot")
                if name in seen or len(seen) >= _MOST_MEMBERS:
                    raise ManifestError(f"{source}: {name} is in it twice")
                seen.add(name)
                limited.check(member.size)
                content = archive.extractfile(member)
                assert content is not None  # as it is a regular file
                yield name, content.read()


class _Limited:
    """Reads on until there has been too much."""

    def __init__(self, stream: Any, source: str, most: int) -> None:
        self._stream = stream
        self._source = source
        self._most = most
        self._read = 0

    def read(self, size: int) -> bytes:
        """As a file's; raises ManifestError beyond the limit."""
        data: bytes = self._stream.read(size)
        self._read += len(data)
        self.check(0)
        return data

    def check(self, more: int) -> None:
        """Raises ManifestError if so many bytes more go beyond the limit."""
        if self._read + more > self._most + _CHUNK:
            limit = f"{self._most / 2**30:g} GiB"
            raise ManifestError(f"{self._source}: more than {limit} when unpacked, which is no snapshot of a cluster")


def _about(source: str, content: bytes) -> About:
    try:
        about = decode_as(About, content)
    except DecodeError as problem:
        raise ManifestError(f"{source}: {_HEAD}: {problem}") from problem
    if (about.api_version, about.kind) != (API_VERSION, KIND):
        shown = f"apiVersion {about.api_version!r} and kind {about.kind!r}"
        raise ManifestError(f"{source}: {_HEAD}: {shown} are of another kind of file, or of a newer Berth")
    return about


def _objects(source: str, name: str, resource: Resource, content: bytes) -> Iterator[tuple[str, Model]]:
    try:
        items = decode_as(_List, content).items
    except DecodeError as problem:
        raise ManifestError(f"{source}: {name}: {problem}") from problem
    for index, raw in enumerate(items):
        place = f"{source}: {name}: items[{index}]"
        try:
            item = decode_as(resource.type, raw)
        except DecodeError as problem:
            raise ManifestError(f"{place}: {problem}") from problem
        if not item.metadata.name:  # type: ignore[attr-defined]  # every kind has it
            raise ManifestError(f"{place}: metadata.name: missing; an object needs a name")
        yield place, item
