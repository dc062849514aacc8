"""The way to a scheduler at a known address, with a certificate that can be verified."""

from __future__ import annotations

import ssl
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING

from yarl import URL

from scheduler.app.reach import ReachError, conditions
from scheduler.client.errors import TransportError
from scheduler.client.pool import ConnectionPool
from scheduler.client.tunnel import tls_without_names
from scheduler.version import __version__

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scheduler.app.reach import Requests
    from scheduler.client.answers import Answer
    from scheduler.client.auth import Connection


@asynccontextmanager
async def at_address(
    connection: Connection, server: str, *, authority: str = "", unverified: bool = False
) -> AsyncIterator[Requests]:
    """Requests to `server` (https://host:port) with the credentials of `connection`.

    Its certificate is verified by the `authority` (a file), or by those that this machine trusts; not at all only where
    that is asked for and the server is on this machine. Raises ReachError.
    """
    url = URL(server)
    if url.scheme != "https" or not url.host:
        raise ReachError(f"--server {server}: not of the form https://HOST:PORT")
    if unverified and not _is_loopback(url.host):
        raise ReachError(
            f"--insecure-skip-tls-verify is for a scheduler on this machine; {url.host} could be anybody and would get "
            "your credentials: give --certificate-authority FILE"
        )
    pool = ConnectionPool(
        str(url.origin()),
        _tls(connection, authority, unverified=unverified),
        headers={"User-Agent": f"berth/{__version__}", "Accept": "application/json"},
        limit=4,
    )
    try:
        yield _Direct(connection, server, pool)
    finally:
        await pool.close()


def _tls(connection: Connection, authority: str, *, unverified: bool) -> ssl.SSLContext:
    if unverified:
        return tls_without_names(connection.client_certificate)
    try:
        tls = ssl.create_default_context(cafile=authority or None)
    except (OSError, ssl.SSLError) as problem:
        raise ReachError(f"--certificate-authority {authority}: {problem}") from problem
    if connection.client_certificate is not None:
        tls.load_cert_chain(*connection.client_certificate)
    return tls


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Direct:
    def __init__(self, connection: Connection, server: str, pool: ConnectionPool) -> None:
        self._connection = connection
        self._server = server
        self._pool = pool

    async def get(self, path: str, *, known: str = "") -> Answer:
        """The answer to GET."""
        headers = {**await self._connection.authorize(), **conditions(known)}
        try:
            return await self._pool.send("GET", path, headers=headers, body=None, within=30.0)
        except (TransportError, TimeoutError) as problem:
            told = str(problem) or "no answer within 30 s"
            advice = ""
            if "CERTIFICATE_VERIFY_FAILED" in told:
                advice = "\nits certificate may be its own: give --certificate-authority FILE"
            raise ReachError(f"--server {self._server}: {told}{advice}") from problem
