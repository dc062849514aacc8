"""Why the winner won: what it has over the runner-up, plugin by plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from scheduler.explain.record import DecisionRecord


class Comparison(msgspec.Struct, frozen=True):
    """Two nodes. `lead` is in points; `parts` are the plugins that differ, (name, points for the winner), by size."""

    winner: str
    runner_up: str
    lead: int
    parts: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        if not self.lead:
            text = f"{self.winner} and {self.runner_up} tie, so one of the best was drawn"
        else:
            text = f"{self.winner} leads {self.runner_up} by {self.lead} point{'' if self.lead == 1 else 's'}"
        listed = ", ".join(f"{plugin} {points:+d}" for plugin, points in self.parts)
        return f"{text}: {listed}" if listed else text


def ranked(record: DecisionRecord, chosen: str = "") -> list[str]:
    """The feasible nodes by total, the chosen one first among equals, others by name."""
    totals = {name: score.total for name, score in record.feasible.items()}
    return sorted(totals, key=lambda name: (-totals[name], name != chosen, name))


def compare(record: DecisionRecord, chosen: str = "") -> Comparison | None:
    """The best node, or the one chosen among the best, against the next; None with fewer than two feasible nodes."""
    names = ranked(record, chosen)
    if len(names) < 2:
        return None
    first, second = record.feasible[names[0]], record.feasible[names[1]]
    parts = [(plugin, points - second.plugins.get(plugin, 0)) for plugin, points in first.plugins.items()]
    differing = sorted((part for part in parts if part[1]), key=lambda part: (-abs(part[1]), part[0]))
    return Comparison(names[0], names[1], first.total - second.total, tuple(differing))
