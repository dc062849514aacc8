"""What `berth simulate --fill` prints."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import msgspec
import yaml

from scheduler.explain.grid import Grid, Part, Styled, show

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from scheduler.app.filling import Filling, Reason, Room

    Printer = Callable[[Filling, Sequence[str]], None]

_SHOWN: Final = 10
"""Nodes shown in a table; wide and JSON have all of them."""


def print_filling(output: str, filling: Filling, changes: Sequence[str]) -> None:
    """Print in one of the forms that `-o` names."""
    _PRINTERS[output](filling, changes)


def _table(filling: Filling, changes: Sequence[str], *, wide: bool = False) -> None:
    from scheduler.cli.decisions import print_changes

    print_changes(changes, sys.stdout)
    parts: list[Part] = [Styled(_headline(filling), "bold")]
    if filling.room and filling.fitted_at_first:
        parts += [Styled(""), _room(filling.room)]
    if filling.reasons:
        rows = [(str(r.nodes), r.plugin, ", ".join(r.reasons), _which(r)) for r in filling.reasons]
        parts += [Styled(""), Grid(("NODES", "TURNED DOWN BY", "REASON", "WHICH"), rows, frozenset((0,)))]
    if filling.where:
        shown = list(filling.where.items())[: None if wide else _SHOWN]
        parts += [Styled(""), Grid(("NODE", "COPIES"), [(node, str(n)) for node, n in shown], frozenset((1,)))]
        if len(shown) < len(filling.where):
            parts.append(Styled(f"and {len(filling.where) - len(shown)} more nodes (-o wide shows all)", "dim"))
    show(sys.stdout, parts)


def _wide(filling: Filling, changes: Sequence[str]) -> None:
    _table(filling, changes, wide=True)


def _json(filling: Filling, changes: Sequence[str]) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(_value(filling, changes)), indent=2).decode() + "\n")


def _yaml(filling: Filling, changes: Sequence[str]) -> None:
    sys.stdout.write(yaml.safe_dump(_value(filling, changes), sort_keys=False, allow_unicode=True, width=2**20))


_PRINTERS: Final[Mapping[str, Printer]] = {"table": _table, "wide": _wide, "json": _json, "yaml": _yaml}


def _value(filling: Filling, changes: Sequence[str]) -> dict[str, Any]:
    named: dict[str, Any] = {"changes": list(changes)} if changes else {}
    return {**named, **msgspec.to_builtins(filling)}


def _headline(filling: Filling) -> str:
    copies, nodes = filling.copies, len(filling.where)
    count = f"{copies:,} cop{'y' if copies == 1 else 'ies'} of {filling.pod} fit{'s' if copies == 1 else ''}"
    if not copies:
        return f"No copy of {filling.pod} fits on any of {filling.nodes:,} nodes."
    text = f"{count}, on {nodes:,} of {filling.nodes:,} nodes"
    if not filling.ended:
        return f"At least {text}; there it was stopped."
    if not filling.binds:
        return f"{text}. It is not for want of room that there are no more."
    short = next(each.short_on for each in filling.room if each.resource == filling.binds)
    return (
        f"{text}. {filling.binds} binds first: {short:,} of the {filling.fitted_at_first:,} nodes have too little left."
    )


def _which(reason: Reason) -> str:
    more = reason.nodes - len(reason.which)
    return ", ".join(reason.which) + (f", and {more} more" if more else "")


def _room(room: Sequence[Room]) -> Grid:
    rows = [
        (
            each.resource,
            _amount(each.resource, each.a_copy),
            _amount(each.resource, each.free_before),
            _amount(each.resource, each.free_after),
            f"{each.enough_for:,}",
            f"{each.short_on:,}",
        )
        for each in sorted(room, key=lambda each: (-each.short_on, each.enough_for))
    ]
    heads = ("RESOURCE", "A COPY", "FREE BEFORE", "FREE AFTER", "ENOUGH FOR", "NODES SHORT")
    return Grid(heads, rows, frozenset(range(1, len(heads))))


def _amount(resource: str, amount: int) -> str:
    """As people write it: CPUs, binary multiples of bytes, or a count."""
    if resource == "cpu":
        return f"{amount / 1000:,.1f}" if amount % 1000 else f"{amount // 1000:,}"
    if resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-"):
        for unit, size in (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
            if amount >= size:
                return f"{amount / size:,.1f}{unit}".replace(".0", "")
    return f"{amount:,}"
