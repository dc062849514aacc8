"""A connection in HTTP/2: what goes out, what comes in, and what is known of each request where no answer comes."""

from __future__ import annotations

import asyncio

import pytest

from scheduler.client import frames
from scheduler.client.errors import TransportError
from scheduler.client.frames import CANCEL, PREFACE, frame, window_update
from scheduler.client.http2 import Http2Connection
from scheduler.client.streams import StaleError, UnprocessedError
from tests.fakes.h2server import OK, answer, settings, split

BLOCK = b"\x82\x87\x01\x01h\x04\x01/"
WHOLE = frames.END_HEADERS | frames.END_STREAM
NO_MORE = (2**31 - 1).to_bytes(4, "big")


class Tls:
    def __init__(self, agreed):
        self._agreed = agreed

    def selected_alpn_protocol(self):
        return self._agreed


class Transport(asyncio.Transport):
    """Keeps what is written; closing it ends the connection at once."""

    def __init__(self, connection, agreed="h2"):
        super().__init__({"ssl_object": Tls(agreed)})
        self._connection = connection
        self.writes = []
        self.closed = False

    def write(self, data):
        self.writes.append(bytes(data))

    def is_closing(self):
        return self.closed

    def abort(self):
        if not self.closed:
            self.closed = True
            self._connection.connection_lost(None)


class Rig:
    """A connection with a server that says what the test says."""

    def __init__(self, agreed="h2"):
        self.connection = Http2Connection()
        self.transport = Transport(self.connection, agreed)
        self.connection.connection_made(self.transport)

    async def begin(self, *bodies, within=60.0):
        """Requests under way, and sent."""
        exchanges = [self.connection.exchange(BLOCK, body, within) for body in bodies or (None,)]
        tasks = [asyncio.ensure_future(exchange) for exchange in exchanges]
        await settle()
        return tasks if len(tasks) > 1 else tasks[0]

    def sent(self):
        """The frames after the preface."""
        return split(b"".join(self.transport.writes)[len(PREFACE) :])

    def hear(self, *data):
        for piece in data:
            for at in range(0, len(piece), 2**16):
                part = piece[at : at + 2**16]
                self.connection.get_buffer(-1)[: len(part)] = part
                self.connection.buffer_updated(len(part))


async def settle():
    for _ in range(4):
        await asyncio.sleep(0)


async def test_the_preface_goes_out_where_the_server_agreed():
    assert Rig().transport.writes == [PREFACE]
    other = Rig(agreed="http/1.1")
    assert (other.connection.agreed, other.transport.writes) == (False, [])


async def test_requests_of_one_turn_leave_in_one_piece():
    rig = Rig()
    await rig.begin(None, b"{}")
    assert len(rig.transport.writes) == 2
    assert rig.sent() == [
        (frames.HEADERS, WHOLE, 1, BLOCK),
        (frames.HEADERS, frames.END_HEADERS, 3, BLOCK),
        (frames.DATA, frames.END_STREAM, 3, b"{}"),
    ]


async def test_a_header_block_that_is_too_long_for_a_frame_goes_on_in_others():
    rig = Rig()
    block = BLOCK + b"\x10\x01x\x7f\x81\xff\x01" + b"y" * 40_000
    task = asyncio.ensure_future(rig.connection.exchange(block, b"{}", 60.0))
    await settle()
    kinds = [(one.kind, one.flags) for one in rig.sent()]
    assert kinds[:3] == [(frames.HEADERS, 0), (frames.CONTINUATION, 0), (frames.CONTINUATION, frames.END_HEADERS)]
    assert b"".join(one.payload for one in rig.sent()[:3]) == block
    rig.hear(answer(1))
    await task


async def test_answers_come_in_any_order_and_many_in_one_read():
    rig = Rig()
    first, second, third = await rig.begin(None, None, None)
    rig.hear(answer(5, b"c") + answer(1, b"a") + answer(3, b"", b"\x89"))
    answers = [await task for task in (first, second, third)]
    assert [(one.status, one.body) for one in answers] == [(200, b"a"), (204, b""), (200, b"c")]


async def test_an_answer_in_the_smallest_of_pieces():
    rig = Rig()
    task = await rig.begin()
    head = frame(frames.HEADERS, 0, 1, b"\x8d") + frame(frames.CONTINUATION, frames.END_HEADERS, 1, b"\x0f\x26\x017")
    body = frame(frames.DATA, 0x8, 1, b"\x01half\x00") + frame(frames.DATA, frames.END_STREAM, 1, b" and half")
    rig.hear(*(bytes((byte,)) for byte in settings() + head + body))
    whole = await task
    assert (whole.status, whole.body, whole.retry_after) == (404, b"half and half", "7")


async def test_an_interim_answer_and_trailers_are_passed_over():
    rig = Rig()
    task = await rig.begin()
    rig.hear(frame(frames.HEADERS, frames.END_HEADERS, 1, b"\x08\x03103"))
    rig.hear(frame(frames.HEADERS, frames.END_HEADERS, 1, OK) + frame(frames.DATA, 0, 1, b"ok"))
    rig.hear(frame(frames.HEADERS, WHOLE, 1, b"\x00\x01a\x01b"))
    assert ((await task).status, (await task).body) == (200, b"ok")


async def test_settings_and_pings_are_answered():
    rig = Rig()
    rig.hear(settings(streams=5), frame(frames.PING, 0, 0, b"12345678"), frame(frames.PING, frames.ACK, 0, b"87654321"))
    await settle()
    assert rig.sent() == [(frames.SETTINGS, frames.ACK, 0, b""), (frames.PING, frames.ACK, 0, b"12345678")]


async def test_frames_of_unknown_kinds_are_passed_over():
    rig = Rig()
    task = await rig.begin()
    rig.hear(frame(0x2A, 0xFF, 1, b"?") + answer(1))
    assert (await task).status == 200


class TestRoom:
    def bodies(self, rig):
        found = {}
        for one in rig.sent():
            if one.kind == frames.DATA:
                found.setdefault(one.stream, []).append((len(one.payload), one.flags))
        return found

    async def test_a_body_is_cut_into_frames(self):
        rig = Rig()
        await rig.begin(b"x" * 20_000)
        assert self.bodies(rig) == {1: [(16_384, 0), (3_616, frames.END_STREAM)]}

    async def test_a_body_waits_for_room_on_its_stream(self):
        rig = Rig()
        rig.hear(settings(window=10))
        await rig.begin(b"x" * 25)
        assert self.bodies(rig) == {1: [(10, 0)]}
        rig.hear(window_update(1, 5))
        await settle()
        rig.hear(settings(window=20))
        await settle()
        assert self.bodies(rig) == {1: [(10, 0), (5, 0), (10, frames.END_STREAM)]}

    async def test_bodies_wait_for_room_on_the_connection(self):
        rig = Rig()
        rig.hear(settings(window=2**20))
        await rig.begin(b"x" * 65_000, b"y" * 1_000, b"")
        sizes = {number: sum(size for size, _ in parts) for number, parts in self.bodies(rig).items()}
        assert sizes == {1: 65_000, 3: 535}
        rig.hear(window_update(0, 10_000))
        await settle()
        assert self.bodies(rig)[3] == [(535, 0), (465, frames.END_STREAM)]

    async def test_an_answer_before_the_whole_body_is_an_answer(self):
        rig = Rig()
        rig.hear(settings(window=10))
        task = await rig.begin(b"x" * 25)
        rig.hear(answer(1, b"", b"\x0e\x03413"))
        assert (await task).status == 413
        await settle()
        assert rig.sent()[-1] == (frames.RST_STREAM, 0, 1, CANCEL.to_bytes(4, "big"))

    async def test_the_server_is_given_room_for_long_answers(self, monkeypatch):
        monkeypatch.setattr(frames.Window, "STREAM", 2_000)
        monkeypatch.setattr(frames.Window, "CONNECTION", 8_000)
        rig = Rig()
        task = await rig.begin()
        rig.hear(frame(frames.HEADERS, frames.END_HEADERS, 1, OK))
        for _ in range(5):
            rig.hear(frame(frames.DATA, 0, 1, b"x" * 900))
        rig.hear(frame(frames.DATA, frames.END_STREAM, 1, b""))
        assert len((await task).body) == 4_500
        await settle()
        updates = [(one.stream, int.from_bytes(one.payload, "big")) for one in rig.sent()[1:]]
        assert updates == [(1, 1_800), (1, 1_800), (0, 4_500)]

    async def test_no_more_requests_are_under_way_than_the_server_takes(self):
        rig = Rig()
        rig.hear(settings(streams=2))
        tasks = await rig.begin(None, None, None, None)
        assert [one.stream for one in rig.sent() if one.kind == frames.HEADERS] == [1, 3]
        rig.hear(answer(3))
        await settle()
        assert [one.stream for one in rig.sent() if one.kind == frames.HEADERS] == [1, 3, 5]
        tasks[0].cancel()
        await settle()
        assert [one.stream for one in rig.sent() if one.kind == frames.HEADERS] == [1, 3, 5, 7]
        rig.hear(answer(5) + answer(7))
        assert [(await task).status for task in tasks[1:]] == [200, 200, 200]

    async def test_a_request_whose_turn_does_not_come_in_time_was_not_sent(self):
        rig = Rig()
        rig.hear(settings(streams=0))
        with pytest.raises(TimeoutError):
            await rig.connection.exchange(BLOCK, None, 0.01)
        assert [one for one in rig.sent() if one.kind == frames.HEADERS] == []


class TestWithoutAnAnswer:
    async def test_requests_that_the_server_did_not_begin_with_are_told_apart_when_it_leaves(self):
        rig = Rig()
        first, second = await rig.begin(None, None)
        rig.hear(frame(frames.GOAWAY, 0, 0, (1).to_bytes(4, "big") + bytes(4)))
        with pytest.raises(UnprocessedError):
            await second
        assert not rig.connection.usable
        with pytest.raises(UnprocessedError):
            await rig.connection.exchange(BLOCK, None, 60.0)
        rig.hear(answer(1))
        assert (await first).status == 200
        assert rig.transport.closed

    async def test_a_server_that_leaves_in_two_steps_finishes_what_it_has(self):
        rig = Rig()
        task = await rig.begin()
        rig.hear(frame(frames.GOAWAY, 0, 0, NO_MORE + bytes(4)), frame(frames.GOAWAY, 0, 0, NO_MORE + bytes(4)))
        rig.hear(answer(1))
        assert (await task).status == 200
        assert rig.transport.closed

    async def test_who_waits_for_a_turn_hears_that_the_server_leaves(self):
        rig = Rig()
        rig.hear(settings(streams=1))
        first, second = await rig.begin(None, None)
        rig.hear(frame(frames.GOAWAY, 0, 0, NO_MORE + bytes(4)))
        with pytest.raises(UnprocessedError):
            await second
        rig.hear(answer(1))
        await first

    @pytest.mark.parametrize(("code", "problem"), [(7, UnprocessedError), (2, TransportError)])
    async def test_a_stream_that_is_reset(self, code, problem):
        rig = Rig()
        first, second = await rig.begin(None, None)
        rig.hear(frame(frames.RST_STREAM, 0, 1, code.to_bytes(4, "big")) + answer(3))
        with pytest.raises(problem):
            await first
        assert (await second).status == 200

    async def test_a_lost_connection_leaves_requests_unknown_once_they_are_sent(self):
        rig = Rig()
        sent = await rig.begin()
        unsent = asyncio.ensure_future(rig.connection.exchange(BLOCK, None, 60.0))
        await asyncio.sleep(0)
        rig.transport.abort()
        with pytest.raises(TransportError, match="the connection was lost"):
            await sent
        with pytest.raises(UnprocessedError):
            await unsent

    async def test_a_kept_connection_that_is_lost_before_a_word_was_closed_while_idle(self):
        rig = Rig()
        task = await rig.begin()
        rig.hear(answer(1))
        await task
        again = await rig.begin()
        rig.transport.abort()
        with pytest.raises(StaleError):
            await again

    async def test_time_runs_out_for_one_request_alone_while_others_are_answered(self):
        rig = Rig()
        late = asyncio.ensure_future(rig.connection.exchange(BLOCK, None, 0.02))
        other = await rig.begin()
        rig.hear(frame(frames.HEADERS, frames.END_HEADERS, 3, OK))
        with pytest.raises(TimeoutError):
            await late
        await settle()
        assert rig.sent()[-1] == (frames.RST_STREAM, 0, 1, CANCEL.to_bytes(4, "big"))
        assert rig.connection.usable
        rig.hear(answer(1, b"too late") + frame(frames.DATA, frames.END_STREAM, 3, b"ok"))
        assert (await other).body == b"ok"

    async def test_a_server_that_has_fallen_silent_is_given_up_with_all_requests(self):
        rig = Rig()
        other = await rig.begin()
        with pytest.raises(TimeoutError):
            await rig.connection.exchange(BLOCK, None, 0.01)
        with pytest.raises(TransportError, match="silent"):
            await other
        assert rig.transport.closed

    async def test_a_cancelled_request_is_cancelled_on_the_server(self):
        rig = Rig()
        task = await rig.begin()
        task.cancel()
        await settle()
        assert task.cancelled()
        assert rig.sent()[-1] == (frames.RST_STREAM, 0, 1, CANCEL.to_bytes(4, "big"))
        rig.hear(answer(1))
        assert rig.connection.usable

    @pytest.mark.parametrize(
        "garbage",
        [
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            frame(frames.HEADERS, WHOLE, 1, b"\xff\xff\xff\xff\xff\xff\xff"),
            frame(frames.HEADERS, 0, 1, OK) + frame(frames.PING, 0, 0, b"12345678"),
            frame(frames.CONTINUATION, frames.END_HEADERS, 1, OK),
            frame(frames.DATA, frames.END_STREAM, 1, b"no head"),
            frame(frames.DATA, 0x8, 1, b"\x09"),
            frame(frames.SETTINGS, 0, 0, b"\x00"),
            frame(frames.HEADERS, 0, 1, b"x" * 16_000) + frame(frames.CONTINUATION, 0, 1, b"x" * 16_000) * 4,
        ],
        ids=["other protocol", "head", "interrupted", "goes on", "no head", "padding", "settings", "endless head"],
    )
    async def test_what_makes_no_sense_ends_the_connection(self, garbage):
        rig = Rig()
        tasks = await rig.begin(None, None)
        rig.hear(garbage)
        for task in tasks:
            with pytest.raises(TransportError):
                await task
        assert rig.transport.closed


async def test_how_long_nothing_was_heard():
    rig = Rig()
    now = asyncio.get_running_loop().time() + 5
    assert rig.connection.idle(now) >= 5
    task = await rig.begin()
    assert rig.connection.idle(now) == 0
    rig.hear(answer(1))
    await task
    assert rig.connection.idle(now) > 0


async def test_a_connection_is_given_up_before_its_numbers_run_out(monkeypatch):
    monkeypatch.setattr("scheduler.client.http2._LAST_ID", 3)
    rig = Rig()
    await rig.begin()
    assert rig.connection.usable
    last = await rig.begin()
    assert not rig.connection.usable
    rig.hear(answer(1) + answer(3))
    assert (await last).status == 200
    assert rig.transport.closed
