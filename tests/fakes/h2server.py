"""The server's side of HTTP/2, as tests of a client need it: frames to feed and to look at, and a small server."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import struct
from typing import TYPE_CHECKING, NamedTuple, Self

from scheduler.client import frames
from scheduler.client.frames import frame

if TYPE_CHECKING:
    import trustme

OK = b"\x88"
"""A header block with the status 200."""


class Frame(NamedTuple):
    """One frame."""

    kind: int
    flags: int
    stream: int
    payload: bytes


def split(data: bytes) -> list[Frame]:
    """Whole frames."""
    found = []
    while data:
        size = int.from_bytes(data[:3], "big")
        found.append(Frame(data[3], data[4], int.from_bytes(data[5:9], "big"), data[9 : 9 + size]))
        data = data[9 + size :]
    return found


def settings(**values: int) -> bytes:
    """A frame of settings: streams, window, frame_size."""
    numbers = {"streams": 3, "window": 4, "frame_size": 5}
    payload = b"".join(struct.pack(">HI", numbers[name], value) for name, value in values.items())
    return frame(frames.SETTINGS, 0, 0, payload)


def answer(stream: int, body: bytes = b"ok", block: bytes = OK) -> bytes:
    """A whole answer."""
    if not body:
        return frame(frames.HEADERS, frames.END_HEADERS | frames.END_STREAM, stream, block)
    head = frame(frames.HEADERS, frames.END_HEADERS, stream, block)
    return head + frame(frames.DATA, frames.END_STREAM, stream, body)


class Http2Server:
    """Answers each request with its body, or with its header block; `requests` is how many there were."""

    def __init__(self, certificate: trustme.LeafCert) -> None:
        self._tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        certificate.configure_cert(self._tls)
        self._tls.set_alpn_protocols(["h2"])
        self.connections = 0
        self.requests = 0
        self._writers: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.url = f"https://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self._writers:
            writer.close()
        for writer in self._writers:
            with contextlib.suppress(OSError, ssl.SSLError):
                await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            await reader.readexactly(24)
            writer.write(settings(streams=100))
            bodies: dict[int, bytes] = {}
            while True:
                head = await reader.readexactly(9)
                payload = await reader.readexactly(int.from_bytes(head[:3], "big"))
                kind, flags, stream = head[3], head[4], int.from_bytes(head[5:9], "big")
                if kind == frames.DATA and payload:
                    bodies[stream] = bodies.get(stream, b"") + payload
                    writer.write(frames.window_update(0, len(payload)))
                if kind in (frames.HEADERS, frames.DATA) and flags & frames.END_STREAM:
                    self.requests += 1
                    writer.write(answer(stream, bodies.pop(stream, payload)))
