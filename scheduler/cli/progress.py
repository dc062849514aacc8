"""A line on the terminal that shows how far long work is; nothing where standard error is no terminal."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from scheduler.app.progress import unseen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.app.progress import Progress

_SHOWN_FROM: Final = 200
"""Amount of work from which on it is worth a bar; what has no known amount is always told of."""


@contextmanager
def progress_line() -> Iterator[Progress]:
    """What to tell of the work; the line is gone afterwards."""
    if not sys.stderr.isatty():
        yield unseen
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("", total=None, visible=False)
        before = ""

        def show(what: str, done: int, total: int | None) -> None:
            nonlocal before
            visible = total is None or total >= _SHOWN_FROM
            if what != before:
                shown.reset(task, description=what, total=total, completed=done, visible=visible)
                shown.refresh()
                before = what
            else:
                shown.update(task, completed=done, total=total, visible=visible)

        yield show
