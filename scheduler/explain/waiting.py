"""The pods that wait, grouped by cause and shape, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from scheduler.explain.ages import age, until
from scheduler.explain.grid import Grid, Styled

if TYPE_CHECKING:
    from scheduler.explain.grid import Part
    from scheduler.explain.views import Pending, PendingGroup

_NAMES: Final = {
    "active": "to be tried",
    "backoff": "pausing",
    "unschedulable": "waiting for a change",
    "gated": "held back",
    "waitingOnPermit": "waiting for others",
    "inFlight": "being decided on",
    "binding": "being bound",
}


def of_namespace(pending: Pending, namespace: str) -> Pending:
    """What of it concerns one namespace. The pods of a group are of one shape, and so of one namespace."""
    groups = tuple(group for group in pending.groups if group.example.partition("/")[0] == namespace)
    queues: dict[str, int] = {}
    for group in groups:
        for queue, count in group.queues.items():
            queues[queue] = queues.get(queue, 0) + count
    return replace(pending, groups=groups, total=sum(group.count for group in groups), queues=queues)


def waiting(pending: Pending) -> list[Part]:
    """A line a group: how many, why, since when, how often tried, and when they are tried again."""
    if not pending.groups:
        return [Styled("No pods are waiting.", "green")]
    queues = ", ".join(f"{count} {_NAMES.get(queue, queue)}" for queue, count in pending.queues.items() if count)
    pods = "pod is" if pending.total == 1 else "pods are"
    parts: list[Part] = [Styled(f"{pending.total} {pods} waiting: {queues}", "bold")]
    rows = [
        (
            str(group.count),
            _whose(group),
            age(group.oldest, pending.time),
            str(group.attempts),
            until(group.next_try, pending.time) or "-",
            ", ".join(group.plugins) or "-",
        )
        for group in pending.groups
    ]
    headings = ("PODS", "OF", "OLDEST", "TRIES", "NEXT TRY", "HELD UP BY")
    parts.append(Grid(headings, rows, frozenset((0, 3))))
    parts.append(Styled("\nWhy", "bold"))
    parts += [Styled(f"{_whose(group)}: {group.cause}") for group in pending.groups]
    example = pending.groups[0].example.partition("/")
    parts.append(Styled(f"\nberth explain pod -n {example[0]} {example[2]}   says what would help", "dim"))
    return parts


def _whose(group: PendingGroup) -> str:
    """Whose pods these are: their owner's where they have one, else an example's name."""
    namespace, _, name = group.example.partition("/")
    more = f" and {group.count - 1} more" if group.count > 1 and not group.owner else ""
    return f"{namespace}/{group.owner or name}{more}"
