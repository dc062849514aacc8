"""Tables and lines, plain in a pipe and with colours on a terminal."""

from __future__ import annotations

import io
import re

import pytest

from scheduler.explain.grid import Grid, Part, Styled, show

GRID = Grid(("NAME", "N"), [("long-name", "1"), (Styled("x", "bold"), "100")], frozenset((1,)))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def plain(*parts: Part) -> str:
    stream = io.StringIO()
    show(stream, parts)
    return stream.getvalue()


class TestPipe:
    def test_columns_are_as_wide_as_they_must_be_and_numbers_stand_right(self) -> None:
        assert plain(GRID) == "NAME          N\nlong-name     1\nx           100\n"

    def test_no_line_ends_in_spaces(self) -> None:
        assert plain(Grid(("A", "B"), [("x", ""), ("y", "long")])) == "A   B\nx\ny   long\n"

    def test_lines_are_never_wrapped(self) -> None:
        assert plain(Styled("word " * 1000)).count("\n") == 1

    def test_styles_leave_no_trace(self) -> None:
        assert plain(Styled("text", "bold red")) == "text\n"

    def test_a_text_may_have_several_lines(self) -> None:
        assert plain(Styled("\na\nb")) == "\na\nb\n"

    def test_brackets_and_braces_are_just_text(self) -> None:
        assert plain(Grid(("[red]", "{0}"), [("[/red]", "{}")])) == "[red]    {0}\n[/red]   {}\n"


class TestTerminal:
    @pytest.fixture(autouse=True)
    def _colours(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setenv("COLUMNS", "40")
        monkeypatch.delenv("NO_COLOR", raising=False)

    def test_colours(self) -> None:
        stream = Terminal()
        show(stream, [Styled("text", "red")])
        assert stream.getvalue() == "\x1b[31mtext\x1b[0m\n"

    def test_long_cells_are_folded_into_the_window(self) -> None:
        stream = Terminal()
        show(stream, [Grid(("A", "B"), [("x", "word " * 30)])])
        lines = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()).splitlines()
        assert len(lines) > 3
        assert max(map(len, lines)) <= 40

    def test_brackets_are_just_text(self) -> None:
        stream = Terminal()
        show(stream, [Styled("[red]"), Grid(("A",), [("[/red]",)])])
        assert "[red]" in stream.getvalue()
        assert "[/red]" in stream.getvalue()
