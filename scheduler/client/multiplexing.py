"""All requests to one server over one connection in HTTP/2, for as long as the server goes along with that."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from scheduler.client.errors import ConnectError, TransportError
from scheduler.client.hpack import path_field, request_fields
from scheduler.client.streams import StaleError, UnprocessedError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from scheduler.client.answers import Answer
    from scheduler.client.http2 import Http2Connection

__all__ = ["Multiplexer"]

#: How often a request is sent that the server does not begin with.
_ATTEMPTS: Final = 5
_REMEMBERED: Final = 64


class Multiplexer:
    """Sends requests over the one connection, and makes another when that has to be given up.

    `connect` makes one within so many seconds, or raises ConnectError. A connection that heard nothing for
    `longest_idle` seconds is not trusted any more.
    """

    def __init__(
        self,
        connect: Callable[[float], Awaitable[Http2Connection]],
        *,
        authority: str,
        headers: Mapping[str, str],
        repeatable: frozenset[str],
        longest_idle: float,
    ) -> None:
        self._connect = connect
        self._authority = authority
        self._headers = dict(headers)
        self._repeatable = repeatable
        self._longest_idle = longest_idle
        self._connection: Http2Connection | None = None
        self._connecting = asyncio.Lock()
        self._fields: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[bytes, bytes]] = {}

    async def send(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        within: float,
        otherwise: Callable[[], Awaitable[Answer]],
    ) -> Answer:
        """The answer to a request. If the server does not speak HTTP/2, nothing was sent, and `otherwise` does it.

        Raises ConnectError where nothing was done, TransportError or TimeoutError where that is unknown.
        """
        before, after = self._known_fields(method, headers)
        block = before + path_field(path) + after
        clock = asyncio.get_running_loop().time
        deadline = clock() + within
        problem: Exception | None = None
        for _ in range(_ATTEMPTS):
            connection = self._connection
            now = clock()
            if connection is None or not connection.usable or connection.idle(now) > self._longest_idle:
                connection = await self._another(deadline - now)
                if connection is None:
                    return await otherwise()
            try:
                return await connection.exchange(block, body, deadline - clock())
            except UnprocessedError as error:
                problem = error
            except StaleError:
                if method not in self._repeatable:
                    raise TransportError("the server has closed the connection") from None
        raise ConnectError(f"the server does not begin with the request: {problem}")

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()

    async def _another(self, within: float) -> Http2Connection | None:
        async with self._connecting:
            now = asyncio.get_running_loop().time()
            old = self._connection
            if old is not None:
                if old.usable and old.idle(now) <= self._longest_idle:
                    return old  # somebody else has made it meanwhile
                if old.idle(now):  # else its last requests are still under way, and end it
                    old.close()
            made = await self._connect(within)
            if not made.agreed:
                made.close()
                return None
            self._connection = made
            return made

    def _known_fields(self, method: str, headers: Mapping[str, str]) -> tuple[bytes, bytes]:
        key = (method, tuple(headers.items()))
        known = self._fields.get(key)
        if known is None:
            if len(self._fields) >= _REMEMBERED:  # credentials have changed often
                self._fields.clear()
            known = self._fields[key] = request_fields(method, self._authority, {**self._headers, **headers})
        return known
