"""A connection in HTTP/2 (RFC 9113) for many requests at a time.

What is sent within one turn of the event loop leaves in one piece, and one read takes in many answers: under load this
halves what a request costs, and there is one handshake instead of dozens. Watches have connections of their own.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final, cast

from scheduler.client.answers import Answer
from scheduler.client.errors import TransportError
from scheduler.client.frames import (
    ACK,
    CANCEL,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADER_SIZE,
    HEADERS,
    LARGEST_FRAME,
    PING,
    PREFACE,
    REFUSED_STREAM,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    FrameError,
    Window,
    frame,
    settings_in,
    unpadded,
    window_update,
)
from scheduler.client.hpack import HeaderError, read_head
from scheduler.client.streams import StaleError, Stream, UnprocessedError

__all__ = ["Http2Connection"]

_BUFFER: Final = 2**16
_MOST_STREAMS: Final = 100
"""Requests at a time before the server has said how many it takes."""
_LAST_ID: Final = 2**30
_LONGEST_HEAD: Final = 2**16
_FINAL: Final = 200


class Http2Connection(asyncio.BufferedProtocol):
    """A connection for requests; `agreed` says whether the server speaks HTTP/2 at all.

    `exchange` may be called as soon as the connection is made, and as long as it is `usable`.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._buffer = memoryview(bytearray(_BUFFER))
        self._rest = b""
        self._streams: dict[int, Stream] = {}
        self._next = 1
        self._flushed = 0
        self._out: list[bytes] = []
        self._most = _MOST_STREAMS
        self._frame_size = LARGEST_FRAME
        self._window = Window()
        self._blocked: deque[Stream] = deque()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._head: tuple[int, bool, bytes] | None = None
        self._received = 0
        self._timer: asyncio.TimerHandle | None = None
        self._leaving = False
        self._used = False
        self._heard_at = self._loop.time()
        self.agreed = False

    @property
    def usable(self) -> bool:
        """Whether another request may be sent."""
        return self._transport is not None and not self._leaving and not self._transport.is_closing()

    def idle(self, now: float) -> float:
        """Seconds since anything was heard, 0 while requests are under way."""
        return 0.0 if self._streams else now - self._heard_at

    async def exchange(self, before: bytes, body: bytes | None, within: float) -> Answer:
        """Send a request, given as a header block and a body, and await its answer.

        Raises UnprocessedError, StaleError, TransportError, TimeoutError.
        """
        deadline = self._loop.time() + within
        if len(self._streams) >= self._most:
            await self._turn(within)
        if not self.usable:
            raise UnprocessedError("the connection is being closed")
        stream = self._begin(before, body, deadline)
        try:
            return await stream.answer
        finally:
            if self._streams.pop(stream.number, None) is not None:  # the caller has given up
                self._reset(stream.number)
                self._made_room()

    def close(self) -> None:
        """End the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    # sending

    async def _turn(self, within: float) -> None:
        """Wait until there is room for one more stream."""
        async with asyncio.timeout(within):
            while len(self._streams) >= self._most and self.usable:
                turn = self._loop.create_future()
                self._waiting.append(turn)
                await turn

    def _made_room(self) -> None:
        room = self._most - len(self._streams)
        while self._waiting and room > 0:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                room -= 1

    def _begin(self, block: bytes, body: bytes | None, deadline: float) -> Stream:
        number = self._next
        self._next += 2
        self._leaving = number >= _LAST_ID
        now = self._loop.time()
        stream = Stream(number, self._loop.create_future(), now, deadline, self._window.initial)
        self._streams[number] = stream
        if self._timer is None or deadline < self._timer.when():
            self._set_timer(deadline)
        end = 0 if body else END_STREAM
        size = self._frame_size
        if len(block) <= size:
            self._send(frame(HEADERS, END_HEADERS | end, number, block))
        else:
            parts = [block[at : at + size] for at in range(0, len(block), size)]
            kinds = [(HEADERS, end), *[(CONTINUATION, 0)] * (len(parts) - 2), (CONTINUATION, END_HEADERS)]
            for (kind, flags), part in zip(kinds, parts, strict=True):
                self._send(frame(kind, flags, number, part))
        if body:
            stream.unsent = body
            self._pump(stream)
        return stream

    def _pump(self, stream: Stream) -> None:
        """Send as much of a body as the server has room for."""
        while stream.unsent:
            size = min(len(stream.unsent), self._frame_size, self._window.left, stream.window)
            if size <= 0:
                if self._window.left <= 0:
                    self._blocked.append(stream)
                return
            part, stream.unsent = stream.unsent[:size], stream.unsent[size:]
            self._window.left -= size
            stream.window -= size
            self._send(frame(DATA, 0 if stream.unsent else END_STREAM, stream.number, part))

    def _reset(self, number: int) -> None:
        self._send(frame(RST_STREAM, 0, number, CANCEL.to_bytes(4, "big")))

    def _send(self, data: bytes) -> None:
        if not self._out:
            self._loop.call_soon(self._flush)
        self._out.append(data)

    def _flush(self) -> None:
        out, self._out = self._out, []
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(b"".join(out))
            self._flushed = self._next

    # the connection's life

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are of classes of their own
        tls = transport.get_extra_info("ssl_object")
        self.agreed = tls is not None and tls.selected_alpn_protocol() == "h2"
        if self.agreed:
            self._transport.write(PREFACE)

    def connection_lost(self, problem: Exception | None) -> None:
        self._transport = None
        told = f"the connection was lost: {problem or 'the server has closed it'}"
        for stream in list(self._streams.values()):
            if stream.number >= self._flushed:
                self._fail(stream, UnprocessedError(told))
            elif self._used and self._heard_at <= stream.began_at:
                self._fail(stream, StaleError())
            else:
                self._fail(stream, TransportError(told))
        self._leave()
        if self._timer is not None:
            self._timer.cancel()

    def _leave(self) -> None:
        """Begin no more streams, and end with the last one."""
        self._leaving = True
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
        if not self._streams:
            self.close()

    def _break(self, problem: Exception) -> None:
        """What the server sends makes no sense, or nothing comes: nothing can be known of any request."""
        for stream in list(self._streams.values()):
            self._fail(stream, TransportError(str(problem)))
        self._leave()

    def _fail(self, stream: Stream, problem: Exception) -> None:
        self._streams.pop(stream.number, None)
        stream.fail(problem)

    def _set_timer(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(when, self._expire)

    def _expire(self) -> None:
        """Give up requests whose time is up; where nothing was heard since, the connection as well."""
        self._timer = None
        now = self._loop.time()
        late = [stream for stream in self._streams.values() if stream.deadline <= now]
        silent = any(self._heard_at <= stream.began_at for stream in late)
        for stream in late:
            self._fail(stream, TimeoutError())
            self._reset(stream.number)
        if silent:
            self._break(TransportError("the server has fallen silent"))
        elif late:
            self._made_room()
        if self._streams:
            self._set_timer(min(stream.deadline for stream in self._streams.values()))

    # receiving

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 (all of them are alike)
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._heard_at = self._loop.time()
        data = self._rest + bytes(self._buffer[:nbytes]) if self._rest else bytes(self._buffer[:nbytes])
        at, end = 0, len(data)
        try:
            while end - at >= HEADER_SIZE:
                head = int.from_bytes(data[at : at + HEADER_SIZE], "big")
                size = head >> 48
                if size > LARGEST_FRAME:
                    raise FrameError(f"a frame of {size} bytes")
                stop = at + HEADER_SIZE + size
                if stop > end:
                    break
                self._take(head >> 40 & 0xFF, head >> 32 & 0xFF, head & 0x7FFFFFFF, data[at + HEADER_SIZE : stop])
                at = stop
        except (FrameError, HeaderError) as problem:
            self._break(problem)
            self.close()
            return
        self._rest = data[at:]

    def _take(self, kind: int, flags: int, number: int, payload: bytes) -> None:
        if self._head is not None and (kind != CONTINUATION or number != self._head[0]):
            raise FrameError("a header block was interrupted")
        if kind == DATA:
            self._take_data(flags, number, payload)
        elif kind == HEADERS:
            self._take_headers(
                number, unpadded(kind, flags, payload), flags & END_STREAM != 0, flags & END_HEADERS != 0
            )
        elif kind == WINDOW_UPDATE:
            self._take_window(number, int.from_bytes(payload[:4], "big") & 0x7FFFFFFF)
        elif kind == CONTINUATION:
            if self._head is None:
                raise FrameError("a header block goes on that has not begun")
            _, ends, block = self._head
            self._take_headers(number, block + payload, ends, flags & END_HEADERS != 0)
        elif kind == RST_STREAM:
            self._take_reset(number, int.from_bytes(payload[:4], "big"))
        else:
            self._take_control(kind, flags, payload)

    def _take_headers(self, number: int, block: bytes, ends: bool, whole: bool) -> None:
        if not whole:
            if len(block) > _LONGEST_HEAD:
                raise FrameError(f"a header block exceeds {_LONGEST_HEAD} bytes")
            self._head = (number, ends, block)
            return
        self._head = None
        stream = self._streams.get(number)
        if stream is None:
            return
        if not stream.status:  # else these are trailers
            status, after = read_head(block)
            if status >= _FINAL:  # an interim one is followed by another
                stream.status, stream.retry_after = status, after
        if ends:
            self._finish(stream)

    def _take_data(self, flags: int, number: int, payload: bytes) -> None:
        self._received += len(payload)
        if self._received >= Window.CONNECTION // 2:
            self._send(window_update(0, self._received))
            self._received = 0
        stream = self._streams.get(number)
        if stream is None:
            return
        if payload:
            stream.received += len(payload)
            stream.pieces.append(unpadded(DATA, flags, payload))
        if flags & END_STREAM:
            self._finish(stream)
        elif stream.received >= Window.STREAM // 2:
            self._send(window_update(number, stream.received))
            stream.received = 0

    def _finish(self, stream: Stream) -> None:
        if not stream.status:
            raise FrameError("an answer without a status")
        del self._streams[stream.number]
        self._used = True
        if stream.unsent:  # the server did not want all of it
            stream.unsent = b""
            self._reset(stream.number)
        if not stream.answer.done():
            pieces = stream.pieces
            body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
            stream.answer.set_result(Answer(stream.status, body, stream.retry_after))
        if self._waiting:
            self._made_room()
        if self._leaving and not self._streams:
            self.close()

    def _take_window(self, number: int, more: int) -> None:
        if number:
            stream = self._streams.get(number)
            if stream is not None:
                stream.window += more
                self._pump(stream)
            return
        self._window.left += more
        blocked, self._blocked = self._blocked, deque()
        for stream in blocked:
            if stream.number in self._streams:
                self._pump(stream)

    def _take_reset(self, number: int, code: int) -> None:
        stream = self._streams.get(number)
        if stream is None:
            return
        if code == REFUSED_STREAM:
            self._fail(stream, UnprocessedError("the server has refused the stream"))
        else:
            self._fail(stream, TransportError(f"the server has reset the stream, code {code}"))
        self._made_room()
        if self._leaving and not self._streams:
            self.close()

    def _take_control(self, kind: int, flags: int, payload: bytes) -> None:
        if kind == SETTINGS and not flags & ACK:
            self._take_settings(settings_in(payload))
            self._send(frame(SETTINGS, ACK, 0, b""))
        elif kind == PING and not flags & ACK:
            self._send(frame(PING, ACK, 0, payload))
        elif kind == GOAWAY:
            last = int.from_bytes(payload[:4], "big") & 0x7FFFFFFF
            for stream in [stream for number, stream in self._streams.items() if number > last]:
                self._fail(stream, UnprocessedError("the server has closed the connection"))
            self._leave()

    def _take_settings(self, settings: dict[int, int]) -> None:
        self._most = settings.get(3, self._most)
        self._frame_size = settings.get(5, self._frame_size)
        initial = settings.get(4)
        if initial is not None:
            difference = initial - self._window.initial
            self._window.initial = initial
            for stream in self._streams.values():
                stream.window += difference
                self._pump(stream)
        self._made_room()
