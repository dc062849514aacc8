"""What was recorded of an attempt that found no node, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.explain.grid import Grid, Styled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scheduler.explain.grid import Part
    from scheduler.explain.views import Decision, Rejected

_NAMES: Final = 5


def refused(decision: Decision) -> list[Part]:
    """What was recorded of an attempt that found no node: its message, the nodes by reason, and what was evicted."""
    parts: list[Part] = [Styled(decision.summary.message)] if decision.summary.message else []
    if decision.rejected:
        parts.append(rejections(decision.rejected))
    made_room = decision.post_filter
    if made_room is not None and made_room.victims:
        place = f" on {made_room.nominated_node}" if made_room.nominated_node else ""
        parts.append(Styled(f"preemption{place}: {', '.join(made_room.victims)} {_has(made_room.victims)} to go"))
    elif made_room is not None and made_room.message:
        parts.append(Styled(made_room.message, "dim"))
    return parts


def rejections(groups: Iterable[Rejected]) -> Grid:
    """The nodes that were turned down by who did it and why, the largest group first."""
    ordered = sorted(groups, key=lambda group: (-len(group.nodes), group.plugin, group.reasons))
    rows = [(str(len(group.nodes)), group.plugin, ", ".join(group.reasons), names(group.nodes)) for group in ordered]
    return Grid(("NODES", "TURNED DOWN BY", "REASON", "WHICH"), rows, frozenset((0,)))


def names(nodes: Sequence[str]) -> str:
    """The first nodes of a list, and how many more there are."""
    more = len(nodes) - _NAMES
    return ", ".join(nodes[:_NAMES]) + (f" and {more} more" if more > 0 else "")


def _has(victims: Sequence[str]) -> str:
    return "has" if len(victims) == 1 else "have"
