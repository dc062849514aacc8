"""Calls over HTTP that a synchronous caller can wait for, each with a time limit that holds whatever the server does.

The requests run on an event loop in a thread of its own: the scheduling cycle that waits for them blocks the main one.
"""

from __future__ import annotations

import asyncio
import errno
import ssl
import threading
from typing import TYPE_CHECKING, NamedTuple

import aiohttp
from yarl import URL

from scheduler.client.extender.interface import ExtenderError
from scheduler.version import __version__

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["Answer", "Caller"]

_UNKNOWN_AUTHORITY = frozenset({18, 19, 20, 21})
"""OpenSSL's codes for chains that end at no trusted authority."""


class Answer(NamedTuple):
    """A status and the whole body."""

    status: int
    body: bytes


class Caller:
    """Posts JSON to one server over connections that are kept open.

    `timeout` is in seconds, for a whole call; 0 or less is no limit. `server_name` is whom the server's certificate is
    to name, where that is not the host of the URL. The thread begins with the first call, and ends with `close`.
    """

    def __init__(self, *, timeout: float, tls: ssl.SSLContext, server_name: str = "") -> None:
        self._timeout = aiohttp.ClientTimeout(total=timeout if timeout > 0 else None, sock_connect=None)
        self._tls = tls
        self._server_name = server_name or None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._session: aiohttp.ClientSession | None = None

    def post(self, url: str, body: bytes) -> Future[Answer]:
        """Send a request. The future raises ExtenderError where no whole answer came."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="extender calls", daemon=True)
            self._thread.start()
        return asyncio.run_coroutine_threadsafe(self._post(url, body), self._loop)

    def close(self) -> None:
        """Close the connections and end the thread. Calls under way fail."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        self._loop = self._thread = None
        asyncio.run_coroutine_threadsafe(self._wind_down(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    async def _wind_down(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if self._session is not None:
            await self._session.close()
            self._session = None
            await asyncio.sleep(0)  # lets the transports hear of it, so that none is reported as unclosed

    async def _post(self, url: str, body: bytes) -> Answer:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=self._tls),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=self._timeout,
                headers={"User-Agent": f"berth/{__version__}", "Content-Type": "application/json"},
            )
        awaiting = "while awaiting headers"
        try:
            call = self._session.post(url, data=body, server_hostname=self._server_name, allow_redirects=False)
            async with call as answer:
                awaiting = "or context cancellation while reading body"
                return Answer(answer.status, await answer.read())
        except TimeoutError as problem:
            text = f"context deadline exceeded (Client.Timeout {_exceeded(awaiting)})"
            raise ExtenderError(text if awaiting.startswith("or") else _posting(url, text)) from problem
        except (aiohttp.ClientError, OSError, ValueError) as problem:
            raise ExtenderError(_posting(url, _worded(problem))) from problem


def _exceeded(awaiting: str) -> str:
    return awaiting if awaiting.startswith("or") else f"exceeded {awaiting}"


def _posting(url: str, problem: str) -> str:
    return f'Post "{url}": {problem}'


def _worded(problem: Exception) -> str:
    """A failure in the words of Go's net and crypto/tls packages, where it is one of the usual ones."""
    if isinstance(problem, aiohttp.ServerDisconnectedError):
        return "EOF"
    if isinstance(problem, aiohttp.ClientConnectorCertificateError):
        return f"tls: failed to verify certificate: {_certificate(problem.certificate_error)}"
    if isinstance(problem, aiohttp.ClientConnectorDNSError):
        return f"dial tcp: lookup {problem.host}: no such host"
    if isinstance(problem, aiohttp.ClientConnectorError) and problem.errno in _REFUSALS:
        host = f"[{problem.host}]" if ":" in problem.host else problem.host
        return f"dial tcp {host}:{problem.port}: connect: {_REFUSALS[problem.errno]}"
    if isinstance(problem, aiohttp.NonHttpUrlClientError):
        return f'unsupported protocol scheme "{URL(str(problem)).scheme}"'
    return str(problem) or type(problem).__name__


_REFUSALS = {
    errno.ECONNREFUSED: "connection refused",
    errno.EHOSTUNREACH: "no route to host",
    errno.ENETUNREACH: "network is unreachable",
    errno.ETIMEDOUT: "connection timed out",
}


def _certificate(problem: Exception) -> str:
    if isinstance(problem, ssl.SSLCertVerificationError) and problem.verify_code in _UNKNOWN_AUTHORITY:
        return "x509: certificate signed by unknown authority"
    return f"x509: {problem}"
