"""The flags by which commands find a running scheduler, and the way to it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from scheduler.cli.parsers import port

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

    from scheduler.app.asking import Asking
    from scheduler.app.reach import Requests
    from scheduler.client.auth import Connection

RIGHTS = """\
rights: your kubeconfig's own. Berth's pod is found by its Lease, and asked through a port that the API server forwards,
with your token or client certificate. The chart makes the roles for it: see docs/explain.md.
"""


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say which cluster, and where in it Berth is."""
    cluster = parser.add_argument_group("cluster")
    cluster.add_argument("--kubeconfig", default="", metavar="FILE", help="$KUBECONFIG or ~/.kube/config otherwise")
    cluster.add_argument("--context", default="", metavar="NAME", help="context of the kubeconfig")
    where = parser.add_argument_group("where Berth is")
    where.add_argument(
        "--scheduler-namespace", default="kube-system", metavar="NAME", help="its namespace (default kube-system)"
    )
    where.add_argument(
        "--lease-name", default="berth", metavar="NAME", help="the Lease that names the leader (default berth)"
    )
    where.add_argument(
        "--scheduler-port", type=port, default=0, metavar="PORT", help="default: the pod's port called https, or 10259"
    )
    where.add_argument("--server", default="", metavar="URL", help="ask https://HOST:PORT instead")
    where.add_argument(
        "--certificate-authority", default="", metavar="FILE", help="verifies the certificate of --server"
    )
    where.add_argument(
        "--insecure-skip-tls-verify", action="store_true", help="do not verify it; for a --server on this machine only"
    )


async def connection_of(namespace: argparse.Namespace) -> Connection:
    """The API server and the credentials of the kubeconfig.

    Raises AuthError, also for flags that would say how to trust a server where none is named.
    """
    from scheduler.client.auth import AuthError, connect

    trusting = {
        "--certificate-authority": namespace.certificate_authority,
        "--insecure-skip-tls-verify": namespace.insecure_skip_tls_verify,
    }
    idle = [flag for flag, given in trusting.items() if given]
    if idle and not namespace.server:
        raise AuthError(f"{idle[0]} is about the certificate of --server: give that as well, or leave this out")
    return await connect(namespace.kubeconfig or None, context=namespace.context or None)


def way_of(namespace: argparse.Namespace, connection: Connection) -> AbstractAsyncContextManager[Requests]:
    """The way to whom the flags name. Entering it raises ReachError."""
    from scheduler.app.direct import at_address
    from scheduler.app.reach import Place, through_api_server

    if namespace.server:
        return at_address(
            connection,
            namespace.server,
            authority=namespace.certificate_authority,
            unverified=namespace.insecure_skip_tls_verify,
        )
    place = Place(namespace=namespace.scheduler_namespace, lease=namespace.lease_name, port=namespace.scheduler_port)
    return through_api_server(connection, place)


@asynccontextmanager
async def asking(namespace: argparse.Namespace, connection: Connection) -> AsyncIterator[Asking]:
    """Whom the flags name. Raises ReachError."""
    from scheduler.app.asking import Asking

    async with way_of(namespace, connection) as requests:
        yield Asking(requests)
