"""What `berth simulate` prints: decisions as a table, as JSON or as YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from scheduler.cli import structured
from scheduler.cli.decisions_json import json_texts
from scheduler.explain import table
from scheduler.explain.grid import Part, Styled, show
from scheduler.explain.whynot import text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO, TextIO

    from scheduler.app.decisions import PodDecision


def print_json(decisions: Sequence[PodDecision], stream: BinaryIO, changes: Sequence[str] = ()) -> None:
    """All decisions with all details, as JSON with a newline at the end; `changes` are named where there are any."""
    stream.writelines(json_texts(decisions, changes, _value))


def as_yaml(decisions: Sequence[PodDecision], changes: Sequence[str] = ()) -> str:
    """The same as YAML."""
    named = {"changes": list(changes)} if changes else {}
    return structured.as_yaml({**named, "decisions": [_value(decision) for decision in decisions]})


def print_changes(changes: Sequence[str], stream: TextIO) -> None:
    """What was changed beforehand, on a line of its own."""
    if changes:
        show(stream, [Styled(f"What if: {'; '.join(changes)}", "bold"), Styled("")])


def print_table(decisions: Sequence[PodDecision], stream: TextIO, *, wide: bool = False) -> None:
    """One line a pod; with `wide` then each pod's scores, or why it fits on no node and what would help."""
    rows = [(d.pod, d.node or "-", d.status, _evictions(d) if d.node else d.message) for d in decisions]
    parts: list[Part] = [table.placements(rows)]
    for decision in decisions if wide else ():
        parts.append(Styled(f"\n{decision.pod}: {decision.message}", "bold"))
        if decision.record.feasible:
            parts += table.scores(decision.record, chosen=decision.node or "")
        if decision.why_not is not None:
            parts += text.parts(decision.why_not)
        elif decision.record.infeasible:
            parts.append(table.rejections(decision.record.infeasible))
    show(stream, parts)


def _evictions(decision: PodDecision) -> str:
    return f"preempted {', '.join(decision.victims)}" if decision.victims else ""


def _value(decision: PodDecision) -> dict[str, Any]:
    """A decision as it is printed: the documented fields first, then all details of the record."""
    details = {"feasible": {}, "infeasible": {}, "best": [], **msgspec.to_builtins(decision.record)}
    details.pop("message", None)
    if decision.why_not is not None:
        details["whyNot"] = msgspec.to_builtins(decision.why_not)
    return {
        "pod": decision.pod,
        "node": decision.node,
        "status": decision.status,
        "message": decision.message,
        "nominatedNode": decision.nominated_node,
        "victims": list(decision.victims),
        **details,
    }
