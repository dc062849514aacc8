"""Why a pod is where it is: the chosen node against the next best and any others, in a sentence and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from scheduler.explain.grid import Grid, Styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.explain.grid import Cell, Part
    from scheduler.explain.views import Decision, Rejected, ScoreColumn

_LONGEST_HEADING: Final = 12
"""Longer names of nodes are told apart by a letter, so that the table fits on a terminal."""
_SMALL: Final = 3


class Standing(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A node beside the one it is compared with. `lead` is the points that it is ahead, negative for behind.

    `parts`: (plugin, points) that make up the lead, the largest first.
    """

    node: str
    total: int
    lead: int
    parts: tuple[tuple[str, int], ...]


def chosen_node(decision: Decision) -> str:
    """The node that was chosen, or would be: the best one where nothing is chosen yet; "" if none fits."""
    return decision.summary.node or (decision.feasible.names[0] if decision.feasible.names else "")


def compared(decision: Decision, node: str, other: str) -> Standing:
    """How `node` stands beside `other`; both fit and were scored."""
    feasible = decision.feasible
    at, beside = feasible.names.index(node), feasible.names.index(other)
    parts = [(column.plugin, column.weighted[at] - column.weighted[beside]) for column in feasible.columns]
    differing = sorted((part for part in parts if part[1]), key=lambda part: (-abs(part[1]), part[0]))
    lead = feasible.totals[at] - feasible.totals[beside]
    return Standing(node=node, total=feasible.totals[at], lead=lead, parts=tuple(differing))


def next_best(decision: Decision, chosen: str) -> str:
    """The best of the other nodes that fit; "" if there is none."""
    return next((name for name in decision.feasible.names if name != chosen), "")


def placement(decision: Decision, *, asked: Sequence[str] = ()) -> list[Part]:
    """Why the chosen node is the best, and how the nodes that were asked for compare with it."""
    chosen = chosen_node(decision)
    feasible = decision.feasible
    parts: list[Part] = [Styled(sentence(decision), "bold")]
    scored = bool(feasible.totals) and chosen in feasible.names
    others = [next_best(decision, chosen), *asked] if scored else []
    shown = [name for name in dict.fromkeys(others) if name in feasible.names and name != chosen]
    if scored:
        parts += _table(decision, chosen, shown)
    for name in shown[1:]:
        parts.append(Styled(_against(decision, chosen, name)))
    parts += [Styled(_absent(decision, name), "yellow") for name in dict.fromkeys(asked) if name not in feasible.names]
    if not scored:
        known = [name for name in asked if name in feasible.names and name != chosen]
        parts += [Styled(f"{name} fits too, but nodes were not scored") for name in known]
    return parts


def sentence(decision: Decision) -> str:
    """Who won, by how much, over how many."""
    summary, feasible = decision.summary, decision.feasible
    chosen = chosen_node(decision)
    what = "is on" if summary.node else "would go to"
    begin = f"{summary.pod} {what} {chosen}"
    if decision.nominated_path:
        begin += ", which was kept for it"
    counts = _counts(decision)
    if len(feasible.names) <= 1 or not feasible.totals:
        only = "the only node that fits" if len(feasible.names) == 1 else "one of the nodes that fit"
        return f"{begin}: {only}{counts}"
    other = next_best(decision, chosen)
    standing = compared(decision, chosen, other)
    points = f"{standing.total} points"
    if standing.lead:
        margin = f"{abs(standing.lead)} {'more' if standing.lead > 0 else 'less'} than {other}, the next best"
    else:
        margin = f"as many as {_tied(decision, chosen)}, so chance decided" if summary.node else f"as many as {other}"
    return f"{begin}: {points}, {margin}{counts}{_made_of(standing)}"


def _tied(decision: Decision, chosen: str) -> str:
    others = [name for name in decision.ties if name != chosen]
    if not others:
        return next_best(decision, chosen)
    if len(others) <= _SMALL:
        return " and ".join([", ".join(others[:-1]), others[-1]] if len(others) > 1 else others)
    return f"{', '.join(others[:_SMALL])} and {len(others) - _SMALL} more"


def _made_of(standing: Standing) -> str:
    return f": {_listed(standing)}" if standing.lead and standing.parts else ""


def _listed(standing: Standing) -> str:
    return ", ".join(f"{plugin} {points:+d}" for plugin, points in standing.parts)


def _counts(decision: Decision) -> str:
    summary = decision.summary
    if not summary.nodes:
        return ""
    looked = f", {decision.not_evaluated} not looked at" if decision.not_evaluated else ""
    return f" ({len(decision.feasible.names)} of {summary.nodes} node{'' if summary.nodes == 1 else 's'} fit{looked})"


def _against(decision: Decision, chosen: str, name: str) -> str:
    standing = compared(decision, name, chosen)
    rank = decision.feasible.names.index(name) + 1
    if not standing.lead:
        return f"{name} has as many points as {chosen}"
    how = f"{abs(standing.lead)} points {'ahead of' if standing.lead > 0 else 'behind'} {chosen}"
    return f"{name} is number {rank}, {how}: {_listed(standing)}"


def _absent(decision: Decision, name: str) -> str:
    refusal = next((group for group in decision.rejected if name in group.nodes), None)
    if refusal is None:
        left = "it was not looked at" if decision.not_evaluated else "there was no such node"
        return f"{name} is not among the nodes that this decision knows: {left}"
    return f"{name} was {_refused(refusal)}"


def _refused(group: Rejected) -> str:
    how = "left out" if group.left_out else "turned down"
    return f"{how} by {group.plugin}: {', '.join(group.reasons)}"


def _table(decision: Decision, chosen: str, others: Sequence[str]) -> list[Part]:
    feasible = decision.feasible
    nodes = [chosen, *others]
    at = [feasible.names.index(name) for name in nodes]
    letters = max(map(len, nodes)) > _LONGEST_HEADING
    headings = [chr(ord("A") + index) for index in range(len(nodes))] if letters else nodes
    columns: list[Cell] = ["PLUGIN", "WEIGHT", Styled(headings[0], "green")]
    for heading in headings[1:]:
        columns += [heading, f"{headings[0]}-{heading}"]
    kept = [column for column in feasible.columns if any(column.weighted[index] for index in at)]
    rows: list[Sequence[Cell]] = [_row(column, at) for column in kept]
    totals = [feasible.totals[index] for index in at]
    last: list[Cell] = [Styled("total", "bold"), "", Styled(str(totals[0]), "bold green")]
    for total in totals[1:]:
        last += [Styled(str(total), "bold"), _difference(totals[0] - total)]
    parts: list[Part] = []
    if letters:
        parts.append(Styled("\n".join(f"{letter} = {name}" for letter, name in zip(headings, nodes, strict=True))))
    parts.append(Grid(columns, [*rows, last], frozenset(range(1, len(columns)))))
    silent = [column.plugin for column in feasible.columns if not any(column.weighted[index] for index in at)]
    silent += decision.skipped_scores
    if silent:
        parts.append(Styled(f"0 for {'it' if len(nodes) == 1 else 'all of these'}: {', '.join(silent)}", "dim"))
    return parts


def _row(column: ScoreColumn, at: Sequence[int]) -> list[Cell]:
    first = column.weighted[at[0]]
    cells: list[Cell] = [column.plugin, f"x{column.weight}", Styled(str(first), "green")]
    for index in at[1:]:
        cells += [str(column.weighted[index]), _difference(first - column.weighted[index])]
    return cells


def _difference(points: int) -> Styled:
    return Styled(f"{points:+d}" if points else "0", "green" if points > 0 else "red" if points < 0 else "dim")
