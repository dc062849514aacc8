"""The frames of HTTP/2 (RFC 9113, 4 and 6)."""

from __future__ import annotations

import struct
from typing import ClassVar, Final

DATA: Final = 0
HEADERS: Final = 1
RST_STREAM: Final = 3
SETTINGS: Final = 4
PING: Final = 6
GOAWAY: Final = 7
WINDOW_UPDATE: Final = 8
CONTINUATION: Final = 9

END_STREAM: Final = 0x1
ACK: Final = 0x1
END_HEADERS: Final = 0x4
_PADDED: Final = 0x8
_PRIORITY: Final = 0x20

REFUSED_STREAM: Final = 7
CANCEL: Final = 8

HEADER_SIZE: Final = 9
LARGEST_FRAME: Final = 2**14
"""Bytes that a frame may carry unless more was agreed on; we agree on no more."""

_HEADER_TABLE_SIZE, _ENABLE_PUSH, _INITIAL_WINDOW_SIZE = 1, 2, 4


class FrameError(Exception):
    """What came breaks the rules of HTTP/2."""


class Window:
    """How many bytes the server takes: `left` on the whole connection, `initial` on each new stream.

    STREAM and CONNECTION are how many bytes we take: answers are read at once, so that this holds nobody up.
    """

    STREAM: ClassVar[int] = 2**24
    CONNECTION: ClassVar[int] = 2**30
    DEFAULT: ClassVar[int] = 2**16 - 1

    __slots__ = ("initial", "left")

    def __init__(self) -> None:
        self.initial = self.DEFAULT
        self.left = self.DEFAULT


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """A whole frame."""
    return b"".join((len(payload).to_bytes(3, "big"), bytes((kind, flags)), stream.to_bytes(4, "big"), payload))


def window_update(stream: int, more: int) -> bytes:
    """A frame that lets the server send so many bytes more; stream 0 is the connection."""
    return frame(WINDOW_UPDATE, 0, stream, more.to_bytes(4, "big"))


def settings_in(payload: bytes) -> dict[int, int]:
    """The settings in a frame's payload. Raises FrameError."""
    if len(payload) % 6:
        raise FrameError(f"settings of {len(payload)} bytes")
    return dict(struct.iter_unpack(">HI", payload))


def unpadded(kind: int, flags: int, payload: bytes) -> bytes:
    """What a frame of HEADERS or DATA carries, without padding and priority. Raises FrameError."""
    if flags & _PADDED:
        if not payload or payload[0] >= len(payload):
            raise FrameError("a frame is nothing but padding")
        payload = payload[1 : len(payload) - payload[0]]
    if kind == HEADERS and flags & _PRIORITY:
        payload = payload[5:]
    return payload


PREFACE: Final = b"".join(
    (
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        frame(
            SETTINGS,
            0,
            0,
            struct.pack(">HIHIHI", _HEADER_TABLE_SIZE, 0, _ENABLE_PUSH, 0, _INITIAL_WINDOW_SIZE, Window.STREAM),
        ),
        window_update(0, Window.CONNECTION - Window.DEFAULT),
    )
)
"""What a client sends first: it keeps no table of headers, wants no pushes, and has room for any answer."""
