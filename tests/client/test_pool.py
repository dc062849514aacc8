"""The pool of connections: when one is used again, and what is known where no answer came."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl

import pytest
import trustme
import uvloop

from scheduler.client.errors import ConnectError, TransportError
from scheduler.client.pool import ConnectionPool
from tests.fakes.h2server import Http2Server
from tests.fakes.rawserver import RawServer

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
LAST = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"


@contextlib.asynccontextmanager
async def pool_on(server, **options):
    pool = ConnectionPool(server.url, None, headers={"User-Agent": "test"}, **options)
    try:
        yield pool
    finally:
        await pool.close()


async def send(pool, method="GET", path="/x", *, body=None, headers=None, within=5.0):
    return await pool.send(method, path, headers=headers or {}, body=body, within=within)


async def test_a_request_as_it_is_sent():
    async with RawServer(OK) as server, pool_on(server) as pool:
        answer = await send(pool, "POST", "/x?a=%20", body=b"{}", headers={"Authorization": "Bearer t"})
        assert (answer.status, answer.body) == (200, b"ok")
        host = server.url.removeprefix("http://")
        assert server.requests == [
            f"POST /x?a=%20 HTTP/1.1\r\nHost: {host}\r\nUser-Agent: test\r\n"
            "Authorization: Bearer t\r\nContent-Length: 2\r\n\r\n{}"
        ]


async def test_a_path_in_the_servers_address_comes_first():
    async with RawServer(OK) as server:
        server.url += "/clusters/c1"
        async with pool_on(server) as pool:
            await send(pool)
        assert server.requests[0].startswith("GET /clusters/c1/x HTTP/1.1")


async def test_no_header_can_be_smuggled_in():
    async with RawServer(OK) as server, pool_on(server) as pool:
        with pytest.raises(ValueError, match="Authorization"):
            await send(pool, headers={"Authorization": "Bearer t\r\nX-Admin: yes"})
        assert server.requests == []


async def test_requests_one_after_the_other_share_a_connection():
    async with RawServer(OK) as server, pool_on(server) as pool:
        for _ in range(3):
            await send(pool)
        assert (len(server.requests), server.connections) == (3, 1)


async def test_requests_at_the_same_time_have_connections_of_their_own_up_to_the_limit():
    async with RawServer(OK) as server, pool_on(server, limit=2) as pool:
        await asyncio.gather(*[send(pool) for _ in range(6)])
        assert (len(server.requests), server.connections) == (6, 2)


async def test_a_connection_that_the_server_wants_closed_is_not_used_again():
    async with RawServer(LAST) as server, pool_on(server) as pool:
        await send(pool)
        await send(pool)
        assert server.connections == 2


async def test_a_connection_that_was_idle_too_long_is_not_used_again(monkeypatch):
    monkeypatch.setattr("scheduler.client.pool._LONGEST_IDLE", 0.0)
    async with RawServer(OK) as server, pool_on(server) as pool:
        await send(pool)
        await send(pool)
        assert server.connections == 2


async def test_a_connection_that_the_server_closed_while_idle_is_not_used_again(eventually):
    async with RawServer(OK) as server, pool_on(server) as pool:
        await send(pool)
        server.writers[0].close()
        await eventually(lambda: not pool._idle)
        assert (await send(pool, "POST", body=b"")).status == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_a_request_that_may_be_repeated_is_where_a_kept_connection_was_closed_under_it(method):
    async with RawServer(OK, None, OK) as server, pool_on(server) as pool:
        await send(pool)
        assert (await send(pool, method)).status == 200
        assert server.connections == 2


@pytest.mark.parametrize("method", ["POST", "PATCH"])
async def test_a_request_that_may_not_be_repeated_has_an_unknown_outcome_then(method):
    async with RawServer(OK, None) as server, pool_on(server) as pool:
        await send(pool)
        with pytest.raises(TransportError, match="closed the connection") as lost:
            await send(pool, method, body=b"{}")
        assert not isinstance(lost.value, ConnectError)
        assert len(server.requests) == 2


async def test_no_request_is_repeated_where_a_new_connection_was_closed():
    async with RawServer(None) as server, pool_on(server) as pool:
        with pytest.raises(TransportError, match="the connection was lost"):
            await send(pool)
        assert len(server.requests) == 1


@pytest.mark.parametrize("answer", [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut", b"not HTTP at all\r\n\r\n"])
async def test_half_an_answer_and_garbage_are_no_answer(answer, eventually):
    async with RawServer(answer, None) as server, pool_on(server) as pool:
        request = asyncio.ensure_future(send(pool, within=0.5))
        await eventually(lambda: server.requests)
        server.writers[0].close()
        with pytest.raises(TransportError):
            await request


async def test_an_answer_that_comes_too_late_is_not_taken_for_the_next_ones():
    late = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate"
    async with RawServer(0.1, late, OK) as server, pool_on(server) as pool:
        with pytest.raises(TimeoutError):
            await send(pool, within=0.02)
        server.answers = [OK]
        assert (await send(pool)).body == b"ok"
        assert server.connections == 2


async def test_a_cancelled_request_gives_up_its_connection(eventually):
    async with RawServer(3600.0, OK) as server, pool_on(server, limit=1) as pool:
        request = asyncio.ensure_future(send(pool))
        await eventually(lambda: server.requests)
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        assert (await send(pool)).body == b"ok"


async def test_an_answer_that_nobody_asked_for_ends_the_connection(eventually):
    async with RawServer(OK) as server, pool_on(server) as pool:
        await send(pool)
        server.writers[0].write(OK)
        await eventually(lambda: not pool._all)
        assert (await send(pool)).body == b"ok"
        assert server.connections == 2


async def test_an_address_of_several_that_does_not_answer_is_passed_over(monkeypatch):
    async with RawServer(OK) as server:
        port = int(server.url.rpartition(":")[2])

        async def two_addresses(host, asked, **_):
            assert (host, asked) == ("api.example", port)
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in ("127.0.0.9", "127.0.0.1")]

        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", two_addresses)
        server.url = f"http://api.example:{port}"
        async with pool_on(server) as pool:
            assert (await send(pool)).body == b"ok"


async def test_a_name_that_is_not_known_is_an_error_before_anything_was_sent():
    pool = ConnectionPool("http://api.invalid:1", None, headers={})
    with pytest.raises(ConnectError):
        await send(pool)


async def test_nobody_listening_is_known_not_to_have_been_sent():
    pool = ConnectionPool("http://127.0.0.1:1", None, headers={})
    with pytest.raises(ConnectError, match="ConnectionRefusedError"):
        await send(pool)


@pytest.mark.parametrize("loop_factory", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_over_tls_the_servers_certificate_must_be_good(loop_factory):
    authority = trustme.CA()
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(serving)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)

    async def ask(tls, **options):
        async with RawServer(OK, tls=serving) as server:
            pool = ConnectionPool(server.url, tls, headers={}, **options)
            try:
                await send(pool)
                return (await send(pool)).body, server.connections
            finally:
                await pool.close()

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        assert runner.run(ask(trusting)) == (b"ok", 1)
        with pytest.raises(ConnectError, match="certificate verify failed"):
            runner.run(ask(None))
        with pytest.raises(ConnectError, match="certificate verify failed"):
            runner.run(ask(trusting, server_hostname="other.example"))


class TestMultiplexed:
    """Requests over one connection in HTTP/2."""

    @pytest.fixture
    def authority(self):
        return trustme.CA()

    @pytest.fixture
    def offering(self, authority):
        tls = ssl.create_default_context()
        authority.configure_trust(tls)
        tls.set_alpn_protocols(["h2", "http/1.1"])
        return tls

    @pytest.mark.parametrize("loop_factory", [asyncio.new_event_loop, uvloop.new_event_loop])
    def test_where_the_server_speaks_it(self, authority, offering, loop_factory):
        async def ask():
            async with Http2Server(authority.issue_cert("127.0.0.1")) as server:
                pool = ConnectionPool(server.url, offering, headers={"Accept": "x"}, multiplexed=offering)
                try:
                    answers = await asyncio.gather(
                        *(send(pool, "POST", body=b"%d" % number * 7_000) for number in range(20))
                    )
                    answers.append(await send(pool))
                finally:
                    await pool.close()
                return [answer.body for answer in answers], server.connections

        with asyncio.Runner(loop_factory=loop_factory) as runner:
            bodies, connections = runner.run(ask())
        assert bodies[:20] == [b"%d" % number * 7_000 for number in range(20)]
        assert b"/x" in bodies[20]
        assert connections == 1

    async def test_a_server_without_it_is_asked_in_http_1(self, authority, offering):
        serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        authority.issue_cert("127.0.0.1").configure_cert(serving)
        async with RawServer(OK, tls=serving) as server:
            pool = ConnectionPool(server.url, offering, headers={}, multiplexed=offering)
            assert [(await send(pool)).body for _ in range(3)] == [b"ok"] * 3
            assert len(server.requests) == 3
            await pool.close()

    async def test_its_certificate_must_be_good(self, authority):
        offering = ssl.create_default_context()
        offering.set_alpn_protocols(["h2"])
        async with Http2Server(authority.issue_cert("127.0.0.1")) as server:
            pool = ConnectionPool(server.url, offering, headers={}, multiplexed=offering)
            with pytest.raises(ConnectError, match="certificate verify failed"):
                await send(pool)
            await pool.close()

    async def test_a_path_in_the_servers_address_comes_first(self, authority, offering):
        async with Http2Server(authority.issue_cert("127.0.0.1")) as server:
            pool = ConnectionPool(f"{server.url}/clusters/c1", offering, headers={}, multiplexed=offering)
            assert b"/clusters/c1/x" in (await send(pool)).body
            await pool.close()

    async def test_nothing_is_multiplexed_without_tls(self, offering):
        async with RawServer(OK) as server, pool_on(server, multiplexed=offering) as pool:
            assert (await send(pool)).body == b"ok"
