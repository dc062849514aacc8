"""Requests in HTTP/2 over one connection where the server speaks that, else in HTTP/1.1 over kept ones; watches over
connections of their own.

This does the little that the API server needs, at a fraction of what a general HTTP client takes for it.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar, cast

from yarl import URL

from scheduler.client.answers import AnswerReader, GarbledAnswerError
from scheduler.client.errors import ConnectError, TransportError
from scheduler.client.http2 import Http2Connection
from scheduler.client.multiplexing import Multiplexer
from scheduler.client.watching import WatchConnection

if TYPE_CHECKING:
    import ssl
    from collections.abc import Awaitable, Callable, Mapping

    from scheduler.client.answers import Answer

__all__ = ["ConnectionPool"]

#: Seconds after which an unused connection is not trusted any more; kube-apiserver closes them after 90.
_LONGEST_IDLE: Final = 60.0
_CONNECT_TIMEOUT: Final = 10.0
#: Seconds until the next address of the server is tried, if it has several.
_NEXT_ADDRESS: Final = 2.0
_BUFFER: Final = 2**14
_REPEATABLE: Final = frozenset({"GET", "PUT", "DELETE"})

P = TypeVar("P", bound=asyncio.BufferedProtocol)


class _StaleError(Exception):
    """A kept connection had been closed by the server when it was used again."""


class _Connection(asyncio.BufferedProtocol):
    """A connection, for one request at a time.

    It hands out the buffer to read into, which spares a large allocation for each small answer.
    """

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool
        self._reader = AnswerReader()
        self._buffer = memoryview(bytearray(_BUFFER))
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[Answer] | None = None
        self._heard = False
        self._used = False
        self.idle_since = 0.0

    @property
    def usable(self) -> bool:
        """Whether another request may be sent."""
        return self._transport is not None and self._reader.reusable and not self._transport.is_closing()

    async def exchange(self, request: bytes, within: float) -> Answer:
        """Send a request and await its answer. Raises _StaleError, TransportError, TimeoutError."""
        if self._transport is None:
            raise ConnectError("the connection was lost as soon as it was made")
        loop = asyncio.get_running_loop()
        self._answer = loop.create_future()
        self._heard = False
        timer = loop.call_later(within, self._fail, TimeoutError())
        try:
            self._transport.write(request)
            return await self._answer
        finally:
            timer.cancel()
            self._answer = None
            self._used = True

    def close(self) -> None:
        """End the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are of classes of their own

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 (all of them are alike)
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._heard = True
        if self._answer is None or self._answer.done():
            self.close()  # nobody has asked
            return
        try:
            answer = self._reader.feed(bytes(self._buffer[:nbytes]))
        except GarbledAnswerError as problem:
            self._fail(TransportError(str(problem)))
            return
        if answer is not None:
            self._answer.set_result(answer)

    def connection_lost(self, problem: Exception | None) -> None:
        self._transport = None
        self._pool.lost(self)
        if self._answer is None or self._answer.done():
            return
        answer = self._reader.end() if problem is None else None
        if answer is not None:
            self._answer.set_result(answer)
        elif self._used and not self._heard:
            self._fail(_StaleError())
        else:
            self._fail(TransportError(f"the connection was lost: {problem or 'the server has closed it'}"))

    def _fail(self, problem: Exception) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(problem)


class ConnectionPool:
    """Connections to one server, at most `limit` at a time; `headers` go with each request.

    `multiplexed` is TLS that offers the server HTTP/2: if it takes that, all requests share one connection. For the
    event loop on which it is made.
    """

    def __init__(
        self,
        base_url: str,
        tls: ssl.SSLContext | None,
        *,
        headers: Mapping[str, str],
        server_hostname: str | None = None,
        limit: int = 128,
        multiplexed: ssl.SSLContext | None = None,
    ) -> None:
        url = URL(base_url)
        self._host = url.host or ""
        self._port = url.port or 0
        self._prefix = url.raw_path.rstrip("/")
        self._tls = (tls or True) if url.scheme == "https" else None
        self._server_hostname = (server_hostname or self._host) if self._tls else None
        self._static = f"Host: {url.authority}\r\n{_lines(headers)}"
        self._room = asyncio.Semaphore(limit)
        self._idle: list[_Connection] = []
        self._all: set[_Connection] = set()
        self._multiplexer: Multiplexer | None = None
        if multiplexed is not None and self._tls:
            self._multiplexer = Multiplexer(
                lambda within: self._connect(Http2Connection, within, multiplexed),
                authority=url.authority,
                headers=headers,
                repeatable=_REPEATABLE,
                longest_idle=_LONGEST_IDLE,
            )

    def send(
        self, method: str, path: str, *, headers: Mapping[str, str], body: bytes | None, within: float
    ) -> Awaitable[Answer]:
        """Send a request; its answer must be there `within` seconds.

        Raises ConnectError where nothing was sent, TransportError or TimeoutError where it is unknown what became of
        it.
        """
        by_itself = partial(self._send_by_itself, method, path, headers, body, within)
        if self._multiplexer is None:
            return by_itself()
        path_there = self._prefix + path
        return self._multiplexer.send(
            method, path_there, headers=headers, body=body, within=within, otherwise=by_itself
        )

    async def _send_by_itself(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None, within: float
    ) -> Answer:
        """Send it in HTTP/1.1, on a connection that has nothing else to do."""
        self._multiplexer = None
        request = self._request(method, path, headers, body)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within
        async with self._room:
            while True:
                connection = self._take(loop.time()) or await self._connect_kept(deadline - loop.time())
                try:
                    answer = await connection.exchange(request, deadline - loop.time())
                except _StaleError:
                    if method in _REPEATABLE:
                        continue
                    raise TransportError("the server has closed the connection") from None
                except BaseException:
                    connection.close()  # its answer may still come, and must not be taken for the next one's
                    raise
                self._give_back(connection, loop.time())
                return answer

    async def watch(
        self, path: str, *, headers: Mapping[str, str], total: float, idle: float
    ) -> WatchConnection | Answer:
        """Begin a watch: a connection to read from, which is the caller's to close, or the server's refusal.

        Raises ConnectError, TransportError, TimeoutError.
        """
        connection = await self._connect(WatchConnection, _CONNECT_TIMEOUT)
        try:
            refusal = await connection.open(self._request("GET", path, headers, None), total=total, idle=idle)
        except BaseException:
            connection.close()
            raise
        if refusal is not None:
            connection.close()
            return refusal
        return connection

    async def close(self) -> None:
        """End all connections that are kept."""
        if self._multiplexer is not None:
            self._multiplexer.close()
        for connection in list(self._all):
            connection.close()
        self._idle.clear()
        await asyncio.sleep(0)  # lets the transports hear of it, so that none is reported as unclosed

    def lost(self, connection: _Connection) -> None:
        """A connection has ended."""
        self._all.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)

    def _take(self, now: float) -> _Connection | None:
        """The kept connection that was used last, which is the one least likely to be closed."""
        while self._idle:
            connection = self._idle.pop()
            if connection.usable and now - connection.idle_since < _LONGEST_IDLE:
                return connection
            connection.close()
        return None

    def _give_back(self, connection: _Connection, now: float) -> None:
        if connection.usable:
            connection.idle_since = now
            self._idle.append(connection)
        else:
            connection.close()

    def _request(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
        length = f"Content-Length: {len(body)}\r\n" if body is not None else ""
        head = f"{method} {self._prefix}{path} HTTP/1.1\r\n{self._static}{_lines(headers)}{length}\r\n"
        return head.encode("latin-1") + (body or b"")

    async def _connect_kept(self, within: float) -> _Connection:
        connection = await self._connect(lambda: _Connection(self), within)
        self._all.add(connection)
        return connection

    async def _connect(self, factory: Callable[[], P], within: float, tls: ssl.SSLContext | None = None) -> P:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(min(within, _CONNECT_TIMEOUT)):
                found = await loop.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
                *others, last = [address[0] for _, _, _, _, address in found]
                for address in others:
                    with suppress(OSError, TimeoutError):
                        async with asyncio.timeout(_NEXT_ADDRESS):
                            return await self._connect_to(str(address), factory, tls)
                return await self._connect_to(str(last), factory, tls)
        except (OSError, TimeoutError) as error:
            told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise ConnectError(told) from error

    async def _connect_to(self, address: str, factory: Callable[[], P], tls: ssl.SSLContext | None) -> P:
        loop, name = asyncio.get_running_loop(), self._server_hostname
        _, connection = await loop.create_connection(
            factory, address, self._port, ssl=tls or self._tls, server_hostname=name
        )
        return connection


def _lines(headers: Mapping[str, str]) -> str:
    """Header lines. Raises ValueError for a value that would be more than one."""
    text = ""
    for name, value in headers.items():
        if not value.isprintable():
            raise ValueError(f"the value of the header {name} holds characters that don't belong there")
        text += f"{name}: {value}\r\n"
    return text
