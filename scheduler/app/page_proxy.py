"""The page on a loopback port, for one person: the page from here, its data from the scheduler, by the person's rights.

Whoever can reach the port could use these rights, and on loopback that is every user of the machine and, by a name
that is made to resolve to it, every site that the browser visits. So all is below a secret path, which only the browser
is told, and only requests for 127.0.0.1 or localhost by name are answered. What a browser is started with can be seen
by other users: that is a path that leads to the secret one, once.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
import socket
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final

import msgspec
from aiohttp import web

from scheduler.app.reach import ReachError
from scheduler.client.answers import GarbledAnswerError, unpacked
from scheduler.server.documents import takes_gzip
from scheduler.server.page.handler import PATH, serve_page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from scheduler.app.reach import Requests
    from scheduler.client.answers import Answer

_API: Final = "/explain/v1/"
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_TAGS: Final = re.compile(r'(W/)?"[!#-~]{0,200}"(, *(W/)?"[!#-~]{0,200}"){0,7}')
"""What may be passed on of If-None-Match."""


class PageProxy:
    """Serves the page on 127.0.0.1, and passes on what it asks `requests` for: the decisions API and nothing else."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests
        self._secret = secrets.token_urlsafe(32)
        self._once = secrets.token_urlsafe(32)
        self._port = 0

    @property
    def address(self) -> str:
        """The page's address, for the person alone."""
        return f"http://127.0.0.1:{self._port}/{self._secret}{PATH}"

    @property
    def address_once(self) -> str:
        """An address that leads to the page's the first time it is opened, and nowhere after that."""
        return f"http://127.0.0.1:{self._port}/{self._once}"

    @asynccontextmanager
    async def serving(self, port: int = 0) -> AsyncIterator[None]:
        """Serve until the end. Raises OSError if the port can't be had; 0 is any that is free."""
        listener = socket.create_server(("127.0.0.1", port))
        self._port = listener.getsockname()[1]
        runner = web.ServerRunner(web.Server(self._handle, access_log=None), shutdown_timeout=1.0)
        try:
            await runner.setup()
            await web.SockSite(runner, listener).start()
            yield
        finally:
            await runner.cleanup()
            listener.close()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.headers.get("Host", "") not in (f"127.0.0.1:{self._port}", f"localhost:{self._port}"):
            return _refused(421, "this is not the host that was asked for")
        if request.method not in ("GET", "HEAD"):
            return _refused(405, "only reading is passed on")
        first, slash, rest = request.path[1:].partition("/")
        if self._once and not slash and hmac.compare_digest(first.encode(), self._once.encode()):
            self._once = ""
            return web.Response(status=303, headers={**_HEADERS, "Location": f"/{self._secret}{PATH}"})
        if not hmac.compare_digest(first.encode(), self._secret.encode()):
            return _refused(404, "open the address that berth page printed")
        path = f"/{rest}"
        if path == PATH:
            return await serve_page(request)
        if not path.startswith(_API):
            return _refused(404, "there is nothing here")
        return await self._passed_on(request)

    async def _passed_on(self, request: web.BaseRequest) -> web.StreamResponse:
        # As it came, still quoted: what is a / in a name stays one.
        path = request.rel_url.raw_path.removeprefix(f"/{self._secret}")
        query = request.rel_url.raw_query_string
        known = request.headers.get("If-None-Match", "")
        try:
            answer = await self._requests.get(
                f"{path}?{query}" if query else path, known=known if _TAGS.fullmatch(known) else ""
            )
            packed = takes_gzip(request.headers.get("Accept-Encoding", ""))
            body, coding = (answer.body, answer.encoding) if packed else (unpacked(answer), "")
        except (ReachError, GarbledAnswerError) as problem:
            return _refused(502, str(problem))
        told = {"ETag": answer.etag, "Content-Encoding": coding}
        headers = {**_HEADERS, "Vary": "Accept-Encoding", **{name: value for name, value in told.items() if value}}
        if answer.status == 304:
            return web.Response(status=304, headers=headers)
        return web.Response(status=answer.status, body=body, content_type="application/json", headers=headers)


def _refused(status: int, what: str) -> web.Response:
    """A refusal in the form of the decisions API's."""
    body = msgspec.json.encode({"error": what, "code": "proxy"})
    return web.Response(status=status, body=body, content_type="application/json", headers=_HEADERS)


class Reconnecting:
    """Asks over a way to the scheduler that is made when it is needed, and anew after it has failed.

    `way` gives who asks, for as long as its context lasts.
    """

    def __init__(self, way: Callable[[], AbstractAsyncContextManager[Requests]]) -> None:
        self._way = way
        self._turn = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._requests: Requests | None = None

    async def get(self, path: str, *, known: str = "") -> Answer:
        """The answer to GET. Raises ReachError."""
        requests = await self._open()
        try:
            return await requests.get(path, known=known)
        except ReachError:
            await self._close(requests)
            raise

    async def close(self) -> None:
        """Give the way up."""
        await self._close(self._requests)

    async def _open(self) -> Requests:
        async with self._turn:
            if self._requests is None:
                self._requests = await self._stack.enter_async_context(self._way())
            return self._requests

    async def _close(self, requests: Requests | None) -> None:
        """Give up the way that `requests` took, unless there is another one by now."""
        async with self._turn:
            if requests is not None and requests is self._requests:
                self._requests = None
                await self._stack.aclose()
