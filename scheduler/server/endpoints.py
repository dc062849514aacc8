"""What is served at which path, given where it comes from."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from aiohttp import web

from scheduler.metrics.exposition import CONTENT_TYPE, render
from scheduler.metrics.healthchecks import HealthcheckMetrics
from scheduler.server import pages, responses
from scheduler.server.health import Check, HealthEndpoint, Outcome
from scheduler.server.identity import User

_log = logging.getLogger(__name__)

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

READ_METHODS = ("GET", "HEAD")
USER = web.RequestKey("user", User)
"""Where a handler finds who sent the request."""


def _nothing() -> Iterable[bytes]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """Sources of what the server shows; callables are asked at each request.

    `resource_metrics` is asked on the leader only; its text comes in pieces, between which other work runs.
    `extra` adds handlers at further paths, for reading and under the same access control; a path that ends in "/*"
    stands for everything below it that has no handler of its own.
    """

    metrics: Callable[[], bytes]
    resource_metrics: Callable[[], Iterable[bytes]] = _nothing
    leading: Callable[[], bool] = bool
    configuration: Callable[[], Mapping[str, Any]] = dict
    flags: Callable[[], Mapping[str, str]] = dict
    version: str = ""
    kubernetes_version: str = ""
    healthz: Sequence[Check] = ()
    livez: Sequence[Check] = ()
    readyz: Sequence[Check] = ()
    extra: Mapping[str, Handler] = field(default_factory=dict)


def handlers(endpoints: Endpoints, component: str, *, profiling: bool) -> dict[str, Handler]:
    """All handlers by exact path (cmd/kube-scheduler/app/server.go, newEndpointsHandler)."""
    started = time.time()
    results = HealthcheckMetrics()
    table: dict[str, Handler] = {}
    for name, checks in (
        ("healthz", endpoints.healthz),
        ("livez", endpoints.livez),
        ("readyz", endpoints.readyz),
    ):
        table.update(_health(HealthEndpoint(name, checks, results.record)))
    table["/metrics"] = _fixed(lambda: responses.metrics(endpoints.metrics()))
    table["/metrics/resources"] = _resources(endpoints)
    table["/metrics/slis"] = _fixed(lambda: responses.metrics(render(results.registry)))
    table["/configz"] = _fixed(lambda: responses.json_bytes(pages.configz(endpoints.configuration())))
    table["/flagz"] = _fixed(lambda: responses.plain(pages.flagz(component, endpoints.flags())))
    if profiling:
        table["/debug/tasks"] = _fixed(lambda: responses.plain(pages.tasks()))
    table.update(endpoints.extra)

    def status() -> web.Response:
        text = pages.statusz(
            component,
            version=endpoints.version,
            kubernetes_version=endpoints.kubernetes_version,
            started=started,
            paths=table,
        )
        return responses.plain(text)

    table["/statusz"] = _fixed(status)
    return table


def find(table: Mapping[str, Handler], path: str) -> Handler | None:
    """The handler of exactly this path, else of the nearest folder above it."""
    handler = table.get(path)
    while handler is None and path:
        path = path.rpartition("/")[0]
        handler = table.get(f"{path}/*")
    return handler


def _fixed(answer: Callable[[], web.Response]) -> Handler:
    async def handle(_request: web.BaseRequest) -> web.StreamResponse:
        return answer()

    return handle


def _health(endpoint: HealthEndpoint) -> Iterable[tuple[str, Handler]]:
    async def handle_all(request: web.BaseRequest) -> web.StreamResponse:
        excluded = frozenset(request.query.getall("exclude", ()))
        return _outcome(endpoint.all(verbose="verbose" in request.query, excluded=excluded))

    yield f"/{endpoint.name}", handle_all
    for check in endpoint.checks:
        yield f"/{endpoint.name}/{check.name}", _fixed(partial(_one, endpoint, check))


def _one(endpoint: HealthEndpoint, check: Check) -> web.Response:
    return _outcome(endpoint.one(check))


def _outcome(outcome: Outcome) -> web.Response:
    return responses.plain(outcome.text, 200 if outcome.healthy else 500)


def _resources(endpoints: Endpoints) -> Handler:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if not endpoints.leading():
            return web.Response(headers=responses.HEADERS)
        answer = web.StreamResponse(headers={**responses.HEADERS, "Content-Type": CONTENT_TYPE})
        await answer.prepare(request)
        try:
            for piece in endpoints.resource_metrics():
                await answer.write(piece)
                await asyncio.sleep(0)
        except ConnectionError:
            raise
        except Exception as error:
            # The status is sent: only a connection that breaks off tells the client that this is not all.
            _log.exception("%s failed", request.path)
            if request.transport is not None:
                request.transport.abort()
            raise ConnectionAbortedError("the answer broke off") from error
        await answer.write_eof()
        return answer

    return handle
