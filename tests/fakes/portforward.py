"""The far side of a forwarded port, as the container runtime speaks it (cri-streaming, portforward/websocket.go)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from aiohttp import WSMsgType, web

if TYPE_CHECKING:
    from tests.fakes.apiserver import Answer

PROTOCOL = "v4.channel.k8s.io"


def forwarding(port: int, *, to: int | None = None, apart: bool = True) -> Answer:
    """Forward to a port on loopback (`to`, or the one asked for); `apart` sends the port's number by itself."""

    async def answer(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(protocols=(PROTOCOL,), max_msg_size=2**24)
        if not socket.can_prepare(request):
            return web.json_response({"kind": "Status", "message": "Upgrade request required", "code": 400}, status=400)
        assert request.query["ports"] == str(port)
        await socket.prepare(request)
        number = port.to_bytes(2, "little")
        await socket.send_bytes(b"\x01" + number)
        if apart:
            await socket.send_bytes(b"\x00" + number)
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", to or port)
        except OSError as problem:
            await socket.send_bytes(b"\x01" + f"error forwarding port {port}: {problem.strerror}".encode())
            await socket.close()
            return socket

        async def back() -> None:
            first = b"" if apart else number
            while data := await reader.read(1000):
                await socket.send_bytes(b"\x00" + first + data)
                first = b""
            await socket.close()

        task = asyncio.create_task(back())
        async for message in socket:
            if message.type is WSMsgType.BINARY and message.data[:1] == b"\x00":
                writer.write(message.data[1:])
        writer.close()
        task.cancel()
        return socket

    return answer
