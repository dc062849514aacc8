"""How long work tells how far it is: what it is at, how much is done, of how much."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from scheduler.app.manifests import read_manifests
from scheduler.app.progress import unseen
from scheduler.app.snapshot.archive import write_snapshot
from tests.builders import node, pod

if TYPE_CHECKING:
    from pathlib import Path

    from scheduler.app.progress import Progress

Told = list[tuple[str, int, int | None]]


def noting(told: Told) -> Progress:
    return lambda what, done, total: told.append((what, done, total))


def test_files_are_named_while_nobody_knows_how_much_is_in_them(tmp_path: Path) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text("{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: []}}\n")
    told: Told = []
    read_manifests([str(path)], progress=noting(told))
    assert told == [(f"reading {path}", 0, None)]


def test_what_is_counted_goes_up_to_no_more_than_the_whole() -> None:
    told: Told = []
    objects = [node("n").build(), *(pod(f"p{number}").build() for number in range(1_200))]
    write_snapshot(io.BytesIO(), objects, taken="2026-01-01T00:00:00Z", anonymize=True, progress=noting(told))
    for what in ("collecting names", "writing the snapshot"):
        counts = [(done, total) for said, done, total in told if said == what]
        assert counts == sorted(counts)
        assert {total for _, total in counts} == {1_201}
        assert 0 < counts[-1][0] <= 1_201
    order = [what for what, _, _ in told]
    assert order == sorted(order)  # names are collected first, and written only then


def test_work_that_nobody_watches_is_the_same() -> None:
    objects = [node("n").build(), pod("p").build()]
    seen, silent = io.BytesIO(), io.BytesIO()
    write_snapshot(seen, objects, taken="2026-01-01T00:00:00Z", progress=noting([]))
    write_snapshot(silent, objects, taken="2026-01-01T00:00:00Z", progress=unseen)
    assert seen.getvalue() == silent.getvalue()
