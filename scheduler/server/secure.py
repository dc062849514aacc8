"""The HTTPS server of the process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiohttp import web

from scheduler.server import responses
from scheduler.server.access import Authentication, Authorization
from scheduler.server.endpoints import READ_METHODS, USER, Endpoints, find, handlers
from scheduler.server.identity import AuthenticationError, AuthorizationError, Authorizer, TokenReviewer
from scheduler.server.tls import ServingContext, TLSError, read_client_ca

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scheduler.server.options import ServerOptions

_log = logging.getLogger(__name__)


class ServerError(Exception):
    """The server can't start; says what to change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Whom to ask about requests. With nobody, only paths and groups that are always allowed pass.

    `cluster_client_ca` reads the authorities (PEM) that the cluster accepts client certificates from.
    """

    tokens: TokenReviewer | None = None
    authorizer: Authorizer | None = None
    cluster_client_ca: Callable[[], Awaitable[str]] | None = None


class SecureServer:
    """Serves `endpoints` over HTTPS (HTTP/1.1) from `start` until `stop`.

    Raises ValueError for options that contradict themselves. `listen` replaces address and port by a socket
    that the caller has bound.
    """

    def __init__(
        self,
        options: ServerOptions,
        endpoints: Endpoints,
        access: Access | None = None,
        *,
        listen: socket.socket | None = None,
    ) -> None:
        access = access or Access()
        self._options = options
        self._listen = listen
        self._authentication = Authentication(access.tokens)
        self._authorization = Authorization(
            options.authorization_always_allow_groups,
            options.authorization_always_allow_paths,
            access.authorizer,
        )
        self._cluster_client_ca = None if options.authentication_skip_lookup else access.cluster_client_ca
        self._handlers = handlers(endpoints, options.component, profiling=options.profiling)
        self._runner: web.ServerRunner | None = None
        self._reloader: asyncio.Task[None] | None = None
        self._socket: socket.socket | None = None
        self._client_ca = ""
        self._tls: ServingContext | None = None

    @property
    def certificate(self) -> bytes:
        """The certificate (DER) that new connections get; empty while there are none."""
        return b"" if self._tls is None else self._tls.certificate

    @property
    def port(self) -> int | None:
        """The port that is listened on; None while there is none."""
        return None if self._socket is None else int(self._socket.getsockname()[1])

    async def start(self) -> None:
        """Read certificates and authorities and begin to serve. Does nothing if `secure_port` is 0.

        Raises ServerError if a certificate can't be used, the port can't be had or, unless that is tolerated,
        the cluster's authorities can't be read.
        """
        options = self._options
        if options.secure_port == 0 and self._listen is None:
            return
        self._client_ca = await self._first_client_ca()
        asks = bool(options.client_ca_file) or self._cluster_client_ca is not None
        try:
            tls = self._tls = ServingContext(options, self._client_ca, asks_certificate=asks)
        except TLSError as error:
            raise ServerError(str(error)) from error
        self._socket = self._listen or self._bound()
        self._runner = web.ServerRunner(
            web.Server(self._handle, access_log=None), shutdown_timeout=options.shutdown_timeout
        )
        await self._runner.setup()
        await web.SockSite(self._runner, self._socket, ssl_context=tls.context).start()
        self._reloader = asyncio.create_task(self._reload(tls), name="server: certificate reload")
        _log.info("serving securely on %s:%d", options.bind_address, self.port)

    async def stop(self) -> None:
        """Stop listening and let requests finish, `shutdown_timeout` seconds at most."""
        if self._reloader is not None:
            self._reloader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reloader
            self._reloader = None
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        self._socket = None

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        # The same string is authorized and looked up, so no spelling of a path can pass for another.
        verb = request.method.lower()
        try:
            user = await self._authentication.user(
                request.get_extra_info("peercert"), request.headers.get("Authorization", "")
            )
        except AuthenticationError as error:
            _log.warning("unable to authenticate a request to %s: %s", request.path, error)
            return responses.unauthorized(request)
        try:
            decision = await self._authorization.decide(user, verb, request.path)
        except AuthorizationError as error:
            _log.warning("unable to authorize %s to %s %s: %s", user.name, verb, request.path, error)
            return responses.internal_error(request, str(error))
        if not decision.allowed:
            return responses.forbidden(request, user, verb, decision.reason)
        request[USER] = user
        return await self._answer(request)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        handler = find(self._handlers, request.path)
        if handler is None:
            return responses.not_found()
        if request.method not in READ_METHODS:
            return responses.method_not_allowed(", ".join(READ_METHODS))
        try:
            return await handler(request)
        except (web.HTTPException, ConnectionError):
            raise
        except Exception as error:
            _log.exception("%s %s failed", request.method, request.path)
            return responses.internal_error(request, str(error) or type(error).__name__)

    def _bound(self) -> socket.socket:
        options = self._options
        family = socket.AF_INET6 if ":" in options.bind_address else socket.AF_INET
        bound = socket.socket(family, socket.SOCK_STREAM)
        try:
            # Go sets this on every listener: it only lifts the wait after a previous process's connections.
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if options.permit_port_sharing:
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            if options.bind_address == "::":
                bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            bound.bind((options.bind_address, options.secure_port))
        except OSError as error:
            bound.close()
            where = f"--bind-address {options.bind_address} --secure-port {options.secure_port}"
            raise ServerError(f"{where}: can't listen there: {error.strerror or error}") from error
        return bound

    async def _first_client_ca(self) -> str:
        try:
            return await self._read_client_ca()
        except TLSError as error:
            raise ServerError(str(error)) from error
        except Exception as error:
            what = f"can't read the cluster's client CA: {str(error) or type(error).__name__}"
            if not self._options.authentication_tolerate_lookup_failure:
                hint = "--authentication-tolerate-lookup-failure or --authentication-skip-lookup go without"
                raise ServerError(f"{what}; {hint}") from error
            _log.warning("%s; client certificates are not accepted until it can be read", what)
            return ""

    async def _read_client_ca(self) -> str:
        if self._options.client_ca_file:
            return read_client_ca(self._options.client_ca_file)
        return "" if self._cluster_client_ca is None else await self._cluster_client_ca()

    async def _reload(self, tls: ServingContext) -> None:
        while True:
            await asyncio.sleep(self._options.reload_interval)
            try:
                self._client_ca = await self._read_client_ca()
            except Exception as error:
                _log.warning("keeping the known client CA: %s", error)
            try:
                if tls.reload(self._client_ca):
                    _log.info("certificates reloaded")
            except TLSError as error:
                _log.warning("keeping the certificates in use: %s", error)
