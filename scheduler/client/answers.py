"""HTTP/1.1 answers out of the bytes of a connection, however these are cut into pieces (RFC 9112).

Only what an API server or a scheduler sends is understood: no upgrades, no answers to HEAD. A body that came compressed
stays so until somebody wants to read it (`unpacked`), as others only pass it on.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["GZIP", "Answer", "AnswerReader", "GarbledAnswerError", "unpacked"]

GZIP: Final = "gzip"

_LONGEST_HEAD: Final = 2**16
_END_OF_HEAD: Final = b"\r\n\r\n"
_FINAL: Final = 200
_WITHOUT_BODY: Final = frozenset({204, 304})
_LARGEST: Final = 2**28
"""Bytes that a body may be unpacked to."""


class GarbledAnswerError(Exception):
    """What came is no answer in HTTP/1.1."""


class Answer(msgspec.Struct, frozen=True, gc=False):
    """A whole answer. `retry_after`, `etag` and `encoding` are those headers as they came, "" without them.

    `encoding` (Content-Encoding) says how the body is packed.
    """

    status: int
    body: bytes
    retry_after: str = ""
    etag: str = ""
    encoding: str = ""


def unpacked(answer: Answer) -> bytes:
    """The body to be read. Raises GarbledAnswerError where it can't be unpacked, or is too large then."""
    if not answer.encoding:
        return answer.body
    if answer.encoding != GZIP:
        raise GarbledAnswerError(f"the content coding {answer.encoding[:40]!r} is not understood")
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        body = unpacker.decompress(answer.body, _LARGEST)
    except zlib.error as problem:
        raise GarbledAnswerError(f"the answer can't be unpacked: {problem}") from problem
    if not unpacker.eof:
        what = f"exceeds {_LARGEST} bytes" if unpacker.unconsumed_tail else "has no end"
        raise GarbledAnswerError(f"the answer, unpacked, {what}")
    return body


class AnswerReader:
    """Reads one answer after the other; after each, `reusable` says whether the connection may be used on.

    `status` is that of an answer that has begun, 0 before.
    """

    __slots__ = (
        "_between",
        "_encoding",
        "_etag",
        "_left",
        "_pieces",
        "_read",
        "_rest",
        "_retry_after",
        "_trailers",
        "reusable",
        "status",
    )

    def __init__(self) -> None:
        self.reusable = True
        self._begin()

    def _begin(self) -> None:
        self._read: Callable[[bytes], bool] = self._head
        self._rest = b""
        """Bytes that wait for the end of their line or head."""
        self._pieces: list[bytes] = []
        self._left = 0
        self._between = False
        self._trailers = False
        self.status = 0
        self._retry_after = self._etag = self._encoding = ""

    def feed(self, data: bytes) -> Answer | None:
        """Take in what has arrived; the answer, once it is whole. Raises GarbledAnswerError."""
        return self._finish() if self._read(data) else None

    def end(self) -> Answer | None:
        """The connection has ended; the answer, if that was how its end was to be told."""
        self.reusable = False
        return self._finish() if self._read == self._until_the_end else None

    def take(self) -> bytes:
        """What has come of the body and was not taken before; it won't be part of the answer."""
        body = b"".join(self._pieces)
        self._pieces.clear()
        return body

    def _finish(self) -> Answer:
        pieces = self._pieces
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        answer = Answer(self.status, body, self._retry_after, self._etag, self._encoding)
        if self._rest:
            self.reusable = False  # more than was asked for
        self._begin()
        return answer

    def _head(self, data: bytes) -> bool:
        if self._rest:
            data = self._rest + data
        end = data.find(_END_OF_HEAD)
        if end < 0 or end > _LONGEST_HEAD:
            if len(data) > _LONGEST_HEAD:
                raise GarbledAnswerError(f"the head of the answer exceeds {_LONGEST_HEAD} bytes")
            self._rest = data
            return False
        self._rest = b""
        status, *lines = data[:end].split(b"\r\n")
        self.status = _status(status)
        rest = data[end + len(_END_OF_HEAD) :]
        if self.status < _FINAL:  # an interim one: the answer that counts follows
            self.status = 0
            return self._head(rest) if rest else False
        self._choose_body(_fields(lines), old=status.startswith(b"HTTP/1.0"))
        return self._read(rest)

    def _choose_body(self, fields: dict[bytes, bytes], *, old: bool) -> None:
        """How the body's end is told (RFC 9112, 6.3), and whether the connection outlives the answer."""
        self._retry_after = fields.get(b"retry-after", b"").decode("latin-1")
        self._etag = fields.get(b"etag", b"").decode("latin-1")
        self._encoding = fields.get(b"content-encoding", b"").decode("latin-1").lower()
        options = fields.get(b"connection", b"").lower()
        self.reusable = b"close" not in options and not (old and b"keep-alive" not in options)
        coding, length = fields.get(b"transfer-encoding", b"").lower(), fields.get(b"content-length")
        if self.status in _WITHOUT_BODY:
            self._read = self._by_length
        elif coding:
            if coding != b"chunked":
                raise GarbledAnswerError(f"the transfer coding {coding[:40]!r} is not understood")
            self._read = self._by_chunks
        elif length is not None:
            if not length.isdigit():
                raise GarbledAnswerError(f"the content length {length[:40]!r} is no number")
            self._left = int(length)
            self._read = self._by_length
        else:
            self.reusable = False
            self._read = self._until_the_end

    def _by_length(self, data: bytes) -> bool:
        if len(data) > self._left:
            self._rest = data[self._left :]
            data = data[: self._left]
        self._left -= len(data)
        if data:
            self._pieces.append(data)
        return not self._left

    def _until_the_end(self, data: bytes) -> bool:
        self._pieces.append(data)
        return False

    def _by_chunks(self, data: bytes) -> bool:
        if self._rest:
            data, self._rest = self._rest + data, b""
        at, end = 0, len(data)
        while at < end:
            if self._left:
                piece = data[at : at + self._left]
                self._pieces.append(piece)
                at += len(piece)
                self._left -= len(piece)
                continue
            line_end = data.find(b"\r\n", at)
            if line_end < 0:
                if end - at > _LONGEST_HEAD:
                    raise GarbledAnswerError("a line between chunks has no end")
                self._rest = data[at:]
                return False
            line = data[at:line_end]
            at = line_end + 2
            if self._between_chunks(line):
                self._rest = data[at:]
                return True
        return False

    def _between_chunks(self, line: bytes) -> bool:
        """A line that is no data; whether it is the last one of the answer."""
        if self._trailers:
            return not line
        if self._between:
            if line:
                raise GarbledAnswerError("a chunk is longer than it said")
            self._between = False
            return False
        digits = line.partition(b";")[0].strip()
        if not digits.isalnum():
            raise GarbledAnswerError(f"the chunk size {digits[:40]!r} is no number")
        try:
            self._left = int(digits, 16)
        except ValueError as error:
            raise GarbledAnswerError(f"the chunk size {digits[:40]!r} is no number") from error
        self._trailers = not self._left
        self._between = bool(self._left)
        return False


def _status(line: bytes) -> int:
    version, _, rest = line.partition(b" ")
    digits = rest[:3]
    if not version.startswith(b"HTTP/1.") or not digits.isdigit() or len(digits) < 3:
        raise GarbledAnswerError(f"this begins no answer: {line[:80]!r}")
    return int(digits)


def _fields(lines: list[bytes]) -> dict[bytes, bytes]:
    fields = {}
    for line in lines:
        name, _, value = line.partition(b":")
        fields[name.lower()] = value.strip()
    return fields
