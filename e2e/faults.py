"""A proxy between a scheduler and the API server that fails requests as it is told to."""

from __future__ import annotations

import asyncio
import base64
import fnmatch
import http.client
import json
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import urlsplit

from e2e.controlplane.process import free_port

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

CUT_BEFORE: Final = "cut before"
"""The connection ends, and the API server never hears of the request."""
CUT_AFTER: Final = "cut after"
"""The connection ends when the API server has done what it was asked for."""
_END: Final = b"\r\n\r\n"
_PIECE: Final = 2**16


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An answer in the API server's place; ``retry_after`` is in seconds. ``page`` takes the Status object's place.

    With ``done`` the API server is asked nevertheless, and its answer thrown away.
    """

    code: int
    reason: str = ""
    message: str = ""
    retry_after: str = ""
    page: str = ""
    done: bool = False

    def encoded(self) -> bytes:
        """The whole answer, after which the connection ends if the request was passed on."""
        status: dict[str, object] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        status |= {"message": self.message, "reason": self.reason, "code": self.code}
        body = self.page.encode() or json.dumps(status).encode()
        lines = [
            f"HTTP/1.1 {self.code} {http.client.responses[self.code]}",
            f"Content-Type: {'text/html' if self.page else 'application/json'}",
            f"Content-Length: {len(body)}",
        ]
        if self.retry_after:
            lines.append(f"Retry-After: {self.retry_after}")
        if self.done:
            lines.append("Connection: close")
        return "\r\n".join(lines).encode() + _END + body


@dataclass
class Fault:
    """What becomes of the first ``times`` requests whose method and path match one of ``patterns``.

    A pattern is like ``POST */pods/web-*/binding``; a star stands for anything.
    """

    patterns: tuple[str, ...]
    outcome: Refusal | str
    times: int = 1
    hits: int = 0

    @property
    def passes_on(self) -> bool:
        """Whether the API server hears of the request nevertheless."""
        return self.outcome.done if isinstance(self.outcome, Refusal) else self.outcome == CUT_AFTER

    def spent(self) -> bool:
        """Whether as many requests have failed as were to."""
        return self.hits == self.times

    def takes(self, request: str) -> bool:
        """Whether this request is to fail; counted if so."""
        if self.spent() or not any(fnmatch.fnmatchcase(request, pattern) for pattern in self.patterns):
            return False
        self.hits += 1
        return True


class FaultyApiServer:
    """The API server of a kubeconfig as a scheduler sees it through the proxy; a context manager.

    ``kubeconfig`` is what the scheduler is to be given. ``certificate`` and ``key`` are files with which the proxy
    serves on loopback, at ``port``.
    """

    def __init__(self, kubeconfig: Path, certificate: Path, key: Path) -> None:
        content = json.loads(kubeconfig.read_text())
        cluster, user = content["clusters"][0]["cluster"], content["users"][0]["user"]
        self._upstream = urlsplit(cluster["server"])
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._client = ssl.create_default_context(cadata=authority)
        if "client-certificate-data" in user:
            pair = kubeconfig.with_suffix(".pair")
            pair.touch(mode=0o600)
            parts = (user["client-certificate-data"], user["client-key-data"])
            pair.write_bytes(b"".join(base64.b64decode(part) for part in parts))
            self._client.load_cert_chain(pair)
        self._server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._server.load_cert_chain(certificate, key)
        self.port = free_port()
        cluster["server"] = f"https://127.0.0.1:{self.port}"
        self.kubeconfig = kubeconfig.with_name(f"faulty-{kubeconfig.name}")
        self.kubeconfig.touch(mode=0o600)
        self.kubeconfig.write_text(json.dumps(content))
        self.faults: list[Fault] = []
        self._writes: list[tuple[str, int]] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="faulty-api-server", daemon=True)
        self._listening = threading.Event()
        self._stopped = asyncio.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._listening.wait(30.0):
            raise TimeoutError("the proxy does not listen")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(30.0)

    def fail(self, *patterns: str, outcome: Refusal | str, times: int = 1) -> Fault:
        """Let requests that match fail from now on."""
        fault = Fault(patterns, outcome, times)
        self.faults.append(fault)
        return fault

    def answers(self, pattern: str) -> list[int]:
        """The API server's answers to the writes that match and were passed on."""
        return [code for request, code in self._writes.copy() if fnmatch.fnmatchcase(request, pattern)]

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        tasks: set[asyncio.Task[None]] = set()

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = self._loop.create_task(self._talk(reader, writer))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        server = await asyncio.start_server(connected, "127.0.0.1", self.port, ssl=self._server)
        self._listening.set()
        await self._stopped.wait()
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of the scheduler's, with one to the API server behind it."""
        with suppress(OSError, asyncio.IncompleteReadError):
            upstream = await asyncio.open_connection(self._upstream.hostname, self._upstream.port, ssl=self._client)
            conversation = _Conversation(reader, writer, *upstream, self)
            try:
                await conversation.run()
            finally:
                upstream[1].transport.abort()
        writer.transport.abort()

    def fault_for(self, request: str) -> Fault | None:
        """The first fault that takes this request."""
        return next((fault for fault in self.faults if fault.takes(request)), None)

    def note(self, request: str, code: int) -> None:
        """Remember the API server's answer to a write."""
        if not request.startswith("GET "):
            self._writes.append((request, code))


class _Conversation:
    """Requests of one connection, one after the other; answers flow back unread but for their first line."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        upstream_reader: asyncio.StreamReader,
        upstream_writer: asyncio.StreamWriter,
        proxy: FaultyApiServer,
    ) -> None:
        self._reader, self._writer = reader, writer
        self._upstream_reader, self._upstream_writer = upstream_reader, upstream_writer
        self._proxy = proxy
        self._asked = ""
        self._fault: Fault | None = None

    async def run(self) -> None:
        """Until either side ends it, or a fault does."""
        flows = [asyncio.create_task(flow) for flow in (self._requests(), self._back())]
        try:
            await asyncio.wait(flows, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for flow in flows:
                flow.cancel()
            await asyncio.gather(*flows, return_exceptions=True)

    async def _requests(self) -> None:
        while True:
            head = await self._reader.readuntil(_END)
            request, *fields = head.decode("latin-1").split("\r\n")
            lengths = [line.partition(":")[2] for line in fields if line.lower().startswith("content-length:")]
            body = await self._reader.readexactly(int(lengths[0]) if lengths else 0)
            method, target, _ = request.split(" ")
            asked = f"{method} {target.partition('?')[0]}"
            fault = self._proxy.fault_for(asked)
            if (
                fault is None
                or fault.outcome == CUT_AFTER
                or (isinstance(fault.outcome, Refusal) and fault.outcome.done)
            ):
                self._asked, self._fault = asked, fault
                self._upstream_writer.write(head + body)
            elif isinstance(fault.outcome, Refusal):
                self._writer.write(fault.outcome.encoded())
                await self._writer.drain()
            else:
                return

    async def _back(self) -> None:
        while data := await self._upstream_reader.read(_PIECE):
            if self._asked:
                self._proxy.note(self._asked, int(data.split(b" ", 2)[1]))
                self._asked = ""
            if self._fault is not None:
                if isinstance(self._fault.outcome, Refusal):
                    self._writer.write(self._fault.outcome.encoded())
                    await self._writer.drain()
                    self._writer.close()
                    await self._writer.wait_closed()
                return
            self._writer.write(data)
            await self._writer.drain()
