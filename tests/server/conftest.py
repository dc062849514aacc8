from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from dataclasses import replace

import aiohttp
import pytest
import trustme

from scheduler.server.endpoints import Endpoints
from scheduler.server.identity import Decision, User
from scheduler.server.options import ServerOptions
from scheduler.server.secure import Access, SecureServer


class Reviewers:
    """Answers token and access reviews from tables and notes what was asked."""

    def __init__(self, users=None, allowed=()):
        self.users = users or {}
        self.allowed = set(allowed)
        self.asked = []

    async def review_token(self, token):
        self.asked.append(token)
        return self.users.get(token)

    async def authorize(self, user, verb, path):
        self.asked.append((user.name, verb, path))
        return Decision((user.name, verb, path) in self.allowed, "")


class Client:
    """An HTTPS client of one server."""

    def __init__(self, port, context):
        self.base = f"https://127.0.0.1:{port}"
        self.context = context
        self.session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context, force_close=True))

    async def served_certificate(self):
        """The certificate (DER) that a new connection gets."""
        host, _, port = self.base.removeprefix("https://").partition(":")
        _, writer = await asyncio.open_connection(host, port, ssl=self.context)
        certificate = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        await writer.wait_closed()
        return certificate

    async def get(self, path, *, method="GET", token="", **headers):
        if token:
            headers["Authorization"] = f"Bearer {token}"
        async with self.session.request(method, self.base + path, headers=headers) as answer:
            return answer.status, await answer.text(), answer.headers


class Authorities:
    """One authority for servers, one for clients, and one that nobody trusts."""

    def __init__(self):
        self._servers = trustme.CA()
        self._clients = trustme.CA()
        self._strangers = trustme.CA()
        self.client_pem = self._clients.cert_pem.bytes().decode()
        self.stranger_pem = self._strangers.cert_pem.bytes().decode()

    def client(self, name, group):
        return _with_certificate(self._clients, name, group)

    def stranger(self, name, group):
        return _with_certificate(self._strangers, name, group)

    def trusting(self):
        context = ssl.create_default_context()
        self._servers.configure_trust(context)
        return context

    def serving_files(self, directory):
        """Writes a new certificate with its key and gives the paths of both."""
        certificate = self._servers.issue_cert("127.0.0.1")
        files = directory / "tls.crt", directory / "tls.key"
        certificate.cert_chain_pems[0].write_to_path(files[0])
        certificate.private_key_pem.write_to_path(files[1])
        return tuple(map(str, files))


def unverified_context():
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _with_certificate(authority, name, group):
    context = unverified_context()
    authority.issue_cert(f"{name}@example.com", common_name=name, organization_name=group).configure_cert(context)
    return context


@pytest.fixture(scope="session")
def authorities():
    return Authorities()


@pytest.fixture
def client_ca_file(authorities, tmp_path):
    path = tmp_path / "client-ca.crt"
    path.write_text(authorities.client_pem)
    return str(path)


@pytest.fixture
def reviewers():
    return Reviewers(
        users={"good": User("prometheus", ("monitoring",)), "root": User("root", ("system:masters",))},
        allowed=[("prometheus", "get", "/metrics"), ("prometheus", "post", "/metrics")],
    )


@pytest.fixture
async def serve():
    """Starts a server on a free loopback port and gives it with a client: `await serve(options, endpoints, access)`."""
    async with contextlib.AsyncExitStack() as stack:

        async def start(options=None, endpoints=None, access=None, *, context=None):
            listen = socket.create_server(("127.0.0.1", 0))
            options = replace(options or ServerOptions(), bind_address="127.0.0.1", reload_interval=0.01)
            endpoints = endpoints or Endpoints(metrics=lambda: b"m 1\n")
            server = SecureServer(options, endpoints, access or Access(), listen=listen)
            stack.callback(listen.close)
            await server.start()
            stack.push_async_callback(server.stop)
            client = Client(server.port, context or unverified_context())
            stack.push_async_callback(client.session.close)
            return server, client

        yield start


@pytest.fixture
def eventually():
    """Asks until the answer is yes, for some ten seconds at most."""

    async def wait(probe):
        for _ in range(1000):
            if await probe():
                return
            await asyncio.sleep(0.01)
        raise AssertionError("it never came true")

    return wait
