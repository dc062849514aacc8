"""Why the winner won: what it has over the runner-up, or any other node, plugin by plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from scheduler.explain.views import NodeComparison, PluginDifference

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.explain.record import DecisionRecord
    from scheduler.explain.views import Decision

    Tell = Callable[[str, str, str, tuple[int, int]], str]
    """(plugin, node, other, what it gave to each) -> the difference in words, "" if nothing is known of it."""


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


def contrast(decision: Decision, other: str = "", *, node: str = "", tell: Tell | None = None) -> NodeComparison | None:
    """Why the chosen node (or `node`) and not `other`, which is the runner-up unless it is named.

    None where there is nothing to compare: the pod has no node, or the other is none that the decision knows of.
    """
    names = decision.feasible.names
    node = node or decision.summary.node or (names[0] if names else "")
    if node not in names:
        return None
    if not other:
        others = [name for name in names if name != node]
        if not others:
            text = f"{node} was the only node that fits"
            return NodeComparison(node=node, other="", sentence=text)
        other = others[0]
    if other in names:
        return _by_points(decision, node, other, tell)
    rejected = next((group for group in decision.rejected if other in group.nodes), None)
    if rejected is None:
        return None
    reasons = rejected.words or ", ".join(rejected.reasons) or "without a reason"
    how = "was not looked at, as" if rejected.left_out else "was turned down by"
    by = f"{rejected.plugin} left it out" if rejected.left_out else rejected.plugin
    text = f"{other} {how} {by}: {reasons}"
    return NodeComparison(node=node, other=other, sentence=text, rejected=rejected)


def _by_points(decision: Decision, node: str, other: str, tell: Tell | None) -> NodeComparison:
    feasible = decision.feasible
    one, two = feasible.names.index(node), feasible.names.index(other)
    lead = feasible.totals[one] - feasible.totals[two] if feasible.totals else 0
    parts = []
    for column in feasible.columns:
        points = column.weighted[one] - column.weighted[two]
        if points:
            raw = (column.raw[one], column.raw[two])
            words = tell(column.plugin, node, other, raw) if tell is not None else ""
            parts.append(PluginDifference(plugin=column.plugin, points=points, raw=raw, words=words))
    parts.sort(key=lambda part: (-abs(part.points), part.plugin))
    listed = ", ".join(f"{part.points:+d} {part.plugin}" for part in parts)
    text = _outcome(decision, node, other, lead)
    return NodeComparison(
        node=node, other=other, sentence=f"{text}: {listed}" if listed else text, lead=lead, parts=tuple(parts)
    )


def _outcome(decision: Decision, node: str, other: str, lead: int) -> str:
    if not decision.feasible.totals:
        return f"{node} was taken without comparing points with {other}"
    if not lead:
        return f"{node} and {other} tie" + (", so that chance drew" if len(decision.ties) > 1 else "")
    verb = "won by" if lead > 0 else "is behind by"
    points = f"{abs(lead)} point{'' if abs(lead) == 1 else 's'}"
    return f"{node} {verb} {points} {'over' if lead > 0 else 'against'} {other}"
