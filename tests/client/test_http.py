"""The session: what is sent, what is retried, what is counted."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

import pytest
import trustme
from aiohttp import web

from scheduler.client.auth import Connection
from scheduler.client.errors import ApiError, ConnectError, TransportError
from scheduler.client.http import Session
from tests.fakes.apiserver import bookmark, no_answer, reply, slow, status, stream


class Counted:
    def __init__(self):
        self.done, self.throttled, self.retried = [], [], []

    def request_done(self, *, method, host, code, seconds):
        assert seconds >= 0
        self.done.append((method, host, code))

    def request_retried(self, *, method, host, code):
        self.retried.append((method, host, code))

    def request_throttled(self, *, method, host, seconds):
        self.throttled.append(seconds)


async def test_a_request_carries_body_type_and_agent(server, session):
    server.on("POST", "/x", reply({"ok": True}, 201))
    assert await session.request("POST", "/x?a=b%2Fc", body=b"{}", content_type="application/json") == b'{"ok": true}'
    (seen,) = server.requests
    assert seen.query == {"a": "b/c"}
    assert seen.headers["Content-Type"] == "application/json"
    assert seen.headers["User-Agent"].startswith("berth/")


async def test_a_refusal_is_raised_with_its_reason(server, session):
    server.on("GET", "/x", status(403, "Forbidden", "no right"))
    with pytest.raises(ApiError, match="no right") as refused:
        await session.request("GET", "/x")
    assert (refused.value.status, refused.value.reason) == (403, "Forbidden")


async def test_redirects_are_not_followed_to_other_servers(server, session):
    async def elsewhere(request):
        return web.Response(status=307, headers={"Location": "http://127.0.0.1:1/"})

    server.on("GET", "/x", elsewhere)
    assert await session.request("GET", "/x") == b""
    assert len(server.requests) == 1


async def test_too_many_requests_is_waited_out(server, session):
    server.on("POST", "/x", *[status(429, headers={"Retry-After": "0"})] * 3, reply({}))
    await session.request("POST", "/x", body=b"{}")
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("method", "code", "headers", "requests"),
    [
        ("PATCH", 503, {"Retry-After": "0"}, 2),
        ("DELETE", 500, {"Retry-After": "0"}, 2),
        ("POST", 500, {"Retry-After": "0"}, 1),
        ("PATCH", 500, {}, 1),
        ("PATCH", 429, {}, 1),
        ("PATCH", 409, {"Retry-After": "0"}, 1),
    ],
)
async def test_failures_are_waited_out_if_the_server_says_when_to_come_back(
    server, session, method, code, headers, requests
):
    server.on(method, "/x", status(code, headers=headers), reply({}))
    with contextlib.suppress(ApiError):
        await session.request(method, "/x", body=b"{}")
    assert len(server.requests) == requests


async def test_too_many_requests_without_end_is_an_error(server, session):
    server.on("POST", "/x", status(429, "TooManyRequests", headers={"Retry-After": "0"}))
    with pytest.raises(ApiError, match="429"):
        await session.request("POST", "/x", body=b"{}")
    assert len(server.requests) == 11


async def test_a_cut_connection_has_an_unknown_outcome(server, session):
    server.on("POST", "/x", no_answer())
    with pytest.raises(TransportError) as lost:
        await session.request("POST", "/x", body=b"{}")
    assert not isinstance(lost.value, ConnectError)


async def test_no_answer_in_time_has_an_unknown_outcome(server, session):
    server.on("POST", "/x", slow(1, reply({})))
    with pytest.raises(TransportError, match="TimeoutError"):
        await session.request("POST", "/x", body=b"{}", within=0.05)


async def test_no_connection_is_known_not_to_have_been_sent():
    async with Session(Connection("http://127.0.0.1:1"), qps=0) as session:
        with pytest.raises(ConnectError, match=r"no connection to 127\.0\.0\.1:1"):
            await session.request("GET", "/")


class TestCredentials:
    @staticmethod
    def renewing(*tokens):
        left = list(tokens)

        async def authorize(*, renew=False):
            if renew and len(left) > 1:
                left.pop(0)
            return {"Authorization": f"Bearer {left[0]}"}

        return authorize

    @staticmethod
    def accepting(token, answer):
        async def check(request):
            good = request.headers["Authorization"] == f"Bearer {token}"
            return await (answer if good else status(401, "Unauthorized"))(request)

        return check

    async def test_that_were_refused_are_renewed_once(self, server):
        server.on("GET", "/x", self.accepting("new", reply({})))
        async with Session(Connection(server.url, authorize=self.renewing("old", "new")), qps=0) as session:
            assert await session.request("GET", "/x") == b"{}"
            assert await session.request("GET", "/x") == b"{}"
        assert len(server.requests) == 3

    async def test_that_stay_refused_are_an_error(self, server):
        server.on("GET", "/x", self.accepting("none", reply({})))
        async with Session(Connection(server.url, authorize=self.renewing("old", "new")), qps=0) as session:
            with pytest.raises(ApiError) as refused:
                await session.request("GET", "/x")
        assert refused.value.status == 401
        assert len(server.requests) == 2

    async def test_of_a_stream_are_renewed_too(self, server):
        server.on("GET", "/x", self.accepting("new", stream(bookmark(1))))
        connection = Connection(server.url, authorize=self.renewing("old", "new"))
        async with Session(connection, qps=0) as session, session.stream("/x", total=5, idle=5) as lines:
            assert len(await lines.read()) == 1


class TestStream:
    async def test_that_is_silent_too_long_is_dead(self, server, session):
        server.on("GET", "/x", stream(bookmark(1), end="silence"))
        async with session.stream("/x", total=5, idle=0.05) as lines:
            await lines.read()
            with pytest.raises(TransportError):
                await lines.read()

    async def test_that_lasts_too_long_is_given_up(self, server, session):
        server.on("GET", "/x", stream(bookmark(1), end="silence"))
        async with session.stream("/x", total=0.1, idle=5) as lines:
            await lines.read()
            with pytest.raises(TransportError):
                await lines.read()

    async def test_does_not_turn_its_readers_errors_into_its_own(self, server, session):
        server.on("GET", "/x", stream(bookmark(1)))

        async def read_and_fail():
            async with session.stream("/x", total=5, idle=5) as lines:
                await lines.read()
                raise OSError("disk full")

        with pytest.raises(OSError, match="disk full"):
            await read_and_fail()


async def test_every_request_is_counted_with_its_code(server):
    server.on("GET", "/x", reply({}), status(404), no_answer())
    counted = Counted()
    async with Session(server.connection, qps=1000, burst=10, observer=counted) as session:
        for _ in range(3):
            await asyncio.gather(session.request("GET", "/x"), return_exceptions=True)
    host = server.url.removeprefix("http://")
    assert [method_host[:2] for method_host in counted.done] == [("GET", host)] * 3
    assert [code for _, _, code in counted.done] == ["200", "404", "<error>"]
    assert len(counted.throttled) == 3


async def test_requests_beyond_the_burst_wait(server):
    server.on("GET", "/x", reply({}))
    counted = Counted()
    async with Session(server.connection, qps=4, burst=2, observer=counted) as session:
        await asyncio.gather(*[session.request("GET", "/x") for _ in range(4)])
    assert [waited > 0 for waited in counted.throttled] == [False, False, True, True]


async def test_a_session_that_is_not_open_says_so(server):
    with pytest.raises(RuntimeError, match="the session is not open"):
        await Session(server.connection).request("GET", "/")


async def test_environment_proxies_are_ignored(server, session, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    server.on("GET", "/x", reply({}))
    assert await session.request("GET", "/x") == b"{}"


async def test_a_proxy_of_the_configuration_is_used_for_requests_and_streams(server):
    server.on("GET", "/x", reply({}), stream(bookmark(1)))
    server.on("GET", "/y", status(404))
    async with Session(Connection("http://api.invalid:1", proxy=server.url), qps=0) as session:
        assert await session.request("GET", "/x") == b"{}"
        with pytest.raises(ApiError):
            await session.request("GET", "/y")
        async with session.stream("/x", total=5, idle=5) as lines:
            assert len(await lines.read()) == 1
    assert [seen.headers["Host"] for seen in server.requests] == ["api.invalid:1"] * 3


async def test_both_sides_prove_themselves_by_certificates():
    authority = trustme.CA()
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    serving.verify_mode = ssl.CERT_REQUIRED
    authority.issue_cert("127.0.0.1").configure_cert(serving)
    authority.configure_trust(serving)
    ours = ssl.create_default_context()
    authority.configure_trust(ours)
    authority.issue_cert("client@berth.example").configure_cert(ours)

    async def hello(request):
        return web.Response(text="{}")

    app = web.Application()
    app.router.add_get("/", hello)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=serving).start()
    base = f"https://127.0.0.1:{runner.addresses[0][1]}"
    try:
        async with Session(Connection(base, ours), qps=0) as session:
            assert await session.request("GET", "/") == b"{}"
        async with Session(Connection(base), qps=0) as stranger:
            with pytest.raises(ConnectError):
                await stranger.request("GET", "/")
    finally:
        await runner.cleanup()
