"""Hearing of SchedulerProfiles by kopf, in this process: its event loop, its credentials, nothing but this resource.

kopf is imported here only, and only when there is something to watch. What is not wanted of it is off: it adds no
finalizers or annotations (handlers of raw events need none), knows no peers, posts no events, and scans the cluster for
resources once, by the API's discovery.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

import aiohttp

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    import kopf

    from scheduler.client.auth import Connection

log = logging.getLogger(__name__)

GROUP: Final = "berth.dev"
VERSION: Final = "v1alpha1"
KIND: Final = "SchedulerProfile"
PLURAL: Final = "schedulerprofiles"
PATH: Final = f"/apis/{GROUP}/{VERSION}/{PLURAL}"

_IDLE: Final = 180.0
"""Seconds of silence after which a watch is held to be dead; the API server sends a bookmark about every minute."""
_REQUEST_TIMEOUT: Final = 30.0
_STOP_TIME: Final = 2.0


async def watch_profiles(
    connection: Connection,
    heard: Callable[[str | None, Mapping[str, Any]], None],
    *,
    on_signals_taken: Callable[[], None],
) -> None:
    """Call `heard` with the type (None in the first list) and body of each event about a SchedulerProfile.

    Ends when kopf gives up: because the resource is gone, say, or may no longer be read. kopf takes SIGTERM and SIGINT
    for itself as it starts; `on_signals_taken` is called before any of them can be delivered, to take them back.
    """
    import kopf

    # What ends it is raised here as well, and told in one line instead of three tracebacks.
    logging.getLogger("kopf").setLevel(logging.CRITICAL)
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry)
    async def login(**_: Any) -> kopf.AiohttpSession:
        return kopf.AiohttpSession(server=connection.base_url, aiohttp_session=_session(connection))

    @kopf.on.event(GROUP, VERSION, PLURAL, registry=registry)
    async def event(type: str | None, body: kopf.Body, **_: Any) -> None:  # noqa: A002 (kopf's name for it)
        try:
            heard(type, dict(body))
        except Exception:
            # Told here, as kopf goes on with the next event, and its own log is silent.
            log.exception("An event about SchedulerProfile %s could not be dealt with", body.metadata.get("name"))

    tasks = await kopf.spawn_tasks(
        registry=registry, settings=_settings(kopf.OperatorSettings()), standalone=True, clusterwide=True
    )
    on_signals_taken()
    await _until_one_ends(tasks)


def _settings(settings: kopf.OperatorSettings) -> kopf.OperatorSettings:
    settings.posting.enabled = False
    settings.scanning.disabled = True
    settings.process.ultimate_exiting_timeout = None
    settings.watching.inactivity_timeout = _IDLE
    settings.watching.reconnect_backoff = 1.0
    settings.networking.request_timeout = _REQUEST_TIMEOUT
    return settings


def _session(connection: Connection) -> aiohttp.ClientSession:
    """A session with the scheduler's own credentials, asked for with each request; kopf closes it."""
    renew = False

    async def authorized(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
        nonlocal renew
        request.headers.update(await connection.authorize(renew=renew))
        request.server_hostname = connection.server_hostname
        answer = await handler(request)
        renew = answer.status == 401
        return answer

    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=connection.ssl or True),
        cookie_jar=aiohttp.DummyCookieJar(),
        middlewares=(authorized,),
        proxy=connection.proxy,
        trust_env=False,
    )


async def _until_one_ends(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Wait for the first of kopf's tasks to end, and end the others; raises what it failed with.

    This is what `kopf.run_tasks` does, but for cancelling every task of the loop that began after kopf: these are not
    all kopf's here.
    """
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=_STOP_TIME)
        problems = [task.exception() for task in tasks if task.done() and not task.cancelled()]
    for problem in problems:
        if problem is not None:
            raise problem
    log.debug("kopf ended: %s", ", ".join(task.get_name() for task in done))
