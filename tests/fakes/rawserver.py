"""A server on loopback that speaks bytes: answers in HTTP/1.1 are the tests' to word, well or badly."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Self, TypeAlias

if TYPE_CHECKING:
    import ssl

Answer: TypeAlias = "bytes | list[bytes] | float | None"


class RawServer:
    """Answers each request with the next of its answers, and the last one again and again.

    Bytes are sent as they are, a list of bytes piece by piece; None closes the connection; a number of seconds is
    waited, without an answer. `requests` is what was received, `writers` are the connections.
    """

    def __init__(self, *answers: Answer, tls: ssl.SSLContext | None = None) -> None:
        self.answers = list(answers)
        self.requests: list[str] = []
        self.connections = 0
        self.tls = tls
        self.writers: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> Self:
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, ssl=self.tls)
        self.url = f"http{'s' if self.tls else ''}://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.close()
        for writer in self.writers:
            writer.close()
        for writer in self.writers:
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = next((int(line[15:]) for line in head.split("\r\n") if line.startswith("Content-Length:")), 0)
                body = (await reader.readexactly(length)).decode()
                self.requests.append(head + body)
                answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                if isinstance(answer, float):
                    await asyncio.sleep(answer)
                elif answer is None:
                    writer.close()
                    return
                elif isinstance(answer, list):
                    for piece in answer:
                        writer.write(piece)
                        await asyncio.sleep(0.005)
                else:
                    writer.write(answer)
