"""Tables and lines as data, printed plain in a pipe and with colours on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

_GAP = 3


class Styled(NamedTuple):
    """A text with a style, as rich names styles ("bold green")."""

    text: str
    style: str = ""


Cell: TypeAlias = str | Styled


class Grid(NamedTuple):
    """A table: column headings, rows of as many cells, and the columns (from 0) that are numbers."""

    columns: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    numbers: frozenset[int] = frozenset()


Part: TypeAlias = Grid | Styled


def show(stream: TextIO, parts: Sequence[Part]) -> None:
    """Print: on a terminal as wide as that is, plain and unwrapped in a pipe, where whole lines are looked for."""
    if stream.isatty():
        _show_styled(stream, parts)
    else:
        stream.write("".join(f"{line.rstrip()}\n" for part in parts for line in _plain(part)))


def _plain(part: Part) -> Iterator[str]:
    if isinstance(part, Styled):
        yield from part.text.split("\n")
        return
    rows = [[_text(cell) for cell in row] for row in (part.columns, *part.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    line = (" " * _GAP).join(f"{{:{'>' if i in part.numbers else '<'}{w}}}" for i, w in enumerate(widths))
    for row in rows:
        yield line.format(*row)


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell.text


def _show_styled(stream: TextIO, parts: Sequence[Part]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    def styled(cell: Cell) -> Text:
        return Text(cell) if isinstance(cell, str) else Text(cell.text, style=cell.style)

    console = Console(file=stream, highlight=False)
    for part in parts:
        if isinstance(part, Styled):
            console.print(styled(part))
            continue
        table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold", padding=(0, _GAP, 0, 0))
        for index, column in enumerate(part.columns):
            table.add_column(styled(column), overflow="fold", justify="right" if index in part.numbers else "left")
        for row in part.rows:
            table.add_row(*map(styled, row))
        console.print(table)
