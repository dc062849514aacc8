"""Run ``berth simulate --jsonl``: one case a line in, one decision a line out."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BERTH = (sys.executable, "-m", "scheduler", "simulate", "--jsonl")
REPOSITORY = Path(__file__).resolve().parents[2]
SILENCE = 120.0
"""Seconds without a decision after which Berth is taken to hang."""


class BerthError(RuntimeError):
    """Berth ended or fell silent before the last case; the message holds the end of its standard error."""


class _Worker:
    """One process that decides every ``step``-th case from ``first`` on, read by a thread of its own."""

    def __init__(self, command: Sequence[str], cases: list[bytes], first: int, step: int, into: queue.Queue[Any]):
        self.indices = range(first, len(cases), step)
        self._cases, self._into = cases, into
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - close() closes it
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *_path()])}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env=env
        )
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._feed, self._read)]
        for thread in self._threads:
            thread.start()

    def _feed(self) -> None:
        stdin = self.process.stdin
        assert stdin is not None
        with contextlib.suppress(OSError, ValueError):  # it ended early, which the reader reports
            for index in self.indices:
                stdin.write(self._cases[index] + b"\n")
                stdin.flush()
            stdin.close()

    def _read(self) -> None:
        stdout = self.process.stdout
        assert stdout is not None
        for index in self.indices:
            line = stdout.readline()
            if not line:
                self._into.put((index, None))
                return
            self._into.put((index, line))

    def why(self) -> str:
        """How the process ended, for a message."""
        try:
            code: object = self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            code = "none yet"
        self.errors.seek(0)
        text = self.errors.read().decode(errors="replace").strip().splitlines()
        return f"exit code {code}\n" + "\n".join(text[-15:])

    def close(self) -> None:
        """End the process and its threads."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            assert stream is not None
            with contextlib.suppress(OSError):  # what was still to be written has nowhere to go
                stream.close()


def _path() -> list[str]:
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]


def decisions(
    cases: list[bytes], command: Sequence[str] = BERTH, *, workers: int = 1
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(index of the case, decision) of every case, as they come. Raises BerthError."""
    answers: queue.Queue[tuple[int, bytes | None]] = queue.Queue()
    count = max(1, min(workers, len(cases)))
    running = [_Worker(command, cases, first, count, answers) for first in range(count)]
    try:
        for _ in cases:
            try:
                index, line = answers.get(timeout=SILENCE)
            except queue.Empty:
                raise BerthError(f"berth gave no decision for {SILENCE:.0f} s") from None
            if line is None:
                why = running[index % count].why()
                raise BerthError(f"berth ended at case {index + 1} of {len(cases)}, {why}")
            yield index, _decision(index, line)
    finally:
        for worker in running:
            worker.close()


def _decision(index: int, line: bytes) -> dict[str, Any]:
    try:
        decision = json.loads(line)
    except ValueError as error:
        raise BerthError(f"berth's answer to case {index + 1} is not JSON ({error}): {line[:200]!r}") from error
    if not isinstance(decision, dict):
        raise BerthError(f"berth's answer to case {index + 1} is not an object: {line[:200]!r}")
    return decision
