"""Forwarding a port through the API server."""

from __future__ import annotations

import asyncio

import pytest

from scheduler.client.auth import Connection
from scheduler.client.errors import ApiError, TransportError
from scheduler.client.portforward import ForwardError, forward
from tests.fakes.apiserver import reply, status
from tests.fakes.portforward import forwarding
from tests.fakes.ports import free_port

PATH = "/api/v1/namespaces/kube-system/pods/berth-0/portforward"


@pytest.fixture
async def echo():
    """A port on loopback that sends back what it gets, until it gets "end"."""

    async def serve(reader, writer):
        while (data := await reader.read(100)) and data != b"end":
            writer.write(data.upper())
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize("apart", [True, False], ids=["port number by itself", "port number with the first data"])
async def test_bytes_go_both_ways_without_the_port_numbers(server, echo, apart):
    server.on("GET", PATH, forwarding(10259, to=echo, apart=apart))
    async with forward(server.connection, "kube-system", "berth-0", 10259) as carrier:
        await carrier.send(b"hello")
        assert await carrier.receive() == b"HELLO"
        await carrier.send(b"end")
        assert await carrier.receive() == b""


async def test_much_is_sent_in_pieces(server, echo):
    server.on("GET", PATH, forwarding(10259, to=echo))
    async with forward(server.connection, "kube-system", "berth-0", 10259) as carrier:
        await carrier.send(b"x" * 100_000)
        received = 0
        while received < 100_000:
            received += len(await carrier.receive())
        assert received == 100_000


async def test_what_the_far_side_says_went_wrong_is_the_error(server):
    server.on("GET", PATH, forwarding(10259, to=free_port()))
    async with forward(server.connection, "kube-system", "berth-0", 10259) as carrier:
        with pytest.raises(ForwardError, match="error forwarding port 10259"):
            await carrier.receive()


async def test_a_refusal_comes_in_the_words_of_the_api_server(server):
    server.on("GET", PATH, status(403, "Forbidden", 'pods "berth-0" is forbidden: User "jane" cannot get ...'))
    with pytest.raises(ApiError, match='User "jane" cannot get') as caught:
        async with forward(server.connection, "kube-system", "berth-0", 10259):
            pass
    assert caught.value.status == 403


async def test_a_server_that_does_not_upgrade_is_told_of(server):
    server.on("GET", PATH, reply({"kind": "Pod"}))
    with pytest.raises(ForwardError, match="status 200"):
        async with forward(server.connection, "kube-system", "berth-0", 10259):
            pass


async def test_credentials_are_renewed_once(server, echo):
    asked = []

    async def authorize(*, renew=False):
        asked.append(renew)
        return {"Authorization": f"Bearer {'new' if renew else 'old'}"}

    server.on("GET", PATH, status(401, "Unauthorized", "no"), forwarding(10259, to=echo))
    connection = Connection(server.url, authorize=authorize)
    async with forward(connection, "kube-system", "berth-0", 10259) as carrier:
        await carrier.send(b"a")
        assert await carrier.receive() == b"A"
    assert asked == [False, True]
    assert server.requests[-1].headers["Authorization"] == "Bearer new"


async def test_no_server_at_all(server):
    connection = Connection(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(TransportError, match="no connection to"):
        async with forward(connection, "kube-system", "berth-0", 10259):
            pass
