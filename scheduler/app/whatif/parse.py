"""Changes as they are written on the command line."""

from __future__ import annotations

from typing import Final

from scheduler.app.whatif.nodes import AddNodes, RemoveTaint
from scheduler.app.whatif.scale import KINDS, Scale
from scheduler.app.whatif.world import ChangeError, near

_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def parse_add_nodes(text: str) -> AddNodes:
    """N=NODE. Raises ChangeError."""
    count, separator, node = text.partition("=")
    if not separator or not count.isdecimal() or not node:
        raise ChangeError(f"--add-nodes {text}: write a number and the node that they are like, as in 3=node-1")
    return AddNodes(int(count), node)


def parse_scale(text: str) -> Scale:
    """KIND/[NAMESPACE/]NAME=N. Raises ChangeError."""
    target, separator, count = text.rpartition("=")
    parts = target.split("/")
    if not separator or not count.isdecimal() or len(parts) not in (2, 3) or not all(parts):
        raise ChangeError(f"--scale {text}: write KIND/NAME=N or KIND/NAMESPACE/NAME=N, as in deployment/web=5")
    kind = KINDS.get(parts[0].lower().partition(".")[0])
    if kind is None:
        hint = near(parts[0].lower(), sorted({kind.lower() for kind in KINDS.values()}))
        raise ChangeError(f"--scale {text}: {parts[0]!r} is nothing that can be scaled{hint}")
    return Scale(kind, parts[1] if len(parts) == 3 else "", parts[-1], int(count))


def parse_remove_taint(text: str) -> RemoveTaint:
    """NODES:KEY[:EFFECT], where NODES is a name, a glob or a label selector. Raises ChangeError."""
    parts = text.split(":")
    effect = parts.pop() if len(parts) == 3 else ""
    if len(parts) != 2 or not all(parts) or (effect and effect not in _EFFECTS):
        example = "as in node-1:dedicated or pool=a:dedicated:NoSchedule"
        raise ChangeError(f"--remove-taint {text}: write NODES:KEY or NODES:KEY:EFFECT, {example}")
    return RemoveTaint(parts[0], parts[1], effect)
