"""Decisions as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.explain.comparison import compare, ranked
from scheduler.explain.grid import Grid, Styled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.explain.grid import Cell, Part
    from scheduler.explain.record import DecisionRecord, NodeRejection
    from scheduler.explain.views import NodeComparison

STATUS_STYLES: Final = {"Scheduled": "green", "Unschedulable": "yellow", "Gated": "cyan", "Error": "red"}


def placements(rows: Sequence[tuple[str, str, str, str]]) -> Grid:
    """One line a pod: its name, its node, how it came out, and in words why not."""
    cells = [(pod, node, Styled(status, STATUS_STYLES.get(status, "")), message) for pod, node, status, message in rows]
    return Grid(("POD", "NODE", "STATUS", "MESSAGE"), cells)


def scores(record: DecisionRecord, *, chosen: str = "", limit: int = 6) -> list[Part]:
    """The best nodes side by side, a line a plugin: the points that it adds, after normalizing and weighting.

    Below the table: what the winner has over the runner-up, and the plugins that gave no node anything.
    """
    names = ranked(record, chosen)
    shown = names[:limit]
    styles = ["green" if name == chosen else "" for name in shown]
    plugins = list(record.feasible[names[0]].plugins) if names else []
    silent = [p for p in plugins if not any(record.feasible[name].plugins.get(p) for name in names)]
    rows: list[tuple[Cell, ...]] = [
        (plugin, *(Styled(str(record.feasible[n].plugins[plugin]), s) for n, s in zip(shown, styles, strict=True)))
        for plugin in plugins
        if plugin not in silent
    ]
    totals = (
        Styled(str(record.feasible[name].total), f"bold {style}".strip())
        for name, style in zip(shown, styles, strict=True)
    )
    rows.append((Styled("total", "bold"), *totals))
    headings = (Styled(name, style) for name, style in zip(shown, styles, strict=True))
    grid = Grid(("PLUGIN", *headings), rows, frozenset(range(1, len(shown) + 1)))
    return [grid, *(Styled(note, "dim") for note in _notes(record, chosen, len(names) - len(shown), silent))]


def _notes(record: DecisionRecord, chosen: str, more: int, silent: Sequence[str]) -> list[str]:
    notes = []
    if more > 0:
        notes.append(f"and {more} more node{'' if more == 1 else 's'} that fit{'s' if more == 1 else ''}")
    if (comparison := compare(record, chosen)) is not None:
        notes.append(str(comparison))
    elif record.score_skipped:
        notes.append("the only node that fits, whatever its score")
    if nothing := [*silent, *record.prescore_skipped]:
        notes.append(f"0 for all: {', '.join(nothing)}")
    return notes


def contrast(comparison: NodeComparison) -> list[Part]:
    """Why one node and not another: the sentence, then a line for each plugin that tells them apart."""
    told: list[Part] = [Styled(f"{comparison.sentence}.", "bold")]
    if comparison.parts:
        rows = [
            (f"{part.points:+d}", part.plugin, str(part.raw[0]), str(part.raw[1]), part.words)
            for part in comparison.parts
        ]
        columns = ("POINTS", "PLUGIN", f"RAW {comparison.node}", f"RAW {comparison.other}", "SINCE")
        told.append(Grid(columns, rows, frozenset((0, 2, 3))))
    return told


def rejections(infeasible: Mapping[str, NodeRejection], *, names: int = 8) -> Grid:
    """The nodes that were turned down, grouped by who did it and why, the largest group first."""
    members: dict[tuple[str, str], list[str]] = {}
    for name, rejection in infeasible.items():
        members.setdefault((rejection.plugin, ", ".join(rejection.reasons)), []).append(name)
    rows = []
    for (plugin, reason), nodes in sorted(members.items(), key=lambda item: (-len(item[1]), item[0])):
        more = f", and {len(nodes) - names} more" if len(nodes) > names else ""
        rows.append((str(len(nodes)), plugin, reason, ", ".join(sorted(nodes)[:names]) + more))
    return Grid(("NODES", "TURNED DOWN BY", "REASON", "WHICH"), rows, frozenset((0,)))
