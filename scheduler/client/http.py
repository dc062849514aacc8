"""The HTTP session that all requests to the API server go over."""

from __future__ import annotations

import asyncio
import random
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Protocol, Self

import aiohttp
from yarl import URL

from scheduler.client.errors import ApiError, ConnectError, TransportError, error_from_status
from scheduler.client.limiter import RateLimiter
from scheduler.client.lines import LineStream
from scheduler.version import __version__

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from types import TracebackType

    from scheduler.client.auth import Connection

__all__ = ["JSON", "STRATEGIC_MERGE_PATCH", "Observer", "Session"]

JSON = "application/json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"

_CONNECT_TIMEOUT = 10.0
_MAX_THROTTLED = 10
_MAX_RETRY_AFTER = 30.0


class Observer(Protocol):
    """Where requests are counted. ``code`` is the status, or "<error>" where no answer came."""

    def request_done(self, *, method: str, host: str, code: str, seconds: float) -> None:
        """One request was answered, or failed."""

    def request_throttled(self, *, method: str, host: str, seconds: float) -> None:
        """One request waited that long for the client's own rate limit."""


class _Silent:
    def request_done(self, *, method: str, host: str, code: str, seconds: float) -> None:
        pass

    def request_throttled(self, *, method: str, host: str, seconds: float) -> None:
        pass


class Session:
    """Requests and streams over one pool of connections; use as an async context manager.

    Credentials are asked for with each request and renewed once when the server answers 401. Answers of 429
    are waited out (they say that nothing was done), at most ten times. ``qps`` and ``burst`` limit this
    client as ``clientConnection`` says; zero or negative qps means no limit.
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

    async def __aenter__(self) -> Self:
        """Open the pool. No connection is made before the first request."""
        self._http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, ssl=self._connection.ssl or True),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,  # reading ~/.netrc and the environment costs two thread hops a request
            read_bufsize=2**18,
            headers={"Accept": JSON, "Accept-Encoding": "identity", "User-Agent": f"berth/{__version__}"},
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close all connections."""
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
        throttled = 0
        while True:
            try:
                answer = await self._open(method, path, body, content_type, _whole(within))
                with self._translated(method, path):
                    async with answer:
                        return await answer.read()
            except ApiError as error:
                throttled += 1
                if error.status != 429 or throttled > _MAX_THROTTLED:
                    raise
                await asyncio.sleep(self._pause(error))

    @asynccontextmanager
    async def stream(self, path: str, *, total: float, idle: float) -> AsyncIterator[LineStream]:
        """Open a watch and give its lines.

        Reading raises TransportError after ``total`` seconds altogether or ``idle`` seconds of silence.
        Raises ApiError where the server refuses the watch.
        """
        timeout = aiohttp.ClientTimeout(total=total, sock_connect=_CONNECT_TIMEOUT, sock_read=idle)
        answer = await self._open("GET", path, None, JSON, timeout)

        async def next_chunk() -> bytes:
            with self._translated("GET", path):
                return await answer.content.readany()

        try:
            yield LineStream(next_chunk)
        finally:
            answer.close()  # the rest of a watch has no end that could be waited for

    async def _open(
        self, method: str, path: str, body: bytes | None, content_type: str, limits: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        """Send a request and await the head of its answer, which is no refusal (those raise ApiError)."""
        if self._limiter is not None:
            waited = await self._limiter.wait()
            self._observer.request_throttled(method=method, host=self._host, seconds=waited)
        clock = asyncio.get_running_loop().time
        started, code = clock(), "<error>"
        try:
            with self._translated(method, path):
                answer = await self._send(method, path, body, content_type, limits, renew=False)
                if answer.status == 401:
                    answer.release()
                    answer = await self._send(method, path, body, content_type, limits, renew=True)
                code = str(answer.status)
                if answer.status < 400:
                    return answer
                async with answer:
                    refusal = await answer.read()
        finally:
            self._observer.request_done(method=method, host=self._host, code=code, seconds=clock() - started)
        raise error_from_status(refusal, status=answer.status, retry_after=_seconds(answer.headers.get("Retry-After")))

    @contextmanager
    def _translated(self, method: str, path: str) -> Iterator[None]:
        try:
            yield
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise ConnectError(f"no connection to {self._host}: {error}") from error
        except (aiohttp.ClientError, OSError) as error:
            raise TransportError(f"{method} {path.partition('?')[0]}: {_name(error)}") from error

    async def _send(
        self,
        method: str,
        path: str,
        body: bytes | None,
        content_type: str,
        limits: aiohttp.ClientTimeout,
        *,
        renew: bool,
    ) -> aiohttp.ClientResponse:
        if self._http is None:
            raise RuntimeError("the session is not open: use it as an async context manager")
        headers = dict(await self._connection.authorize(renew=renew))
        if body is not None:
            headers["Content-Type"] = content_type
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

    def _pause(self, error: ApiError) -> float:
        """Seconds to wait after a 429; a random part keeps many clients from coming back at once."""
        asked = 1.0 if error.retry_after is None else error.retry_after
        return min(asked, _MAX_RETRY_AFTER) * (1.0 + 0.25 * self._rng.random())


def _whole(seconds: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=seconds, sock_connect=min(seconds, _CONNECT_TIMEOUT))


def _seconds(header: str | None) -> float | None:
    """A Retry-After header given in seconds; the form with a date is not used by the API server."""
    return float(header) if header is not None and header.isascii() and header.isdigit() else None


def _name(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
