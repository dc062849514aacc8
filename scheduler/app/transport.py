"""The sessions that a scheduler process talks to the API server over, and what they count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from scheduler.app.problems import SettingsError
from scheduler.client.auth import AuthError, Connection, connect
from scheduler.client.http import Session

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from scheduler.app.settings import Settings
    from scheduler.metrics.component import ComponentMetrics
    from scheduler.metrics.instruments import CounterSeries, HistogramSeries


class RequestMetrics:
    """Counts requests in the metrics that client-go has for them."""

    def __init__(self, metrics: ComponentMetrics) -> None:
        self._metrics = metrics
        self._known: dict[tuple[str, str, str], tuple[CounterSeries, HistogramSeries]] = {}

    def request_done(self, *, method: str, host: str, code: str, seconds: float) -> None:
        """A request was answered, or failed."""
        series = self._known.get((code, method, host))
        if series is None:
            series = self._known[code, method, host] = self._metrics.request_series(code, method, host)
        results, durations = series
        results.inc()
        durations.observe(seconds)

    def request_throttled(self, *, method: str, host: str, seconds: float) -> None:
        """A request waited for the client's own limit, which has no metric here."""

    def request_retried(self, *, method: str, host: str, code: str) -> None:
        """A request is sent again."""
        self._metrics.request_retry(code, method, host)


class Transport(msgspec.Struct, frozen=True):
    """Sessions with a rate limit each, as kube-scheduler's clients have: one for objects and binds, one for events,
    one for the lease, whose renewals must not wait behind anything."""

    connection: Connection
    objects: Session
    events: Session
    lease: Session


async def find_cluster(kubeconfig: str, *, master: str = "", context: str = "") -> Connection:
    """Address and credentials of the API server. Raises SettingsError."""
    try:
        return await connect(kubeconfig or None, master=master, context=context or None)
    except AuthError as problem:
        raise SettingsError(str(problem)) from problem


async def open_transport(settings: Settings, metrics: ComponentMetrics, stack: AsyncExitStack) -> Transport:
    """The sessions, open until `stack` is closed. Raises SettingsError where credentials can't be used."""
    client = settings.config.client_connection
    connection = await find_cluster(client.kubeconfig, master=settings.options.master)
    observer = RequestMetrics(metrics)

    async def session() -> Session:
        opened = Session(connection, qps=client.qps, burst=client.burst, observer=observer)
        return await stack.enter_async_context(opened)

    return Transport(connection, await session(), await session(), await session())
