"""Lines out of a stream of chunks, however long a line is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.client.errors import StreamError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["LineStream"]

#: etcd refuses objects over some megabytes; a line beyond this is no object.
_MAX_LINE = 64 * 2**20


class LineStream:
    """Reads a response body by whole lines, as many at a time as have arrived.

    ``next_chunk`` awaits what has arrived, and answers no bytes at the end of the stream. (aiohttp's own
    ``readline`` refuses lines beyond twice its buffer; an object in a watch may well be longer.)
    """

    def __init__(self, next_chunk: Callable[[], Awaitable[bytes]], *, max_line: int = _MAX_LINE) -> None:
        self._next_chunk = next_chunk
        self._max_line = max_line
        self._pieces: list[bytes] = []
        self._held = 0

    async def read(self) -> list[bytes] | None:
        """The next lines, without their ends; None at the end of the stream, where half a line is dropped.

        Raises StreamError for a line that is too long to be an object.
        """
        while True:
            chunk = await self._next_chunk()
            if not chunk:
                return None
            head, *rest = chunk.split(b"\n")
            self._pieces.append(head)
            self._held += len(head)
            if self._held > self._max_line:
                raise StreamError(f"a line of the watch exceeds {self._max_line} bytes")
            if not rest:
                continue
            lines = [b"".join(self._pieces), *rest[:-1]]
            self._pieces = [rest[-1]]
            self._held = len(rest[-1])
            full = [line for line in lines if line and not line.isspace()]
            if full:
                return full
