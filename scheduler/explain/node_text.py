"""A node and the pods on it, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.explain.grid import Grid, Styled

if TYPE_CHECKING:
    from scheduler.explain.grid import Part
    from scheduler.explain.views import NodePods, NodesView

_BYTES: Final = ("memory", "ephemeral-storage")
_UNITS: Final = ((2**40, "Ti"), (2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"))


def node_parts(node: NodePods, nodes: NodesView) -> list[Part]:
    """What of the node is taken, and by which pods."""
    parts: list[Part] = []
    if node.name in nodes.names:
        parts += _room(nodes, nodes.names.index(node.name))
    count = len(node.pods)
    parts.append(Styled(f"\n{count} pod{'' if count == 1 else 's'}", "bold"))
    return [*parts, *(Styled(f"  {pod}") for pod in node.pods)]


def amount(resource: str, value: int) -> str:
    """An amount in base units as people write it."""
    if resource == "cpu":
        return str(value // 1000) if value % 1000 == 0 else f"{value}m"
    if resource in _BYTES or resource.startswith("hugepages-"):
        for size, unit in _UNITS:
            if value >= size:
                return f"{value / size:.1f}".removesuffix(".0") + unit
    return str(value)


def _room(nodes: NodesView, at: int) -> list[Part]:
    zone = f" in {nodes.zones[at]}" if nodes.zones[at] else ""
    closed = ", closed to new pods" if nodes.unschedulable[at] else ""
    parts: list[Part] = [Styled(f"{nodes.names[at]}{zone}{closed}", "bold")]
    if nodes.taints and nodes.taints[at]:
        parts.append(Styled(f"taints: {nodes.taints[at]}"))
    rows = [("pods", str(nodes.pods[at]), str(nodes.allowed_pods[at]), _share(nodes.pods[at], nodes.allowed_pods[at]))]
    for resource in nodes.resources:
        whole, taken = nodes.allocatable[resource][at], nodes.requested[resource][at]
        if whole or taken:
            rows.append((resource, amount(resource, taken), amount(resource, whole), _share(taken, whole)))
    parts.append(Grid(("RESOURCE", "REQUESTED", "OF", "SHARE"), rows, frozenset((1, 2, 3))))
    return parts


def _share(taken: int, whole: int) -> str:
    return f"{100 * taken / whole:.0f}%" if whole else "-"
