"""A watch's connection: what is read of the answer while it comes, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

import pytest
import trustme
import uvloop

from scheduler.client.answers import Answer
from scheduler.client.errors import TransportError
from scheduler.client.pool import ConnectionPool
from tests.fakes.rawserver import RawServer

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


@contextlib.asynccontextmanager
async def watch_on(server, *, total=5.0, idle=5.0, tls=None):
    pool = ConnectionPool(server.url, tls, headers={})
    connection = await pool.watch("/w?watch=1", headers={"Authorization": "Bearer t"}, total=total, idle=idle)
    try:
        yield connection
    finally:
        connection.close()
        await pool.close()


async def read_all(connection):
    data = b""
    while piece := await connection.read():
        data += piece
    return data


async def test_the_request_carries_credentials():
    async with RawServer(HEAD) as server, watch_on(server) as connection:
        assert connection.status == 200
        assert server.requests[0].startswith("GET /w?watch=1 HTTP/1.1\r\n")
        assert "Authorization: Bearer t\r\n" in server.requests[0]


@pytest.mark.parametrize(
    "answer",
    [
        HEAD + chunk(b"one\n") + chunk(b"two\n") + END,
        [HEAD, chunk(b"one\n"), chunk(b"two\n"), END],
        [HEAD[:20], HEAD[20:] + chunk(b"one\n")[:4], chunk(b"one\n")[4:] + chunk(b"two\n") + END[:2], END[2:]],
        b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\none\ntwo\n",
    ],
    ids=["at once", "piece by piece", "cut anywhere", "with a length"],
)
async def test_what_comes_is_read_to_the_end(answer):
    async with RawServer(answer) as server, watch_on(server) as connection:
        assert await read_all(connection) == b"one\ntwo\n"
        assert await connection.read() == b""


async def test_what_has_come_is_read_while_more_is_to_come():
    async with RawServer(HEAD + chunk(b"one\n")) as server, watch_on(server) as connection:
        assert await connection.read() == b"one\n"
        server.writers[0].write(chunk(b"two\n"))
        assert await connection.read() == b"two\n"


async def test_a_refusal_is_answered_whole():
    refusal = [b"HTTP/1.1 410 Gone\r\nContent-Length: 4\r\nRetry-After: 1\r\n\r\n", b"ol", b"d!"]
    async with RawServer(refusal) as server:
        pool = ConnectionPool(server.url, None, headers={})
        assert await pool.watch("/w", headers={}, total=5, idle=5) == Answer(410, b"old!", "1")


async def test_a_cut_connection_is_an_error_after_what_came_before():
    async with RawServer(HEAD + chunk(b"one\n")) as server, watch_on(server) as connection:
        server.writers[0].close()
        assert await connection.read() == b"one\n"
        with pytest.raises(TransportError, match="the connection was lost"):
            await connection.read()


async def test_a_body_that_lasts_until_the_connection_ends_ends_well():
    async with RawServer(b"HTTP/1.1 200 OK\r\n\r\nall") as server, watch_on(server) as connection:
        server.writers[0].close()
        assert await read_all(connection) == b"all"


@pytest.mark.parametrize("answer", [b"no HTTP\r\n\r\n", None])
async def test_no_answer_is_an_error(answer):
    async with RawServer(answer) as server:
        with pytest.raises(TransportError):
            async with watch_on(server):
                pass


async def test_garbage_in_the_middle_is_an_error():
    async with RawServer([HEAD + chunk(b"one\n"), b"garbage\r\n"]) as server, watch_on(server) as connection:
        with pytest.raises(TransportError, match="chunk size"):
            await read_all(connection)


async def test_silence_is_an_error_after_a_while():
    async with RawServer(HEAD + chunk(b"one\n")) as server, watch_on(server, idle=0.05) as connection:
        assert await connection.read() == b"one\n"
        with pytest.raises(TimeoutError):
            await connection.read()


async def test_a_server_that_speaks_now_and_then_is_not_silent():
    pieces = [HEAD, *[chunk(b"x")] * 30, END]
    async with RawServer(pieces) as server, watch_on(server, idle=0.1) as connection:
        assert await read_all(connection) == b"x" * 30


async def test_a_watch_that_lasts_too_long_is_given_up():
    async with RawServer([HEAD, *[chunk(b"x")] * 100]) as server, watch_on(server, total=0.1) as connection:
        with pytest.raises(TimeoutError):
            await read_all(connection)


@pytest.mark.parametrize("loop_factory", [asyncio.new_event_loop, uvloop.new_event_loop])
@pytest.mark.parametrize("encrypted", [False, True])
def test_a_server_that_is_faster_than_the_reader_has_to_wait(loop_factory, encrypted):
    authority = trustme.CA()
    serving, trusting = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert("127.0.0.1").configure_cert(serving)
    authority.configure_trust(trusting)
    much = 24 * 2**20

    async def read_slowly():
        answer = HEAD + chunk(b"x" * much) + END
        async with (
            RawServer(answer, tls=serving if encrypted else None) as server,
            watch_on(server, tls=trusting) as watch,
        ):
            await asyncio.sleep(0.3)
            first = await watch.read()
            rest = await read_all(watch)
            return len(first), len(first) + len(rest)

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        first, whole = runner.run(read_slowly())
    assert first < much / 2
    assert whole == much
