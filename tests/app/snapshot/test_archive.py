"""Snapshots as files, good ones and hostile ones."""

from __future__ import annotations

import io
import sys
import tarfile
from typing import TYPE_CHECKING, Any

import pytest

from scheduler.app.manifests import read_manifests
from scheduler.app.problems import ManifestError
from scheduler.app.snapshot.archive import read_snapshot, write_snapshot
from tests.builders import node, pod

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from pathlib import Path

OBJECTS = [node("n1").zone("a").build(), pod("web").cpu("1").on("n1").build(), pod("new").build()]
HEAD = b'{"apiVersion": "snapshot.berth.dev/v1", "kind": "Snapshot"}'
NODES = b'{"items": [{"metadata": {"name": "n1"}}]}'


def written(**options: Any) -> bytes:
    out = io.BytesIO()
    write_snapshot(out, OBJECTS, taken="2026-01-01T00:00:00Z", **options)
    return out.getvalue()


def archive(*members: tuple[str, bytes], **fields: Any) -> bytes:
    """An archive of these files; `fields` are set on each entry."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        for name, content in members:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            for field, value in fields.items():
                setattr(entry, field, value)
            made.addfile(entry, io.BytesIO(content))
    return zstd.compress(out.getvalue())


def refused(content: bytes, **options: Any) -> str:
    with pytest.raises(ManifestError) as caught:
        read_snapshot(io.BytesIO(content), "s.tar.zst", **options)
    return str(caught.value)


class TestWhole:
    def test_what_was_written_is_read(self) -> None:
        about, items = read_snapshot(io.BytesIO(written()), "s")
        assert [item for _, item in items] == OBJECTS
        assert about.counts == {"nodes": 1, "pods": 2}
        assert about.taken == "2026-01-01T00:00:00Z"
        assert not about.anonymized

    def test_the_same_objects_make_the_same_file(self) -> None:
        assert written() == written()

    def test_where_an_object_was_read_is_known(self) -> None:
        _, items = read_snapshot(io.BytesIO(written()), "s")
        assert [place for place, _ in items][1:] == ["s: pods.json: items[0]", "s: pods.json: items[1]"]

    def test_what_was_left_out_is_told(self) -> None:
        about, _ = read_snapshot(io.BytesIO(written(left_out={"services": "no spreading"})), "s")
        assert about.left_out == {"services": "no spreading"}

    def test_anonymous_ones_have_other_names(self) -> None:
        content = written(anonymize=True)
        about, items = read_snapshot(io.BytesIO(content), "s")
        assert about.anonymized
        names: list[Any] = [item for _, item in items]
        assert [item.metadata.name for item in names] == ["node-1", "pod-2", "pod-1"]
        assert names[1].spec.node_name == "node-1"

    def test_files_in_it_can_be_read_by_themselves(self, tmp_path: Path) -> None:
        with tarfile.open(fileobj=io.BytesIO(zstd.decompress(written()))) as unpacked:
            unpacked.extractall(tmp_path, filter="data")
        assert [type(item).__name__ for item in read_manifests([str(tmp_path)]).objects] == ["Node", "Pod", "Pod"]

    def test_how_far_it_is(self) -> None:
        told: list[str] = []
        many = [pod(f"p{number}").build() for number in range(500)]
        out = io.BytesIO()
        write_snapshot(out, many, taken="", anonymize=True, progress=lambda what, *_: told.append(what))
        assert told == ["collecting names", "writing the snapshot"]


class TestAsInput:
    def test_it_is_known_by_its_content_whatever_its_name(self, tmp_path: Path) -> None:
        path = tmp_path / "cluster"
        path.write_bytes(written())
        assert read_manifests([str(path)]).objects == OBJECTS

    def test_its_notes_are_told_again(self, tmp_path: Path) -> None:
        path = tmp_path / "s.tar.zst"
        path.write_bytes(written(left_out={"services": "no spreading"}))
        found = read_manifests([str(path)])
        assert found.notes == [f"{path} was taken without services: no spreading."]
        assert found.left_out == {"services": "no spreading"}

    def test_files_lie_over_it(self, tmp_path: Path) -> None:
        path = tmp_path / "s.tar.zst"
        path.write_bytes(written())
        over = tmp_path / "over.yaml"
        over.write_text("{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {unschedulable: true}}")
        first: Any = read_manifests([str(path), str(over)]).objects[0]
        assert first.spec.unschedulable


class TestHostile:
    @pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "nodes.json/../x", "pods.yaml", "a/pods.json"])
    def test_files_that_do_not_belong_in_it(self, name: str) -> None:
        assert f"s.tar.zst: {name!r} has no place in a snapshot" in refused(archive((name, b"{}")))

    @pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
    def test_what_is_no_file(self, kind: bytes) -> None:
        content = archive(("nodes.json", b""), type=kind, linkname="/etc/passwd")
        assert "'nodes.json' has no place in a snapshot" in refused(content)

    def test_the_same_file_twice(self) -> None:
        assert "nodes.json is in it twice" in refused(archive(("nodes.json", NODES), ("nodes.json", NODES)))

    def test_more_than_it_may_come_to(self) -> None:
        bomb = archive(("snapshot.json", HEAD), ("pods.json", b" " * 2**23))
        assert len(bomb) < 4096
        assert "more than 0.00195312 GiB when unpacked" in refused(bomb, most_bytes=2**21)

    @pytest.mark.parametrize("end", [10, 100, -10])
    def test_what_is_cut_off(self, end: int) -> None:
        assert refused(written()[:end]).startswith("s.tar.zst: ")

    def test_what_is_no_archive(self) -> None:
        assert "s.tar.zst: not a whole snapshot: " in refused(zstd.compress(b"hello" * 300))

    def test_what_is_not_compressed(self) -> None:
        assert "s.tar.zst: not a whole snapshot: " in refused(b"hello" * 300)

    def test_an_archive_of_something_else(self) -> None:
        assert "there is no snapshot.json in it" in refused(archive(("nodes.json", NODES)))

    @pytest.mark.parametrize(
        ("name", "content", "problem"),
        [
            ("snapshot.json", b"{", "snapshot.json: "),
            ("snapshot.json", b'{"apiVersion": "snapshot.berth.dev/v9"}', "or of a newer Berth"),
            ("nodes.json", b"{", "nodes.json: "),
            ("nodes.json", b"[]", "nodes.json: Expected `object`, got `array`"),
            ("nodes.json", b'{"items": [{"metadata": {}}]}', "nodes.json: items[0]: metadata.name: missing"),
            ("pods.json", b'{"items": [{"spec": {"priority": "x"}}]}', "pods.json: items[0]: spec.priority: Expected"),
            ("pods.json", b'{"items": ' + b"[" * 100_000, "pods.json: "),
        ],
    )
    def test_what_can_not_be_read_is_named(self, name: str, content: bytes, problem: str) -> None:
        head = () if name == "snapshot.json" else (("snapshot.json", HEAD),)
        assert problem in refused(archive(*head, (name, content)))
