"""Host ports given up."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from scheduler.cache.ports import ANY_ADDRESS, HostPort
from scheduler.explain.whynot.change import Change, Option
from scheduler.explain.whynot.ports import port_text
from scheduler.framework.names import NODE_PORTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.api.objects import Container, Pod
    from scheduler.explain.whynot.survey import Survey

_COST: Final = 40


def options(survey: Survey) -> Iterator[Option]:
    """Each host port of the pod given up by itself; a pod in the host's network can't give up any."""
    if NODE_PORTS not in survey.codes or survey.pod.shape.pod.spec.host_network:
        return
    for port in survey.pod.usage.ports:
        yield (_change(port),)


def _change(port: HostPort) -> Change:
    name = port_text(port)
    return Change(
        kind="dropHostPort",
        details={"hostPort": name},
        cost=_COST,
        what=lambda _: f"giving up host port {name} (for a Service, say)",
        solves=frozenset((NODE_PORTS,)),
        pod=partial(_without, port),
    )


def _without(given_up: HostPort, pod: Pod) -> Pod:
    def closed(container: Container) -> Container:
        ports = tuple(
            replace(port, host_port=0)
            if HostPort(port.protocol or "TCP", port.host_port, port.host_ip or ANY_ADDRESS) == given_up
            else port
            for port in container.ports
        )
        return replace(container, ports=ports)

    spec = pod.spec
    containers = tuple(map(closed, spec.containers))
    started = tuple(map(closed, spec.init_containers))
    return replace(pod, spec=replace(spec, containers=containers, init_containers=started))
