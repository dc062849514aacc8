"""How evenly, and how tightly, the pods of a simulated cluster lie on its nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from scheduler.api.conditions import is_terminal
from scheduler.app.whatif.pods import belongs_to_node
from scheduler.cache.nodes import CPU, MEMORY
from scheduler.client.kinds import PODS

if TYPE_CHECKING:
    from scheduler.app.simulation import Simulation

_RESOURCES: Final = {"cpu": CPU, "memory": MEMORY}


class Share(msgspec.Struct, frozen=True):
    """A node, and how much of what it has is requested (1 is all of it)."""

    node: str
    share: float


class ResourceBalance(msgspec.Struct, frozen=True, rename="camel"):
    """One resource over all nodes that have any of it.

    `requested` and `allocatable` are sums (milli-CPU, bytes); `of_nodes_in_use` is the share requested of the nodes in
    use, `deviation` the standard deviation of the nodes' shares, `most_loaded` the fullest nodes.
    """

    requested: int
    allocatable: int
    share: float
    of_nodes_in_use: float
    deviation: float
    most_loaded: tuple[Share, ...]


class Balance(msgspec.Struct, frozen=True, rename="camel"):
    """All nodes. Those in use have a pod other than daemon and static ones."""

    nodes: int
    in_use: int
    empty: int
    resources: dict[str, ResourceBalance]


def balance(simulation: Simulation, *, most: int = 3) -> Balance:
    """The cluster as it is now."""
    table = simulation.scheduler.state.nodes
    live = np.flatnonzero(table.live[: table.size])
    used = np.zeros(table.size, np.bool_)
    for pod in simulation.cluster.list(PODS):
        row = table.rows.get(pod.spec.node_name)
        if row is not None and not is_terminal(pod) and not belongs_to_node(pod):
            used[row] = True
    in_use = int(np.count_nonzero(used[live]))
    resources = {}
    for name, index in _RESOURCES.items():
        rows = live[table.allocatable[index, live] > 0]
        has, asked = table.allocatable[index, rows], table.requested[index, rows]
        shares = asked / has
        busy = used[rows]
        first = np.argsort(-shares, kind="stable")[:most].tolist()
        resources[name] = ResourceBalance(
            requested=int(asked.sum()),
            allocatable=int(has.sum()),
            share=_share(int(asked.sum()), int(has.sum())),
            of_nodes_in_use=_share(int(asked[busy].sum()), int(has[busy].sum())),
            deviation=round(float(shares.std()), 4) if len(rows) else 0.0,
            most_loaded=tuple(Share(table.name(int(rows[i])), round(float(shares[i]), 4)) for i in first),
        )
    return Balance(nodes=len(live), in_use=in_use, empty=len(live) - in_use, resources=resources)


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
