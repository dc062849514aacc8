"""`berth simulate --snapshot`: what scheduling reads of a cluster, in a file."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from scheduler.cli.problems import OK

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from typing import BinaryIO

    from scheduler.app.manifests import Manifests
    from scheduler.app.progress import Progress
    from scheduler.app.snapshot.archive import About
    from scheduler.app.snapshot.pseudonyms import Pseudonyms


def save_snapshot(namespace: argparse.Namespace, manifests: Manifests, progress: Progress) -> int:
    """Write the snapshot, whole or not at all, and say what is in it. Raises OSError."""
    from scheduler.app.snapshot.archive import write_snapshot

    written: list[tuple[About, Pseudonyms | None]] = []

    def write(out: BinaryIO) -> None:
        taken = datetime.now(tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        written.append(
            write_snapshot(
                out,
                manifests.objects,
                taken=taken,
                left_out=manifests.left_out,
                anonymize=namespace.anonymize,
                progress=progress,
            )
        )

    target = Path(namespace.snapshot)
    _write_whole(target, write)
    about, names = written[0]
    if names is not None and namespace.pseudonyms:
        listed = msgspec.json.format(msgspec.json.encode(names.by_kind()), indent=2) + b"\n"
        _write_whole(Path(namespace.pseudonyms), lambda out: out.write(listed))
    for note in manifests.notes:
        print(note, file=sys.stderr)
    counts = ", ".join(f"{count:,} {plural}" for plural, count in about.counts.items())
    size = target.stat().st_size
    shown = f"{size / 2**20:.1f} MiB" if size >= 2**20 else f"{size / 2**10:.0f} KiB"
    hidden = f", {names.counts().total():,} names replaced" if names is not None else ""
    print(f"{target}: {counts or 'nothing'} ({shown}{hidden})", file=sys.stderr)
    return OK


def _write_whole(target: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file that only its owner may read, which is not there before all of it is."""
    part = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            write(out)
        part.replace(target)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
