"""The HTTP session that all requests to the API server go over."""

from __future__ import annotations

import asyncio
import random
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

import aiohttp
from yarl import URL

from scheduler.client.answers import Answer
from scheduler.client.errors import ConnectError, TransportError, error_from_status
from scheduler.client.limiter import RateLimiter
from scheduler.client.lines import LineStream
from scheduler.client.pool import ConnectionPool
from scheduler.client.watching import WatchConnection
from scheduler.version import __version__

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from types import TracebackType

    from scheduler.client.auth import Connection
    from scheduler.client.errors import ApiError

__all__ = ["JSON", "MERGE_PATCH", "STRATEGIC_MERGE_PATCH", "Observer", "Session"]

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"

_CONNECT_TIMEOUT = 10.0
_REFUSED = 400
_UNAUTHORIZED = 401
#: What may be raised where no answer comes.
_TROUBLE = (TransportError, aiohttp.ClientError, OSError)
_TOO_MANY = 429
_FAILED = 500
_MAX_PUT_OFF = 10
_MAX_RETRY_AFTER = 30.0

A = TypeVar("A", Answer, "WatchConnection | aiohttp.ClientResponse | Answer")


class Observer(Protocol):
    """Where requests are counted. ``code`` is the status, or "<error>" where no answer came."""

    def request_done(self, *, method: str, host: str, code: str, seconds: float) -> None:
        """One request was answered, or failed."""

    def request_throttled(self, *, method: str, host: str, seconds: float) -> None:
        """One request waited that long for the client's own rate limit."""

    def request_retried(self, *, method: str, host: str, code: str) -> None:
        """One request is sent again because of that answer."""


class _Silent:
    def request_done(self, *, method: str, host: str, code: str, seconds: float) -> None:
        pass

    def request_throttled(self, *, method: str, host: str, seconds: float) -> None:
        pass

    def request_retried(self, *, method: str, host: str, code: str) -> None:
        pass


class Session:
    """Requests and streams over one pool of connections; use as an async context manager.

    Credentials are asked for with each request and renewed once when the server answers 401. Answers of 429,
    and failures inside the server, that say when to come back are waited out, at most ten times. ``qps`` and ``burst``
    limit this client as ``clientConnection`` says; zero or negative qps means no limit.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        qps: float = 50.0,
        burst: int = 100,
        connections: int = 128,
        observer: Observer | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self._connection = connection
        self._limiter = RateLimiter.of(qps, burst)
        self._connections = connections
        self._observer: Observer = observer or _Silent()
        self._rng = rng or random.Random()
        self._host = URL(connection.base_url).authority
        self._http: aiohttp.ClientSession | None = None
        self._pool: ConnectionPool | None = None

    async def __aenter__(self) -> Self:
        """Open the pools. No connection is made before the first request."""
        headers = {"Accept": JSON, "User-Agent": f"berth/{__version__}"}
        self._http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, ssl=self._connection.ssl or True),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,  # reading ~/.netrc and the environment costs two thread hops a request
            read_bufsize=2**18,
            headers={**headers, "Accept-Encoding": "identity"},
        )
        if self._connection.proxy is None:
            self._pool = ConnectionPool(
                self._connection.base_url,
                self._connection.ssl,
                headers=headers,
                server_hostname=self._connection.server_hostname,
                limit=self._connections,
                multiplexed=self._connection.multiplexed,
            )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close all connections."""
        if self._pool is not None:
            await self._pool.close()
        if self._http is not None:
            await self._http.close()
            await asyncio.sleep(0)  # lets the transports hear of it, so that none is reported as unclosed

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        content_type: str = JSON,
        within: float = 30.0,
    ) -> bytes:
        """Send one request and read the whole answer; ``path`` includes the query, escaped.

        Each attempt must be answered ``within`` so many seconds. Raises ApiError for a refusal, ConnectError
        where nothing was sent, and TransportError where it is unknown whether the server acted.
        """
        typed = {} if body is None else {"Content-Type": content_type}
        pool = self._pool

        def send(credentials: Mapping[str, str]) -> Awaitable[Answer]:
            headers = {**typed, **credentials}
            if pool is not None:
                return pool.send(method, path, headers=headers, body=body, within=within)
            return self._sent(method, path, body, headers, _whole(within))

        put_off = 0
        while True:
            answer = await self._admitted(method, path, send)
            if answer.status < _REFUSED:
                return answer.body
            seconds = _seconds(answer.retry_after)
            put_off += 1
            if seconds is None or not _may_come_back(method, answer.status) or put_off > _MAX_PUT_OFF:
                raise _refusal(answer, method, path)
            self._observer.request_retried(method=method, host=self._host, code=str(answer.status))
            await asyncio.sleep(self._pause(seconds))

    @asynccontextmanager
    async def stream(self, path: str, *, total: float, idle: float) -> AsyncIterator[LineStream]:
        """Open a watch and give its lines.

        Reading raises TransportError after ``total`` seconds altogether or ``idle`` seconds of silence.
        Raises ApiError where the server refuses the watch.
        """
        timeout = aiohttp.ClientTimeout(total=total, sock_connect=_CONNECT_TIMEOUT, sock_read=idle)

        async def send(credentials: Mapping[str, str]) -> WatchConnection | aiohttp.ClientResponse | Answer:
            if self._pool is not None:
                return await self._pool.watch(path, headers=credentials, total=total, idle=idle)
            answer = await self._send("GET", path, None, credentials, timeout)
            if answer.status < _REFUSED:
                return answer
            async with answer:
                return await _read(answer)

        answer = await self._admitted("GET", path, send)
        if isinstance(answer, Answer):
            raise _refusal(answer, "GET", path)
        opened = answer
        read = opened.read if isinstance(opened, WatchConnection) else opened.content.readany

        async def next_chunk() -> bytes:
            try:
                return await read()
            except _TROUBLE as error:
                raise self._translated(error, "GET", path) from error

        try:
            yield LineStream(next_chunk)
        finally:
            opened.close()  # the rest of a watch has no end that could be waited for

    async def _admitted(self, method: str, path: str, send: Callable[[Mapping[str, str]], Awaitable[A]]) -> A:
        """What ``send`` answers to current credentials, once its turn has come; counted."""
        clock = asyncio.get_running_loop().time
        if self._limiter is not None:
            delay = self._limiter.reserve(clock())
            if delay > 0:
                await self._limiter.pause(delay)
            self._observer.request_throttled(method=method, host=self._host, seconds=delay)
        started, code = clock(), "<error>"
        try:
            answer = await send(await self._connection.authorize(renew=False))
            if answer.status == _UNAUTHORIZED:
                answer = await send(await self._connection.authorize(renew=True))
            code = str(answer.status)
            return answer
        except _TROUBLE as error:
            raise self._translated(error, method, path) from error
        finally:
            self._observer.request_done(method=method, host=self._host, code=code, seconds=clock() - started)

    def _translated(self, error: Exception, method: str, path: str) -> TransportError:
        if isinstance(error, ConnectError | aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
            return ConnectError(f"no connection to {self._host}: {error}")
        return TransportError(f"{method} {path.partition('?')[0]}: {_name(error)}")

    async def _send(
        self,
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
        limits: aiohttp.ClientTimeout,
    ) -> aiohttp.ClientResponse:
        if self._http is None:
            raise RuntimeError("the session is not open: use it as an async context manager")
        return await self._http.request(
            method,
            URL(self._connection.base_url + path, encoded=True),
            data=body,
            headers=headers,
            timeout=limits,
            proxy=self._connection.proxy,
            server_hostname=self._connection.server_hostname,
            allow_redirects=False,
        )

    async def _sent(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], limits: aiohttp.ClientTimeout
    ) -> Answer:
        async with await self._send(method, path, body, headers, limits) as answer:
            return await _read(answer)

    def _pause(self, asked: float) -> float:
        """Seconds to wait; a random part keeps many clients from coming back at once."""
        return min(asked, _MAX_RETRY_AFTER) * (1.0 + 0.25 * self._rng.random())


async def _read(answer: aiohttp.ClientResponse) -> Answer:
    return Answer(answer.status, await answer.read(), answer.headers.get("Retry-After", ""))


def _refusal(answer: Answer, method: str, path: str) -> ApiError:
    after = _seconds(answer.retry_after)
    return error_from_status(answer.body, status=answer.status, retry_after=after, method=method, path=path)


def _may_come_back(method: str, status: int) -> bool:
    """Whether a request may be sent again if the server has said when (checkWait in client-go's rest/with_retry.go).

    After a failure inside the server, which may have done what it was asked for, that is for callers of POST to say.
    """
    return status == _TOO_MANY or (status >= _FAILED and method != "POST")


def _whole(seconds: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=seconds, sock_connect=min(seconds, _CONNECT_TIMEOUT))


def _seconds(header: str) -> float | None:
    """A Retry-After header given in seconds; the form with a date is not used by the API server."""
    return float(header) if header.isascii() and header.isdigit() else None


def _name(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
