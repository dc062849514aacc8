"""The line that shows how far long work is."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from scheduler.cli.progress import progress_line

if TYPE_CHECKING:
    import pytest


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress_line() as progress:
        progress("reading", 5_000, 50_000)
    assert sys.stderr.getvalue() == ""


def test_long_work_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_line() as progress:
        progress("reading pods", 5_000, 50_000)
        progress("scheduling", 1, 300)
    shown = sys.stderr.getvalue()
    assert "reading pods" in shown
    assert "5000/50000" in shown
    assert "scheduling" in shown


def test_short_work_is_not_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_line() as progress:
        progress("scheduling", 1, 3)
    assert "scheduling" not in sys.stderr.getvalue()
