"""The objects of a live cluster, read once and never written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import msgspec

from scheduler.api.decode import DecodeError, decode_as
from scheduler.app.assembly import LOOKED_UP, OPTIONAL
from scheduler.app.manifests import ManifestError
from scheduler.app.progress import unseen
from scheduler.client import kinds
from scheduler.client.auth import AuthError, connect
from scheduler.client.errors import ApiError, TransportError
from scheduler.client.http import Session

if TYPE_CHECKING:
    from scheduler.api.meta import Model
    from scheduler.app.progress import Progress
    from scheduler.client.auth import Connection

_PAGE: Final = 500
READ: Final[tuple[kinds.Resource[Any], ...]] = (
    kinds.NODES,
    kinds.NAMESPACES,
    kinds.PRIORITY_CLASSES,
    *LOOKED_UP,
    kinds.PODS,
)
"""All that scheduling reads, in the order in which it is asked for."""
_NEEDED: Final = (kinds.NODES, kinds.PODS)
_SPREADING: Final = "spreading by default takes no account of them"
_VOLUMES: Final = "pods with volumes may come out wrong"
_WITHOUT: Final = {
    kinds.NAMESPACES: "namespaceSelectors find namespaces by name only",
    kinds.PRIORITY_CLASSES: "pods of files can't name one",
    kinds.SERVICES: _SPREADING,
    kinds.REPLICATION_CONTROLLERS: _SPREADING,
    kinds.REPLICA_SETS: _SPREADING,
    kinds.STATEFUL_SETS: _SPREADING,
    kinds.POD_DISRUPTION_BUDGETS: "preemption spares nobody",
    kinds.DEVICE_CLASSES: "resources that stand for devices aren't recognized",
}
"""What it means for the simulation that a kind can't be read; the kinds that aren't here are about volumes."""
_FORBIDDEN: Final = 403
_NOT_THERE: Final = 404
_EXPIRED: Final = 410


class Live(msgspec.Struct, frozen=True):
    """What was read of a cluster: objects, and by plural name what could not be read and what that means."""

    objects: list[Model]
    left_out: dict[str, str] = {}

    @property
    def notes(self) -> list[str]:
        """A sentence for each kind that the user has no right to list."""
        return [
            f"Left out, as you have no right to list {plural} in all namespaces: {meaning}."
            for plural, meaning in self.left_out.items()
        ]


class _ListMeta(msgspec.Struct, rename="camel"):
    next_token: str = msgspec.field(default="", name="continue")
    remaining_item_count: int | None = None


class _Page(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    items: list[msgspec.Raw] = []


async def read_cluster(kubeconfig: str, context: str, progress: Progress = unseen) -> Live:
    """All objects that scheduling reads. Raises ManifestError if the cluster can't be read."""
    try:
        connection = await connect(kubeconfig or None, context=context or None)
    except AuthError as problem:
        raise ManifestError(str(problem)) from problem
    return await read_all(connection, progress)


async def read_all(connection: Connection, progress: Progress = unseen) -> Live:
    """All objects that scheduling reads, over a connection. Raises ManifestError if they can't be read.

    Nodes and pods are needed. Other kinds are left out where the user has no right to list them.
    """
    found: list[Model] = []
    refused: dict[kinds.Resource[Any], str] = {}
    async with Session(connection, qps=0) as session:
        for resource in READ:
            try:
                found += await _list(session, resource, progress)
            except (ApiError, TransportError, AuthError, DecodeError, msgspec.DecodeError) as problem:
                if not isinstance(problem, ApiError) or problem.status != _FORBIDDEN:
                    raise ManifestError(f"cluster {connection.base_url}: {resource.plural}: {problem}") from problem
                refused[resource] = str(problem)
    if problems := [_missing_right(resource, refused[resource]) for resource in _NEEDED if resource in refused]:
        raise ManifestError("\n".join(f"cluster {connection.base_url}: {problem}" for problem in problems))
    return Live(found, {resource.plural: _WITHOUT.get(resource, _VOLUMES) for resource in refused})


def _missing_right(resource: kinds.Resource[Any], refusal: str) -> str:
    group = f'apiGroups: ["{resource.group}"], resources: ["{resource.plural}"], verbs: ["list"]'
    return (
        f"you have no right to list {resource.plural} in all namespaces, which a simulation needs. "
        f"A ClusterRole with {group} gives it. The server says: {refusal}"
    )


async def _list(session: Session, resource: kinds.Resource[Any], progress: Progress) -> list[Model]:
    items: list[Model] = []
    selector = f"&fieldSelector={quote(kinds.UNFINISHED_PODS.field, safe='')}" if resource is kinds.PODS else ""
    token = ""
    limit = _PAGE
    what = f"reading {resource.plural}"
    while True:
        query = f"?limit={limit}{selector}" + (f"&continue={quote(token, safe='')}" if token else "")
        try:
            page = msgspec.json.decode(await session.request("GET", resource.path() + query), type=_Page)
        except ApiError as problem:
            if problem.status == _NOT_THERE and resource.kind in OPTIONAL:
                return []  # a server without this kind
            if problem.status != _EXPIRED or not token:
                raise
            # The rest of the list has changed too much meanwhile: take all of it at once.
            items, token, limit = [], "", 0
            continue
        items += [decode_as(resource.type, raw) for raw in page.items]
        left = page.metadata.remaining_item_count
        progress(what, len(items), None if left is None else len(items) + left)
        token = page.metadata.next_token
        if not token:
            return items
