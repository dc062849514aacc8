"""HTTPS requests through a tunnel: TLS and HTTP/1.1 over anything that carries bytes."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ssl
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from scheduler.client.answers import AnswerReader, GarbledAnswerError
from scheduler.client.errors import TransportError
from scheduler.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scheduler.client.answers import Answer

__all__ = ["Carrier", "Tunnel", "UnexpectedPeerError", "fingerprint", "tls_without_names"]

_PIECE: Final = 2**16

T = TypeVar("T")


class Carrier(Protocol):
    """Carries bytes both ways."""

    async def send(self, data: bytes) -> None:
        """Send bytes."""

    async def receive(self) -> bytes:
        """The next bytes; b"" at the end."""
        ...


class UnexpectedPeerError(Exception):
    """The server has another certificate than it must have: nothing was sent to it."""


def fingerprint(certificate: bytes) -> str:
    """How a certificate (DER) is named: "sha256:" and the digest in hexadecimal digits."""
    return f"sha256:{hashlib.sha256(certificate).hexdigest()}"


def tls_without_names(client_certificate: tuple[str, str | None] | None) -> ssl.SSLContext:
    """TLS for a server whose certificate says nothing: who it is has to be known otherwise (see `Tunnel`).

    With a client certificate (its file, and that of its key), whose key the server does not get to see.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if client_certificate is not None:
        context.load_cert_chain(*client_certificate)
    return context


class Tunnel:
    """Requests one after the other over one connection. With `pin`, only to the server with that certificate."""

    def __init__(self, carrier: Carrier, tls: ssl.SSLContext, *, pin: str = "", host: str = "localhost") -> None:
        self._carrier = carrier
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = tls.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self._pin = pin
        self._host = host
        self._reader = AnswerReader()
        self._turn = asyncio.Lock()
        self._shaken = False

    async def get(self, path: str, headers: Mapping[str, str], *, within: float = 30.0) -> Answer:
        """Ask for a path; the whole answer, `within` seconds.

        Raises UnexpectedPeerError, TransportError, and what the carrier raises.
        """
        lines = {"Host": self._host, "User-Agent": f"berth/{__version__}", "Accept": "application/json", **headers}
        request = f"GET {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n"
        if not all(text.isprintable() for text in (path, *lines.values())) or " " in path:
            raise ValueError("a path or header holds characters that don't belong there")
        async with self._turn:
            try:
                async with asyncio.timeout(within):
                    await self._handshake()
                    await self._run(lambda: self._tls.write(request.encode("latin-1")))
                    return await self._answer()
            except TimeoutError:
                raise TransportError(f"no answer within {within:g} s") from None
            except (ssl.SSLError, GarbledAnswerError) as problem:
                raise TransportError(str(problem)) from problem

    async def _handshake(self) -> None:
        if self._shaken:
            return
        await self._run(self._tls.do_handshake)
        served = self._tls.getpeercert(binary_form=True) or b""
        if self._pin and not hmac.compare_digest(fingerprint(served), self._pin):
            raise UnexpectedPeerError(f"the certificate is {fingerprint(served)} and should be {self._pin}")
        self._shaken = True

    async def _answer(self) -> Answer:
        if not self._reader.reusable:
            raise TransportError("the connection has ended")
        while True:
            try:
                data = await self._run(lambda: self._tls.read(_PIECE))
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                data = b""
            answer = self._reader.feed(data) if data else self._reader.end()
            if answer is not None:
                return answer
            if not data:
                raise TransportError("the connection has ended before the answer did")

    async def _run(self, step: Callable[[], T]) -> T:
        """Do a step of TLS, and carry what it wants carried."""
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                await self._flush()
                if data := await self._carrier.receive():
                    self._incoming.write(data)
                else:
                    self._incoming.write_eof()
            else:
                await self._flush()
                return result

    async def _flush(self) -> None:
        if data := self._outgoing.read():
            await self._carrier.send(data)
