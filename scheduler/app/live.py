"""The objects of a live cluster, read once and never written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import msgspec

from scheduler.api.decode import DecodeError, decode_as
from scheduler.app.assembly import LOOKED_UP, OPTIONAL
from scheduler.app.manifests import ManifestError
from scheduler.client import kinds
from scheduler.client.auth import AuthError, connect
from scheduler.client.errors import ApiError, TransportError
from scheduler.client.http import Session

if TYPE_CHECKING:
    from scheduler.api.meta import Model
    from scheduler.client.auth import Connection

_PAGE: Final = 500
_READ: Final[tuple[kinds.Resource[Any], ...]] = (
    kinds.NODES,
    kinds.NAMESPACES,
    kinds.PRIORITY_CLASSES,
    *LOOKED_UP,
    kinds.PODS,
)
_NOT_THERE: Final = 404
_EXPIRED: Final = 410


class _ListMeta(msgspec.Struct, rename={"next_token": "continue"}):
    next_token: str = ""


class _Page(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    items: list[msgspec.Raw] = []


async def read_cluster(kubeconfig: str, context: str) -> list[Model]:
    """All objects that scheduling reads. Raises ManifestError if the cluster can't be read."""
    try:
        connection = await connect(kubeconfig or None, context=context or None)
    except AuthError as problem:
        raise ManifestError(str(problem)) from problem
    return await read_all(connection)


async def read_all(connection: Connection) -> list[Model]:
    """All objects that scheduling reads, over a connection. Raises ManifestError if they can't be read."""
    found: list[Model] = []
    async with Session(connection, qps=0) as session:
        for resource in _READ:
            try:
                found += await _list(session, resource)
            except (ApiError, TransportError, AuthError, DecodeError, msgspec.DecodeError) as problem:
                raise ManifestError(f"cluster {connection.base_url}: {resource.plural}: {problem}") from problem
    return found


async def _list(session: Session, resource: kinds.Resource[Any]) -> list[Model]:
    items: list[Model] = []
    selector = f"&fieldSelector={quote(kinds.UNFINISHED_PODS.field, safe='')}" if resource is kinds.PODS else ""
    token = ""
    limit = _PAGE
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
        token = page.metadata.next_token
        if not token:
            return items
