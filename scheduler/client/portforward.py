"""A port of a pod, reached through the API server with nothing but the right to forward ports.

A WebSocket to pods/portforward with the subprotocol v4.channel.k8s.io, which every API server passes on to the
kubelet and the container runtime (k8s.io/cri-streaming/pkg/streaming/portforward/websocket.go): binary messages whose
first byte is the channel, 0 for data and 1 for what went wrong. On both, the first message repeats the port.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import aiohttp
from yarl import URL

from scheduler.client.errors import ApiError, TransportError
from scheduler.client.http import Session
from scheduler.version import __version__

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scheduler.client.auth import Connection

__all__ = ["Forward", "ForwardError", "forward"]

_PROTOCOL: Final = "v4.channel.k8s.io"
_DATA, _ERROR = 0, 1
_PORT_SIZE: Final = 2
_PIECE: Final = 2**15
_MOST_AT_ONCE: Final = 2**24
_UNAUTHORIZED: Final = 401
_BAD_REQUEST: Final = 400


class ForwardError(Exception):
    """The port can't be reached, or no more; says why in the words of whoever refused."""


class Forward:
    """A connection to the port."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse[bool]) -> None:
        self._socket = socket
        self._unread = {_DATA: _PORT_SIZE, _ERROR: _PORT_SIZE}

    async def send(self, data: bytes) -> None:
        """Send bytes. Raises ForwardError."""
        try:
            for start in range(0, len(data), _PIECE):
                await self._socket.send_bytes(bytes((_DATA,)) + data[start : start + _PIECE])
        except (aiohttp.ClientError, OSError) as problem:
            raise ForwardError(f"the forward has ended: {problem}") from problem

    async def receive(self) -> bytes:
        """The next bytes; b"" once there are no more. Raises ForwardError with what the far side says went wrong."""
        while True:
            message = await self._socket.receive()
            if message.type is aiohttp.WSMsgType.BINARY:
                if data := self._taken(message.data):
                    return data
            elif message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSING, aiohttp.WSMsgType.CLOSED):
                return b""
            else:
                raise ForwardError(f"the forward has broken: {message.data or message.type.name}")

    def _taken(self, message: bytes) -> bytes:
        """The bytes of a message on the data channel."""
        channel = message[0] if message else _DATA
        if channel not in self._unread:
            raise ForwardError(f"the forward has broken: there is no channel {channel}")
        port = self._unread[channel]
        content = message[1 + port :]
        self._unread[channel] = max(0, port - (len(message) - 1))
        if channel == _ERROR and content:
            raise ForwardError(content.decode(errors="replace").strip())
        return content


@asynccontextmanager
async def forward(
    connection: Connection, namespace: str, pod: str, port: int, *, within: float = 15.0
) -> AsyncIterator[Forward]:
    """A connection to a port of a pod, which must be made `within` seconds.

    Raises ApiError where the API server refuses, TransportError where it can't be reached, ForwardError for all else.
    """
    path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(pod, safe='')}/portforward?ports={port}"
    connector = aiohttp.TCPConnector(ssl=connection.ssl or True)
    async with aiohttp.ClientSession(connector=connector, trust_env=False, cookie_jar=aiohttp.DummyCookieJar()) as http:
        try:
            async with asyncio.timeout(within):
                socket = await _opened(http, connection, path)
        except aiohttp.WSServerHandshakeError as problem:
            raise await _refusal(connection, path, problem) from problem
        except (aiohttp.ClientError, OSError, TimeoutError) as problem:
            told = str(problem) or type(problem).__name__
            raise TransportError(f"no connection to {connection.base_url}: {told}") from problem
        try:
            if socket.protocol != _PROTOCOL:
                raise ForwardError(f"the API server does not speak {_PROTOCOL}")
            yield Forward(socket)
        finally:
            await socket.close()


async def _opened(
    http: aiohttp.ClientSession, connection: Connection, path: str
) -> aiohttp.ClientWebSocketResponse[bool]:
    for renew in (False, True):
        try:
            return await http.ws_connect(
                URL(connection.base_url + path, encoded=True),
                protocols=(_PROTOCOL,),
                headers={"User-Agent": f"berth/{__version__}", **await connection.authorize(renew=renew)},
                proxy=connection.proxy,
                server_hostname=connection.server_hostname,
                max_msg_size=_MOST_AT_ONCE,
            )
        except aiohttp.WSServerHandshakeError as problem:
            if problem.status != _UNAUTHORIZED or renew:
                raise
    raise RuntimeError("unreachable")


async def _refusal(connection: Connection, path: str, problem: aiohttp.WSServerHandshakeError) -> Exception:
    """What the API server says about it to a request that asks for no upgrade: aiohttp drops a refusal's text."""
    async with Session(connection, qps=0) as session:
        try:
            await session.request("GET", path, within=10.0)
        except ApiError as told:
            if told.status != _BAD_REQUEST:
                return told
        except TransportError:
            pass
    return ForwardError(f"the API server answered with status {problem.status} ({problem.message})")
