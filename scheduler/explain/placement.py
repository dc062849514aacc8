"""Why a pod is where it is: the chosen node beside the next best and any others, in a sentence and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.explain.comparison import contrast
from scheduler.explain.grid import Grid, Styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.explain.grid import Cell, Part
    from scheduler.explain.views import Decision, NodeComparison, ScoreColumn

_LONGEST_HEADING: Final = 12
"""Longer names of nodes are told apart by a letter, so that the table fits on a terminal."""
_SMALL: Final = 3


def chosen_node(decision: Decision) -> str:
    """The node that was chosen, or would be: the best one where nothing is chosen yet; "" if none fits."""
    return decision.summary.node or (decision.feasible.names[0] if decision.feasible.names else "")


def comparisons(decision: Decision, asked: Sequence[str] = ()) -> tuple[NodeComparison, ...]:
    """The chosen node against the next best, and against those that were asked for and are known."""
    chosen = chosen_node(decision)
    others = dict.fromkeys([_next_best(decision, chosen), *asked])
    found = (contrast(decision, other) for other in others if other and other != chosen)
    return tuple(one for one in found if one is not None)


def placement(decision: Decision, compared: Sequence[NodeComparison], *, asked: Sequence[str] = ()) -> list[Part]:
    """Why the chosen node is the best, and how others compare with it."""
    parts: list[Part] = [Styled(sentence(decision, compared), "bold")]
    beside = [one for one in compared if one.other and one.rejected is None]
    if decision.feasible.totals and chosen_node(decision) in decision.feasible.names:
        parts += _table(decision, beside)
    for index, one in enumerate(compared):
        if one.rejected is not None:
            parts.append(Styled(one.sentence, "yellow"))
        elif index or not decision.feasible.totals:
            parts.append(Styled(f"{one.sentence}{_rank(decision, one.other)}"))
    known = {chosen_node(decision), *(one.other for one in compared)}
    parts += [Styled(_absent(decision, name), "yellow") for name in dict.fromkeys(asked) if name not in known]
    return parts


def sentence(decision: Decision, compared: Sequence[NodeComparison]) -> str:
    """Who won, by how much, over how many."""
    summary, feasible = decision.summary, decision.feasible
    chosen = chosen_node(decision)
    taken = bool(summary.node and summary.id)  # an evaluation has no id
    begin = f"{summary.pod} {'is on' if taken else 'would go to'} {chosen}"
    if decision.nominated_path:
        begin += ", which was kept for it"
    counts = _counts(decision)
    other = _next_best(decision, chosen)
    first = next((one for one in compared if other and one.other == other), None)
    if first is None or not feasible.totals:
        only = "the only node that fits" if len(feasible.names) == 1 else "one of the nodes that fit"
        return f"{begin}: {only}{counts}"
    points = f"{feasible.totals[feasible.names.index(chosen)]} points"
    if first.lead:
        margin = f"{abs(first.lead)} {'more' if first.lead > 0 else 'less'} than {other}, the next best"
    else:
        margin = f"as many as {_tied(decision, chosen)}, so chance decided" if taken else f"as many as {other}"
    listed = ", ".join(f"{part.plugin} {part.points:+d}" for part in first.parts)
    return f"{begin}: {points}, {margin}{counts}" + (f": {listed}" if first.lead and listed else "")


def _next_best(decision: Decision, chosen: str) -> str:
    return next((name for name in decision.feasible.names if name != chosen), "")


def _tied(decision: Decision, chosen: str) -> str:
    others = [name for name in decision.ties if name != chosen]
    if not others:
        return _next_best(decision, chosen)
    if len(others) <= _SMALL:
        return " and ".join([", ".join(others[:-1]), others[-1]] if len(others) > 1 else others)
    return f"{', '.join(others[:_SMALL])} and {len(others) - _SMALL} more"


def _counts(decision: Decision) -> str:
    nodes = decision.summary.nodes
    if not nodes:
        return ""
    looked = f", {decision.not_evaluated} not looked at" if decision.not_evaluated else ""
    return f" ({len(decision.feasible.names)} of {nodes} node{'' if nodes == 1 else 's'} fit{looked})"


def _rank(decision: Decision, name: str) -> str:
    names = decision.feasible.names
    return f" ({name} is number {names.index(name) + 1} of {len(names)})" if name in names else ""


def _absent(decision: Decision, name: str) -> str:
    left = "it was not looked at" if decision.not_evaluated else "there was no such node"
    return f"{name} is not among the nodes that this decision knows: {left}"


def _table(decision: Decision, beside: Sequence[NodeComparison]) -> list[Part]:
    feasible = decision.feasible
    nodes = [chosen_node(decision), *(one.other for one in beside)]
    at = [feasible.names.index(name) for name in nodes]
    letters = max(map(len, nodes)) > _LONGEST_HEADING
    headings = [chr(ord("A") + index) for index in range(len(nodes))] if letters else nodes
    words = {part.plugin: part.words for part in beside[0].parts} if len(beside) == 1 else {}
    columns: list[Cell] = ["PLUGIN", "WEIGHT", Styled(headings[0], "green")]
    for heading in headings[1:]:
        columns += [heading, f"{headings[0]}-{heading}"]
    numbers = frozenset(range(1, len(columns)))
    kept = [column for column in feasible.columns if any(column.weighted[index] for index in at)]
    rows = [[*_row(column, at), *_since(words, column.plugin)] for column in kept]
    rows.append([*_totals([feasible.totals[index] for index in at]), *_since(words, "")])
    columns += ["SINCE"] if any(words.values()) else []
    parts: list[Part] = []
    if letters:
        parts.append(Styled("\n".join(f"{letter} = {name}" for letter, name in zip(headings, nodes, strict=True))))
    parts.append(Grid(columns, rows, numbers))
    silent = [column.plugin for column in feasible.columns if not any(column.weighted[index] for index in at)]
    silent += decision.skipped_scores
    if silent:
        parts.append(Styled(f"0 for {'it' if len(nodes) == 1 else 'all of these'}: {', '.join(silent)}", "dim"))
    return parts


def _since(words: dict[str, str], plugin: str) -> list[Cell]:
    return [words.get(plugin, "")] if any(words.values()) else []


def _totals(totals: Sequence[int]) -> list[Cell]:
    cells: list[Cell] = [Styled("total", "bold"), "", Styled(str(totals[0]), "bold green")]
    for total in totals[1:]:
        cells += [Styled(str(total), "bold"), _difference(totals[0] - total)]
    return cells


def _row(column: ScoreColumn, at: Sequence[int]) -> list[Cell]:
    first = column.weighted[at[0]]
    cells: list[Cell] = [column.plugin, f"x{column.weight}", Styled(str(first), "green")]
    for index in at[1:]:
        cells += [str(column.weighted[index]), _difference(first - column.weighted[index])]
    return cells


def _difference(points: int) -> Styled:
    return Styled(f"{points:+d}" if points else "0", "green" if points > 0 else "red" if points < 0 else "dim")
