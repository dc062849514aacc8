"""Host ports that the pod wants: where they are taken, and by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.cache.ports import ANY_ADDRESS
from scheduler.explain.whynot.wording import listed
from scheduler.framework.names import NODE_PORTS
from scheduler.plugins.node_ports import conflict

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import numpy.typing as npt

    from scheduler.cache.pods import PodInfo
    from scheduler.cache.ports import HostPort
    from scheduler.explain.whynot.survey import Survey

    Rows = npt.NDArray[np.intp]


def port_text(port: HostPort) -> str:
    """ "8080/TCP", with the address in front where there is one."""
    text = f"{port.port}/{port.protocol}"
    return text if port.address == ANY_ADDRESS else f"{port.address}:{text}"


def taken(survey: Survey, rows: Rows) -> Iterator[tuple[str, Rows]]:
    """The rows by which of the ports are taken there."""
    wanted = survey.pod.usage.ports
    table = survey.state.nodes
    masks = [(port_text(port), table.ports.conflicts((port,), table.size)[rows]) for port in wanted]
    keys = [listed([text for text, mask in masks if mask[place]]) for place in range(len(rows))]
    for key in dict.fromkeys(keys):
        yield key, rows[[place for place, other in enumerate(keys) if other == key]]


def holders(survey: Survey, row: int) -> list[PodInfo]:
    """The pods of a node that hold a port which the pod wants."""
    wanted = survey.pod.usage.ports
    return [
        pod
        for pod in survey.state.pods.on_node(survey.state.nodes.name(row))
        if any(conflict(port, used) for port in wanted for used in pod.usage.ports)
    ]


def facts(survey: Survey) -> list[str]:
    """Who holds the ports, on the nodes that nothing else keeps the pod off (or on all)."""
    rows = survey.rows(NODE_PORTS, most=1)
    if not len(rows):
        rows = survey.rows(NODE_PORTS, most=len(survey.codes))
    held = [f"{pod.key} on {pod.node_name}" for row in rows[:20].tolist() for pod in holders(survey, row)]
    if not held:
        return []
    wanted = listed([port_text(port) for port in survey.pod.usage.ports])
    more = len(rows) - 20
    also = f", and on {more} more nodes" if more > 0 else ""
    return [f"host port {wanted} is held by {listed(held, most=6)}{also}"]
