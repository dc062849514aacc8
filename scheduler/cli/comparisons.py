"""What `berth simulate` prints of a comparison: tables for people, or everything as JSON or YAML."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import msgspec
import yaml

from scheduler.explain.grid import Grid, Part, Styled, show

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from scheduler.app.balance import ResourceBalance
    from scheduler.app.comparing import Comparison, Moved, Place, Side, Verdicts

    Printer = Callable[[Comparison, Sequence[str]], None]

_SHOWN: Final = 50
"""Pods shown in a table; JSON has all of them."""


def print_comparison(output: str, comparison: Comparison, changes: Sequence[str]) -> None:
    """Print in one of the forms that `-o` names."""
    _PRINTERS[output](comparison, changes)


def _table(comparison: Comparison, changes: Sequence[str], *, wide: bool = False) -> None:
    from scheduler.cli.decisions import print_changes

    print_changes(changes, sys.stdout)
    parts: list[Part] = [_summary(comparison)]
    moved = comparison.moved
    if moved:
        shown = moved if wide else moved[:_SHOWN]
        parts += [
            Styled(""),
            Styled(f"{len(moved)} of {len(moved) + comparison.alike} pods come out differently", "bold"),
        ]
        parts.append(Grid(("POD", "A", "B", "WHY"), [_row(each) for each in shown]))
        if len(shown) < len(moved):
            parts.append(Styled(f"and {len(moved) - len(shown)} more (-o wide or -o json shows all)", "dim"))
        for each in moved if wide else ():
            parts += _points(each)
    else:
        alike = f"All {comparison.alike} pods come" if comparison.alike != 1 else "The one pod comes"
        parts += [Styled(""), Styled(f"{alike} out alike.", "bold")]
    show(sys.stdout, parts)


def _wide(comparison: Comparison, changes: Sequence[str]) -> None:
    _table(comparison, changes, wide=True)


def _json(comparison: Comparison, changes: Sequence[str]) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(_value(comparison, changes)), indent=2).decode() + "\n")


def _yaml(comparison: Comparison, changes: Sequence[str]) -> None:
    value = _value(comparison, changes)
    sys.stdout.write(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=2**20))


_PRINTERS: Final[Mapping[str, Printer]] = {"table": _table, "wide": _wide, "json": _json, "yaml": _yaml}


def _value(comparison: Comparison, changes: Sequence[str]) -> dict[str, object]:
    named: dict[str, object] = {"changes": list(changes)} if changes else {}
    return {**named, **msgspec.to_builtins(comparison)}


def _summary(comparison: Comparison) -> Grid:
    a, b = comparison.a, comparison.b
    rows: list[tuple[str, str, str]] = [
        ("scheduled", str(a.scheduled), str(b.scheduled)),
        ("pending", str(a.pending), str(b.pending)),
    ]
    if a.gated or b.gated:
        rows.append(("gated", str(a.gated), str(b.gated)))
    if a.evicted or b.evicted:
        rows.append(("evicted", str(a.evicted), str(b.evicted)))
    nodes = [f"{side.balance.in_use}, {side.balance.empty}" for side in (a, b)]
    rows.append(("nodes in use, empty", nodes[0], nodes[1]))
    for name in a.balance.resources:
        rows += _resource_rows(name, a, b)
    return Grid(("", f"A: {a.name}", f"B: {b.name}"), rows)


def _resource_rows(name: str, a: Side, b: Side) -> list[tuple[str, str, str]]:
    sides: list[ResourceBalance] = [side.balance.resources[name] for side in (a, b)]
    rows = (
        (f"{name} requested", [_percent(each.share) for each in sides]),
        (f"{name} requested of nodes in use", [_percent(each.of_nodes_in_use) for each in sides]),
        (f"{name} deviation between nodes", [_percent(each.deviation) for each in sides]),
        (
            f"{name} fullest nodes",
            [", ".join(f"{s.node} {_percent(s.share)}" for s in each.most_loaded) for each in sides],
        ),
    )
    return [(title, texts[0], texts[1]) for title, texts in rows]


def _percent(share: float) -> str:
    return f"{share * 100:.1f}%"


def _row(moved: Moved) -> tuple[str, str, str, str]:
    why = [text for text in (_why("A", moved.under_a, moved), _why("B", moved.under_b, moved)) if text]
    if not why:
        why = [place.message for place in (moved.a, moved.b) if place is not None and place.node is None][:1]
    return moved.pod, _where(moved.a), _where(moved.b), "; ".join(why)


def _where(place: Place | None) -> str:
    if place is None:
        return "-"
    return place.node or place.status.lower()


def _why(side: str, verdicts: Verdicts, moved: Moved) -> str:
    """What one side says of the two nodes: the points between them, or why one of them is out of the question."""
    here, there = (moved.a, moved.b) if side == "A" else (moved.b, moved.a)
    if here is None or here.node is None:
        return f"{side}: {here.message}" if here is not None and here.message else ""
    own = verdicts.points.get(here.node)
    if there is None or there.node is None or own is None:
        return ""
    other = verdicts.points.get(there.node)
    if other is None:
        turned_down = verdicts.rejected.get(there.node)
        if turned_down is None:
            return ""
        by = f" ({turned_down.plugin})" if turned_down.plugin else ""
        return f"{side}: not {there.node}: {', '.join(turned_down.reasons)}{by}"
    lead = own.total - other.total
    parts = [(plugin, points - other.plugins.get(plugin, 0)) for plugin, points in own.plugins.items()]
    listed = ", ".join(f"{plugin} {points:+d}" for plugin, points in sorted(parts, key=lambda p: -abs(p[1])) if points)
    if not lead:
        return f"{side}: {here.node} and {there.node} tie, one was drawn" + (f" ({listed})" if listed else "")
    return f"{side}: {here.node} leads {there.node} by {lead}: {listed}"


def _points(moved: Moved) -> list[Part]:
    """Every plugin's points for both nodes on both sides."""
    columns = [
        (f"{side} {node}", score)
        for side, verdicts in (("A", moved.under_a), ("B", moved.under_b))
        for node, score in verdicts.points.items()
    ]
    if not columns:
        return []
    plugins = list(dict.fromkeys(plugin for _, score in columns for plugin in score.plugins))
    rows = [
        (plugin, *(str(score.plugins.get(plugin, 0)) for _, score in columns))
        for plugin in plugins
        if any(score.plugins.get(plugin) for _, score in columns)
    ]
    rows.append(("total", *(str(score.total) for _, score in columns)))
    heads = ("PLUGIN", *(name for name, _ in columns))
    return [Styled(f"\n{moved.pod}", "bold"), Grid(heads, rows, frozenset(range(1, len(heads))))]
