"""An answer that comes bit by bit and may last for minutes: the body of a watch."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, cast

from scheduler.client.answers import AnswerReader, GarbledAnswerError
from scheduler.client.errors import ConnectError, TransportError

if TYPE_CHECKING:
    from scheduler.client.answers import Answer

__all__ = ["WatchConnection"]

_BUFFER: Final = 2**16
_MOST_HELD: Final = 2**22
"""Bytes that may wait to be read before the server is made to wait."""
_REFUSED: Final = 400


class WatchConnection(asyncio.BufferedProtocol):
    """A connection for one request, whose answer is read while it comes; `status` is 0 before it has begun.

    `total` seconds after the request, or after `idle` seconds of silence, whoever reads gets a TimeoutError.
    """

    def __init__(self) -> None:
        self._reader = AnswerReader()
        self._buffer = memoryview(bytearray(_BUFFER))
        self._transport: asyncio.Transport | None = None
        self._pieces: list[bytes] = []
        self._held = 0
        self._paused = False
        self._refusal: Answer | None = None
        self.status = 0
        self._ended = False
        self._problem: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._timers: list[asyncio.TimerHandle] = []
        self._heard_at = 0.0

    async def open(self, request: bytes, *, total: float, idle: float) -> Answer | None:
        """Send the request. None once the answer has begun well, else the whole refusal.

        Raises ConnectError, TransportError, TimeoutError.
        """
        if self._transport is None:
            raise ConnectError("the connection was lost as soon as it was made")
        loop = asyncio.get_running_loop()
        self._heard_at = loop.time()
        self._timers = [loop.call_later(total, self._fail, TimeoutError()), loop.call_later(idle, self._check, idle)]
        self._transport.write(request)
        while not self.status:
            await self._news()
        return self._refusal

    async def read(self) -> bytes:
        """What has come since the last time, as soon as something has; nothing at the end. Raises as `open`."""
        while not self._pieces and not self._ended:
            await self._news()
        data = b"".join(self._pieces)
        self._pieces.clear()
        self._held = 0
        if self._paused and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return data

    def close(self) -> None:
        """End the connection at once."""
        for timer in self._timers:
            timer.cancel()
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are of classes of their own

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 (it is as large as it is)
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._heard_at = asyncio.get_running_loop().time()
        if self._ended:
            self.close()
            return
        try:
            self._heard(self._reader.feed(bytes(self._buffer[:nbytes])))
        except GarbledAnswerError as problem:
            self._fail(TransportError(str(problem)))

    def connection_lost(self, problem: Exception | None) -> None:
        self._transport = None
        if self._ended or self._problem is not None:
            return
        answer = self._reader.end() if problem is None else None
        if answer is not None:
            self._heard(answer)
        else:
            self._fail(TransportError(f"the connection was lost: {problem or 'the server has closed it'}"))

    def _heard(self, whole: Answer | None) -> None:
        if whole is not None:
            self.status = whole.status
            self._ended = True
            if whole.status >= _REFUSED:
                self._refusal = whole
            elif whole.body:
                self._pieces.append(whole.body)
        elif 0 < self._reader.status < _REFUSED:
            self.status = self._reader.status
            piece = self._reader.take()
            if piece:
                self._pieces.append(piece)
                self._held += len(piece)
        self._wake()
        if self._held > _MOST_HELD and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()

    async def _news(self) -> None:
        if self._problem is not None:
            raise self._problem
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, problem: Exception) -> None:
        if self._problem is None:
            self._problem = problem
        self._wake()

    def _check(self, idle: float) -> None:
        """Look whether anything came lately; while the reader is what we wait for, silence is no wonder."""
        loop = asyncio.get_running_loop()
        silent = 0.0 if self._paused else loop.time() - self._heard_at
        if silent >= idle:
            self._fail(TimeoutError())
            return
        self._timers[1] = loop.call_later(idle - silent, self._check, idle)
