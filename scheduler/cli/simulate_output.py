"""The forms in which `berth simulate` prints what came out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from scheduler.app.decisions import PodDecision


class Outcome(msgspec.Struct, frozen=True):
    """What a simulation came to: decisions, what was changed beforehand, and the report, where one was asked for."""

    decisions: Sequence[PodDecision]
    changes: Sequence[str] = ()
    html: bytes = b""


def _table(outcome: Outcome, *, wide: bool = False) -> None:
    from scheduler.cli import decisions as printing

    printing.print_changes(outcome.changes, sys.stdout)
    if outcome.decisions:
        printing.print_table(outcome.decisions, sys.stdout, wide=wide)
    else:
        print("No pods to schedule.", file=sys.stderr)


def _wide(outcome: Outcome) -> None:
    _table(outcome, wide=True)


def _json(outcome: Outcome) -> None:
    from scheduler.cli import decisions as printing

    sys.stdout.flush()
    printing.print_json(outcome.decisions, sys.stdout.buffer, outcome.changes)
    sys.stdout.buffer.flush()


def _yaml(outcome: Outcome) -> None:
    from scheduler.cli import decisions as printing

    sys.stdout.write(printing.as_yaml(outcome.decisions, outcome.changes))


def _html(outcome: Outcome) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(outcome.html)
    sys.stdout.buffer.flush()
    size = len(outcome.html) / 1e6
    print(f"A report of {len(outcome.decisions)} pods, {size:.1f} MB: open it in a browser.", file=sys.stderr)


OUTPUTS: Final[Mapping[str, Callable[[Outcome], None]]] = {
    "table": _table,
    "wide": _wide,
    "json": _json,
    "yaml": _yaml,
    "html": _html,
}
"""What `-o` can ask for, and who prints it."""
