"""The way to a running scheduler for somebody with a kubeconfig: which pod leads, and a tunnel to it.

Nothing but the user's own rights is used: the Lease names the leader's pod, the API server forwards its port, and the
user's own token or client certificate goes with each request. The scheduler's certificate is its own and bears no name
that could be verified. So the leader writes the certificate's fingerprint to its Lease, and a server with another one
is sent nothing. Where there is no Lease (leader election is off), the API server's word is taken for the pod.
"""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import quote

import msgspec

from scheduler.client.answers import GZIP
from scheduler.client.errors import ApiError, TransportError
from scheduler.client.http import Session
from scheduler.client.portforward import ForwardError, forward
from scheduler.client.tunnel import Tunnel, UnexpectedPeerError, tls_without_names

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scheduler.client.answers import Answer
    from scheduler.client.auth import Connection

SERVING_CERTIFICATE: Final = "explain.berth.dev/serving-certificate"
"""The annotation of the Lease that holds the fingerprint of the leader's serving certificate."""
PORT: Final = 10259
SELECTOR: Final = "app.kubernetes.io/name=berth,app.kubernetes.io/component=scheduler"

_PORT_NAME: Final = "https"
_FORBIDDEN: Final = 403


class ReachError(Exception):
    """The scheduler can't be reached; says why, and what right or flag is missing."""


class NoSchedulerError(ReachError):
    """There is no scheduler where it was looked for."""


class Requests(Protocol):
    """Asks the scheduler for paths."""

    async def get(self, path: str, *, known: str = "") -> Answer:
        """The answer to GET, packed as it came; status 304 if it is the one whose tag is `known`. Raises ReachError."""
        ...


def conditions(known: str) -> dict[str, str]:
    """The headers of a request that takes compressed answers, and none where that with the tag `known` still holds."""
    return {"Accept-Encoding": GZIP} | ({"If-None-Match": known} if known else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the scheduler is looked for. `port` 0: the pod's port named https, else 10259."""

    namespace: str = "kube-system"
    lease: str = "berth"
    selector: str = SELECTOR
    port: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A scheduler's pod; `pin` is the fingerprint of its certificate, "" where nobody has written it down."""

    namespace: str
    pod: str
    port: int = PORT
    pin: str = ""


class _Meta(msgspec.Struct):
    name: str = ""
    annotations: dict[str, str] | None = None


class _LeaseSpec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None


class _Lease(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: _LeaseSpec = msgspec.field(default_factory=_LeaseSpec)


class _Port(msgspec.Struct, rename="camel"):
    container_port: int
    name: str = ""


class _Container(msgspec.Struct):
    ports: list[_Port] | None = None


class _PodSpec(msgspec.Struct, rename="camel"):
    containers: list[_Container] = []
    node_name: str = ""
    hostname: str = ""


class _PodStatus(msgspec.Struct):
    phase: str = ""


class _Pod(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: _PodSpec = msgspec.field(default_factory=_PodSpec)
    status: _PodStatus = msgspec.field(default_factory=_PodStatus)


class _PodList(msgspec.Struct):
    items: list[_Pod] = []


@asynccontextmanager
async def through_api_server(connection: Connection, place: Place) -> AsyncIterator[Requests]:
    """A tunnel to the scheduler of the cluster. Raises ReachError, NoSchedulerError, AuthError."""
    async with Session(connection, qps=0) as session:
        found = await find(session, place)
    rights = Rule("", "pods/portforward", ("get", "create"), found.namespace)
    async with AsyncExitStack() as stack:
        try:
            carrier = await stack.enter_async_context(forward(connection, found.namespace, found.pod, found.port))
        except ApiError as problem:
            what = f"no port of pod {found.namespace}/{found.pod} can be forwarded"
            raise _refused(what, problem, rights) from problem
        except (TransportError, ForwardError) as problem:
            raise ReachError(f"pod {found.namespace}/{found.pod}, port {found.port}: {problem}") from problem
        tls = tls_without_names(connection.client_certificate)
        yield _Tunnelled(connection, found, Tunnel(carrier, tls, pin=found.pin))


async def find(session: Session, place: Place) -> Found:
    """The pod that leads, or one that belongs to the scheduler. Raises ReachError, NoSchedulerError."""
    lease = await _lease(session, place)
    pin = (lease.metadata.annotations or {}).get(SERVING_CERTIFICATE, "") if lease is not None else ""
    holder = (lease.spec.holder_identity or "") if lease is not None else ""
    host = holder.rpartition("_")[0] or holder
    if not host:
        return await _by_labels(session, place)
    try:
        body = await session.request("GET", _pods(place) + f"/{quote(host, safe='')}")
        return _found(place, msgspec.json.decode(body, type=_Pod), pin)
    except ApiError as problem:
        if problem.status == _FORBIDDEN:  # that of the port is enough, if it is where it usually is
            return Found(namespace=place.namespace, pod=host, port=place.port or PORT, pin=pin)
        if not problem.is_not_found:
            raise ReachError(f"pod {place.namespace}/{host}: {problem}") from problem
    except TransportError as problem:
        raise ReachError(str(problem)) from problem
    return await _on_host(session, place, host, pin)


async def _lease(session: Session, place: Place) -> _Lease | None:
    path = f"/apis/coordination.k8s.io/v1/namespaces/{quote(place.namespace, safe='')}/leases"
    try:
        body = await session.request("GET", f"{path}/{quote(place.lease, safe='')}")
        return msgspec.json.decode(body, type=_Lease)
    except ApiError as problem:
        if problem.is_not_found:
            return None
        rule = Rule("coordination.k8s.io", "leases", ("get",), place.namespace, place.lease)
        raise _refused(f"the Lease {place.namespace}/{place.lease} names the leader", problem, rule) from problem
    except TransportError as problem:
        raise ReachError(str(problem)) from problem


async def _by_labels(session: Session, place: Place) -> Found:
    """Any running pod with the scheduler's labels: without a leader each knows as much as the other."""
    running = [pod for pod in await _labelled(session, place) if pod.status.phase == "Running"]
    if not running:
        raise NoSchedulerError(
            f"no Berth in namespace {place.namespace}: neither a Lease {place.lease} with a holder, nor a running pod "
            f"labelled {place.selector}\n"
            "--scheduler-namespace and --lease-name say where it is; --server URL asks one outside of the cluster"
        )
    return _found(place, min(running, key=lambda pod: pod.metadata.name), "")


async def _on_host(session: Session, place: Place, host: str, pin: str) -> Found:
    """The pod that calls itself by its host's name, as on the host's network; or there is no such pod."""
    for pod in await _labelled(session, place):
        if pod.status.phase == "Running" and host in (pod.spec.node_name, pod.spec.hostname):
            return _found(place, pod, pin)
    raise NoSchedulerError(
        f"the Lease {place.namespace}/{place.lease} is held by {host}, which is no pod in that namespace: "
        "Berth runs outside of the cluster, or has just ended\n"
        f"--server https://{host}:{PORT} asks it there"
    )


async def _labelled(session: Session, place: Place) -> list[_Pod]:
    try:
        body = await session.request("GET", f"{_pods(place)}?labelSelector={quote(place.selector, safe='')}")
        return msgspec.json.decode(body, type=_PodList).items
    except ApiError as problem:
        rule = Rule("", "pods", ("get", "list"), place.namespace)
        raise _refused(f"Berth's pods in namespace {place.namespace} can't be listed", problem, rule) from problem
    except TransportError as problem:
        raise ReachError(str(problem)) from problem


def _found(place: Place, pod: _Pod, pin: str) -> Found:
    ports = [port for container in pod.spec.containers for port in container.ports or ()]
    named = next((port.container_port for port in ports if port.name == _PORT_NAME), PORT)
    return Found(namespace=place.namespace, pod=pod.metadata.name, port=place.port or named, pin=pin)


def _pods(place: Place) -> str:
    return f"/api/v1/namespaces/{quote(place.namespace, safe='')}/pods"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a Role that would allow what was refused."""

    group: str
    resource: str
    verbs: tuple[str, ...]
    namespace: str
    name: str = ""

    def __str__(self) -> str:
        """The rule as YAML, and where it belongs."""
        parts = [f'apiGroups: ["{self.group}"]', f'resources: ["{self.resource}"]', f"verbs: [{', '.join(self.verbs)}]"]
        if self.name:
            parts.append(f'resourceNames: ["{self.name}"]')
        return (
            f"it takes a Role in namespace {self.namespace} with the rule\n"
            f"  {{{', '.join(parts)}}}\n"
            "which the chart makes for whom rbac.explain.subjects lists"
        )


def _refused(what: str, problem: ApiError, rule: Rule) -> ReachError:
    return ReachError(f"{what}: {problem}" + (f"\n{rule}" if problem.status == _FORBIDDEN else ""))


class _Tunnelled:
    """Requests through a tunnel, with the user's credentials."""

    def __init__(self, connection: Connection, found: Found, tunnel: Tunnel) -> None:
        self._connection = connection
        self._found = found
        self._tunnel = tunnel

    async def get(self, path: str, *, known: str = "") -> Answer:
        """The answer to GET."""
        found = self._found
        try:
            return await self._tunnel.get(path, {**await self._connection.authorize(), **conditions(known)})
        except UnexpectedPeerError as problem:
            raise ReachError(
                f"pod {found.namespace}/{found.pod} is not the leader that wrote its certificate to the Lease, or has "
                f"just renewed it: {problem}\nnothing was sent to it; try again in some seconds"
            ) from problem
        except (TransportError, ForwardError) as problem:
            raise ReachError(f"pod {found.namespace}/{found.pod}, port {found.port}: {problem}") from problem
