"""HTTPS through something that carries bytes."""

from __future__ import annotations

import asyncio
import ssl

import pytest
import trustme

from scheduler.client.errors import TransportError
from scheduler.client.tunnel import Tunnel, UnexpectedPeerError, fingerprint, tls_without_names

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


class Socket:
    """Carries bytes over a connection to a port, in small pieces."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.sent = 0

    async def send(self, data):
        self.sent += len(data)
        self.writer.write(data)
        await self.writer.drain()

    async def receive(self):
        return await self.reader.read(100)


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture
async def serve(authority):
    """`await serve(answer, ...)`: an HTTPS server that gives these answers, what it was sent, and a way to it."""
    closing = []

    async def start(*answers, requires_certificate=False):
        seen = []
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        leaf = authority.issue_cert("berth.example.com")
        leaf.configure_cert(tls)
        if requires_certificate:
            authority.configure_trust(tls)
            tls.verify_mode = ssl.CERT_REQUIRED

        async def handle(reader, writer):
            try:
                for answer in answers:
                    seen.append(await reader.readuntil(b"\r\n\r\n"))
                    peer = writer.get_extra_info("peercert")
                    seen.append(peer["subject"] if peer else None)
                    writer.write(answer)
                await writer.drain()
            except (asyncio.IncompleteReadError, ConnectionError):
                seen.append("left")
            writer.close()

        server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls)
        reader, writer = await asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1])
        closing.append((server, writer))
        der = ssl.PEM_cert_to_DER_cert(leaf.cert_chain_pems[0].bytes().decode())
        return Socket(reader, writer), seen, fingerprint(der)

    yield start
    for server, writer in closing:
        writer.close()
        server.close()
        await server.wait_closed()


async def test_requests_go_one_after_the_other_over_one_connection(serve):
    carrier, seen, pin = await serve(ANSWER, ANSWER.replace(b"200 OK", b"404 No"))
    tunnel = Tunnel(carrier, tls_without_names(None), pin=pin)
    first, second = await asyncio.gather(
        tunnel.get("/explain/v1/overview", {"Authorization": "Bearer secret"}), tunnel.get("/b", {})
    )
    assert (first.status, first.body, second.status) == (200, b"hello", 404)
    assert seen[0].startswith(b"GET /explain/v1/overview HTTP/1.1\r\nHost: localhost\r\n")
    assert b"Authorization: Bearer secret\r\n" in seen[0]
    assert b"Authorization" not in seen[2]


async def test_a_server_with_another_certificate_is_sent_nothing(serve):
    carrier, seen, pin = await serve(ANSWER)
    tunnel = Tunnel(carrier, tls_without_names(None), pin=fingerprint(b"another"))
    with pytest.raises(UnexpectedPeerError, match=f"the certificate is {pin} and should be sha256:"):
        await tunnel.get("/", {"Authorization": "Bearer secret"})
    carrier.writer.close()
    await asyncio.sleep(0.05)
    assert seen in ([], ["left"])


async def test_a_client_certificate_says_who_asks(serve, authority, tmp_path):
    leaf = authority.issue_cert("jane@example.com", common_name="jane")
    files = tmp_path / "client.crt", tmp_path / "client.key"
    leaf.cert_chain_pems[0].write_to_path(files[0])
    leaf.private_key_pem.write_to_path(files[1])
    carrier, seen, pin = await serve(ANSWER, requires_certificate=True)
    tunnel = Tunnel(carrier, tls_without_names((str(files[0]), str(files[1]))), pin=pin)
    assert (await tunnel.get("/", {})).status == 200
    assert (("commonName", "jane"),) in seen[1]


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello", b"SSH-2.0\r\n\r\n"])
async def test_an_answer_that_is_none_is_an_error(serve, answer):
    carrier, _, _ = await serve(answer)
    with pytest.raises(TransportError):
        await Tunnel(carrier, tls_without_names(None)).get("/", {})


async def test_a_server_that_keeps_silent_is_waited_for_so_long(serve):
    class Silent:
        async def send(self, data):
            pass

        async def receive(self):
            await asyncio.Event().wait()

    with pytest.raises(TransportError, match=r"no answer within 0.01 s"):
        await Tunnel(Silent(), tls_without_names(None)).get("/", {}, within=0.01)


async def test_no_header_can_smuggle_another_one_in(serve):
    carrier, _, _ = await serve(ANSWER)
    with pytest.raises(ValueError, match="characters that don't belong there"):
        await Tunnel(carrier, tls_without_names(None)).get("/ HTTP/1.1\nX: y", {})
    with pytest.raises(ValueError, match="characters that don't belong there"):
        await Tunnel(carrier, tls_without_names(None)).get("/", {"A": "b\r\nC: d"})
