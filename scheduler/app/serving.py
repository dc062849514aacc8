"""The HTTPS server of a scheduler process: what it shows, and whom it asks who may see it."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

import msgspec

from scheduler.app.problems import StartError
from scheduler.app.transport import find_cluster
from scheduler.client.http import Session
from scheduler.config.render import to_json_value
from scheduler.metrics.exposition import render
from scheduler.server.endpoints import Endpoints
from scheduler.server.explain import ROOT, ExplainApi
from scheduler.server.options import ServerOptions
from scheduler.server.page.handler import PATH as PAGE_PATH
from scheduler.server.page.handler import serve_page
from scheduler.server.reviews import KubernetesReviews, client_ca_of_cluster
from scheduler.server.secure import Access, SecureServer, ServerError
from scheduler.version import KUBERNETES_VERSION, __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AsyncExitStack

    from prometheus_client import CollectorRegistry

    from scheduler.app.settings import Settings
    from scheduler.config.options import Options
    from scheduler.config.types import KubeSchedulerConfiguration
    from scheduler.server.endpoints import Handler
    from scheduler.server.explain import Provider
    from scheduler.server.health import Check

log = logging.getLogger(__name__)


async def start_server(
    settings: Settings,
    stack: AsyncExitStack,
    *,
    registry: CollectorRegistry,
    resource_metrics: Callable[[], Iterable[bytes]],
    leads: Callable[[], bool],
    health: Sequence[Check],
    readiness: Sequence[Check],
    configuration: Callable[[], KubeSchedulerConfiguration] | None = None,
    decisions: Provider | None = None,
) -> SecureServer | None:
    """Begin to serve; None if --secure-port is 0. Raises StartError (SettingsError for bad credentials).

    `configuration` is what is in force, where that may change. Without `decisions` there are neither the decisions API
    nor the page, which shows what the API knows.
    """
    if settings.options.secure_port == 0:
        return None
    endpoints = Endpoints(
        metrics=lambda: render(registry),
        resource_metrics=resource_metrics,
        leading=leads,
        configuration=lambda: to_json_value(settings.config if configuration is None else configuration()),
        flags=lambda: flag_values(settings.options),
        version=__version__,
        kubernetes_version=KUBERNETES_VERSION,
        healthz=health,
        readyz=readiness,
        extra={} if decisions is None else _explaining(decisions),
    )
    try:
        server = SecureServer(server_options(settings), endpoints, await _access(settings.options, stack))
        await server.start()
    except (ServerError, ValueError) as problem:
        raise StartError(str(problem)) from problem
    return server


def _explaining(decisions: Provider) -> Mapping[str, Handler]:
    """What shows decisions, by path."""
    return {f"{ROOT}/*": ExplainApi(decisions, version=__version__).handle, PAGE_PATH: serve_page}


def server_options(settings: Settings) -> ServerOptions:
    """The flags that concern the server."""
    common = set(ServerOptions.__dataclass_fields__) & set(settings.options.__struct_fields__)
    values: dict[str, Any] = {name: getattr(settings.options, name) for name in common}
    return ServerOptions(profiling=settings.config.enable_profiling, **values)


def flag_values(options: Options) -> Mapping[str, str]:
    """All flags with their values as texts, for /flagz."""
    values = {name: getattr(options, name) for name in options.__struct_fields__ if name != "ignored"}
    values["feature_gates"] = [f"{name}={str(on).lower()}" for name, on in options.feature_gates.explicit.items()]
    return {name.replace("_", "-"): _text(value) for name, value in values.items()}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


async def _access(options: Options, stack: AsyncExitStack) -> Access:
    """The API server as the judge of requests: by the given kubeconfigs, or the one that the process runs in."""
    authentication = await _reviewer("authentication", options.authentication_kubeconfig, stack)
    authorization = await _reviewer("authorization", options.authorization_kubeconfig, stack)
    tokens = cluster_client_ca = authorizer = None
    if authentication is not None:
        tokens = KubernetesReviews(_poster(authentication), token_ttl=options.authentication_token_webhook_cache_ttl)
        cluster_client_ca = client_ca_of_cluster(_getter(authentication))
    if authorization is not None:
        authorizer = KubernetesReviews(
            _poster(authorization),
            authorized_ttl=options.authorization_webhook_cache_authorized_ttl,
            unauthorized_ttl=options.authorization_webhook_cache_unauthorized_ttl,
        )
    return Access(tokens=tokens, authorizer=authorizer, cluster_client_ca=cluster_client_ca)


async def _reviewer(what: str, kubeconfig: str, stack: AsyncExitStack) -> Session | None:
    if not kubeconfig and not os.environ.get("KUBERNETES_SERVICE_HOST"):
        log.warning("no --%s-kubeconfig: only paths that are open to all can be read", what)
        return None
    # Whoever can reach the port makes us ask, so these requests must not use up the limit of the others.
    return await stack.enter_async_context(Session(await find_cluster(kubeconfig), qps=0))


def _poster(session: Session) -> Any:
    async def post(path: str, body: Mapping[str, Any]) -> Any:
        return msgspec.json.decode(await session.request("POST", path, body=msgspec.json.encode(body)))

    return post


def _getter(session: Session) -> Any:
    async def get(path: str) -> Any:
        return msgspec.json.decode(await session.request("GET", path, within=10.0))

    return get
