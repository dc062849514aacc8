"""The page with the decisions API of a made-up cluster, on loopback."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import msgspec
from aiohttp import web

from e2e.page.data import World
from scheduler.explain.views import SummaryPage
from scheduler.server.page.handler import PATH, serve_page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

API = "/explain/v1/"


class Api:
    """Answers as the scheduler does. `asked` are the paths that were asked for, with the status that they got."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.asked: list[tuple[str, int]] = []
        self.broken = False

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Any request."""
        if request.path == PATH:
            return await serve_page(request)
        if not request.path.startswith(API):
            return web.Response(status=404)
        if self.broken:
            return self._noted(request, web.Response(status=503))
        view = self._view([unquote(part) for part in request.rel_url.raw_path[len(API) :].split("/")], request.query)
        if view is None:
            return self._noted(
                request, web.json_response({"error": "there is no such thing", "code": "unknown"}, status=404)
            )
        body = msgspec.json.encode(view)
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        if request.headers.get("If-None-Match") == tag:
            return self._noted(request, web.Response(status=304, headers={"ETag": tag}))
        return self._noted(request, web.Response(body=body, content_type="application/json", headers={"ETag": tag}))

    def _noted(self, request: web.BaseRequest, answer: web.Response) -> web.Response:
        self.asked.append((request.path_qs.removeprefix(API), answer.status))
        return answer

    def _view(self, parts: list[str], query: Any) -> Any:
        world = self.world
        match parts:
            case ["overview"]:
                return world.overview()
            case ["pending"]:
                return world.pending()
            case ["nodes"]:
                return world.view
            case ["nodes", name]:
                return world.node(name)
            case ["search"]:
                return world.find(query["text"], int(query["limit"]))
            case ["decisions"]:
                return self._page(query)
            case ["decisions", number] if number.isdigit():
                return world.decision(int(number))
            case ["pods", namespace, name]:
                return world.pod(namespace, name)
            case ["pods", namespace, name, "evaluation"]:
                return world.evaluation(namespace, name)
        return None

    def _page(self, query: Any) -> SummaryPage:
        before = int(query.get("before", 1 << 60))
        found = [
            item
            for item in reversed(self.world.summaries)
            if item.id < before
            and query.get("pod") in (None, item.pod)
            and query.get("namespace") in (None, item.pod.partition("/")[0])
            and query.get("node") in (None, item.node)
            and query.get("result") in (None, item.result)
        ]
        items = tuple(found[: int(query.get("limit", 100))])
        return SummaryPage(items=items, before=items[-1].id if len(items) < len(found) else None)


@contextlib.asynccontextmanager
async def serving(api: Api, port: int = 0) -> AsyncIterator[str]:
    """Serve until the end; the address of the page."""
    runner = web.ServerRunner(web.Server(api.handle, access_log=None), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}{PATH}"
    finally:
        await runner.cleanup()


async def _main(port: int, nodes: int) -> None:
    api = Api(World(nodes=nodes, pods=nodes * 10))
    async with serving(api, port) as address:
        print(address, flush=True)
        while True:
            await asyncio.sleep(1)
            api.world.decide()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serve the page with a made-up cluster.")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--nodes", type=int, default=5000)
    given = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main(given.port, given.nodes))
