"""A fake API server on loopback that answers by script, well or badly, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from aiohttp import web

from scheduler.client.auth import Connection

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Seen:
    """A request as it came."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class FakeApiServer:
    """``on`` says how a path is answered; the last answer of a path is given again and again."""

    requests: list[Seen] = field(default_factory=list)
    scripts: dict[tuple[str, str], deque[Answer]] = field(default_factory=dict)
    url: str = ""

    def on(self, method: str, path: str, *answers: Answer) -> None:
        self.scripts[method, path] = deque(answers)

    def seen(self, method: str, path: str = "") -> list[Seen]:
        return [r for r in self.requests if r.method == method and r.path.startswith(path)]

    @property
    def connection(self) -> Connection:
        return Connection(self.url)

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.01)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        text = await request.text()
        body = json.loads(text) if text else None
        self.requests.append(Seen(request.method, request.path, dict(request.query), dict(request.headers), body))
        script = self.scripts.get((request.method, request.path))
        if not script:
            return await status(404, "NotFound", f"nothing at {request.path}")(request)
        answer = script.popleft() if len(script) > 1 else script[0]
        return await answer(request)


def reply(body: Any, code: int = 200) -> Answer:
    """A JSON answer."""

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(body, status=code)

    return answer


def status(
    code: int, reason: str = "", message: str = "", *, headers: dict[str, str] | None = None, **details: Any
) -> Answer:
    """A refusal."""

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(refusal(code, reason, message, **details), status=code, headers=headers)

    return answer


def refusal(code: int, reason: str = "", message: str = "", **details: Any) -> dict[str, Any]:
    """A Status object."""
    return {
        "kind": "Status",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
        "details": details,
    }


def no_answer(act: Callable[[], object] | None = None) -> Answer:
    """Do what was asked (``act``), and cut the connection instead of answering."""

    async def answer(request: web.Request) -> web.Response:
        if act is not None:
            act()
        request.transport.abort()
        return web.Response()

    return answer


def slow(seconds: float, then: Answer) -> Answer:
    """Answer late."""

    async def answer(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return await then(request)

    return answer


def gated(gate: asyncio.Event, then: Answer) -> Answer:
    """Answer when ``gate`` is set."""

    async def answer(request: web.Request) -> web.StreamResponse:
        await gate.wait()
        return await then(request)

    return answer


def stream(*lines: dict[str, Any] | bytes, end: str = "close") -> Answer:
    """A watch that sends these lines and then ends well ("close"), is cut ("cut") or says no more ("silence")."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for line in lines:
            await response.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
        if end == "silence":
            await asyncio.sleep(3600)
        elif end == "cut":
            await asyncio.sleep(0.05)
            request.transport.abort()
        return response

    return answer


def event(kind: str, obj: dict[str, Any]) -> dict[str, Any]:
    """A line of a watch."""
    return {"type": kind, "object": obj}


def bookmark(version: int, *, initial_end: bool = False) -> dict[str, Any]:
    """A bookmark; ``initial_end`` ends a streamed list."""
    notes = {"annotations": {"k8s.io/initial-events-end": "true"}} if initial_end else {}
    return event("BOOKMARK", {"kind": "Pod", "metadata": {"resourceVersion": str(version), **notes}})


def pod(name: str, version: int, *, uid: str = "", node: str = "", **meta: Any) -> dict[str, Any]:
    """A pod as the server sends it."""
    return {
        "metadata": {
            "namespace": "ns",
            "name": name,
            "uid": uid or f"uid-{name}",
            "resourceVersion": str(version),
            **meta,
        },
        "spec": {"nodeName": node} if node else {},
    }


def page(version: int, *items: dict[str, Any], more: str = "") -> dict[str, Any]:
    """A page of a list."""
    return {
        "kind": "PodList",
        "metadata": {"resourceVersion": str(version), "continue": more},
        "items": list(items),
    }
