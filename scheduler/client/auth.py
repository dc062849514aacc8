"""Where the API server is and what proves who we are: kubeconfig files and service accounts.

The formats (contexts, inline data, exec plugins, OIDC) are read by ``kubernetes_asyncio``, which is imported only when
a connection is made, and only in part (``kubeconfig``).
"""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from scheduler.client.kubeconfig import loaders

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from ssl import SSLContext

__all__ = ["AuthError", "Authorize", "Connection", "connect", "in_cluster", "no_credentials"]

log = logging.getLogger(__name__)

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
#: Seconds until a token file is read again, as in client-go (transport/token_source.go).
_TOKEN_PERIOD = 60.0


class AuthError(Exception):
    """No usable credentials. The message says which file or variable is wrong."""


class Authorize(Protocol):
    """Gives the headers that prove who we are; ``renew`` after they were refused, to get fresh ones."""

    async def __call__(self, *, renew: bool = False) -> Mapping[str, str]:
        """Headers for the next request."""


def _fixed(headers: dict[str, str]) -> Authorize:
    async def authorize(*, renew: bool = False) -> Mapping[str, str]:  # noqa: ARG001 (nothing to renew)
        return headers

    return authorize


#: No header: the connection's client certificate, or nothing, says who we are.
no_credentials: Authorize = _fixed({})


@dataclass(frozen=True, slots=True)
class Connection:
    """An API server: ``base_url`` without a trailing slash, TLS (None for plain HTTP), credentials, proxy.

    ``multiplexed`` is the same TLS where it may offer the server HTTP/2, None where it must not.
    ``client_certificate``: the files of the certificate that ``ssl`` shows, and of its key. ``namespace``: the one that
    is meant where none is given, "" where nothing says so.
    """

    base_url: str
    ssl: ssl.SSLContext | None = None
    authorize: Authorize = no_credentials
    proxy: str | None = None
    server_hostname: str | None = None
    multiplexed: SSLContext | None = None
    client_certificate: tuple[str, str | None] | None = None
    namespace: str = ""


@dataclass(slots=True)
class _FileToken:
    """A bearer token in a file that is rewritten now and then, as projected service account tokens are."""

    path: Path
    clock: Callable[[], float]
    _header: dict[str, str] = field(default_factory=dict)
    _read_at: float = float("-inf")

    async def __call__(self, *, renew: bool = False) -> Mapping[str, str]:
        now = self.clock()
        if renew or now - self._read_at >= _TOKEN_PERIOD:
            self.read()
            self._read_at = now
        return self._header

    def read(self) -> None:
        """Read the file; while it can't be read, an older token stays in use."""
        try:
            token = self.path.read_text().strip()
        except OSError as error:
            token, problem = "", str(error)
        else:
            problem = "the file is empty"
        if token:
            self._header = {"Authorization": f"Bearer {token}"}
        elif self._header:
            log.warning("token file %s can't be read, the last token stays in use: %s", self.path, problem)
        else:
            raise AuthError(f"token file {self.path} can't be read: {problem}")


class _LoaderToken:
    """A token that kubernetes_asyncio's loader gets from an exec plugin or an identity provider."""

    def __init__(self, loader: Any, tls: Sequence[ssl.SSLContext], clock: Callable[[], float], *, plugin: bool) -> None:
        self._clock = clock
        self._loader = loader
        self._tls = tls
        self._plugin = plugin
        self._lock = asyncio.Lock()
        self._checked = self._clock()

    async def __call__(self, *, renew: bool = False) -> Mapping[str, str]:
        asked = self._clock()
        if renew or (self._may_expire() and asked - self._checked >= _TOKEN_PERIOD):
            async with self._lock:
                if self._checked < asked:  # else somebody has just done it, while we waited for the lock
                    await self._load(renew=renew)
        token = getattr(self._loader, "token", None)
        return {"Authorization": token} if token else {}

    def _may_expire(self) -> bool:
        return not self._plugin or hasattr(self._loader, "exec_plugin_expiry")

    async def _load(self, *, renew: bool) -> None:
        loader = self._loader
        try:
            if renew and hasattr(loader, "exec_plugin_expiry"):
                del loader.exec_plugin_expiry  # the loader asks the plugin again only after this time
            await loader._load_authentication()
            if self._plugin and getattr(loader, "cert_file", None):
                for tls in self._tls:
                    tls.load_cert_chain(loader.cert_file, loader.key_file)
        except Exception as error:  # a plugin may fail in any way; the old token may still do
            log.warning("credentials can't be renewed: %s", error)
        self._checked = self._clock()


async def connect(
    kubeconfig: str | None = None,
    *,
    context: str | None = None,
    master: str = "",
    clock: Callable[[], float] = time.monotonic,
) -> Connection:
    """Find the API server and credentials.

    In this order: ``kubeconfig``; the service account of the pod that we run in; the files in $KUBECONFIG;
    ~/.kube/config. ``master`` replaces the address. ``clock`` (seconds) tells when to read tokens again.
    Raises AuthError.
    """
    if kubeconfig:
        return await _from_kubeconfig(kubeconfig, context, master, clock)
    if os.environ.get("KUBERNETES_SERVICE_HOST"):
        return in_cluster(master=master, clock=clock)
    path = os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")
    return await _from_kubeconfig(path, context, master, clock)


def in_cluster(
    *, master: str = "", account: Path = _SERVICE_ACCOUNT, clock: Callable[[], float] = time.monotonic
) -> Connection:
    """The connection of a pod, from its environment and its service account's files. Raises AuthError."""
    config, configuration = loaders()
    found = configuration()
    token = account / "token"
    try:
        load = config.load_incluster_config
        load(found, try_refresh_token=False, token_filename=str(token), cert_filename=str(account / "ca.crt"))
    except (config.ConfigException, OSError) as error:
        raise AuthError(f"in-cluster configuration: {error}") from error
    base = (master or found.host or "").rstrip("/")
    return Connection(base, _tls(base, found), _FileToken(token, clock), multiplexed=_multiplexed(base, found))


def _there(paths: str) -> bool:
    """Whether any of the files exists; kubectl passes over those that don't."""
    return any(Path(part).is_file() for part in paths.split(os.pathsep))


async def _from_kubeconfig(path: str, context: str | None, master: str, clock: Callable[[], float]) -> Connection:
    if not _there(path):
        raise AuthError(f"kubeconfig {path}: there is no such file; name one with --kubeconfig or in $KUBECONFIG")
    config, configuration = loaders()
    found = configuration()
    try:
        loader = await config.load_kube_config(path, context, found, persist_config=False)
    except Exception as error:  # the loader raises whatever the file makes it stumble over
        raise AuthError(f"kubeconfig {path}: {_plain(error)}") from error
    base = (master or found.host or "").rstrip("/")
    tls, multiplexed = _tls(base, found), _multiplexed(base, found)
    shown = (found.cert_file, found.key_file or None) if found.cert_file else None
    return Connection(
        base,
        tls,
        _authorization(loader, [context for context in (tls, multiplexed) if context is not None], clock),
        found.proxy or None,
        found.tls_server_name or None,
        multiplexed,
        shown,
        ((loader.current_context or {}).get("context") or {}).get("namespace") or "",
    )


def _authorization(loader: Any, tls: Sequence[ssl.SSLContext], clock: Callable[[], float]) -> Authorize:
    user = loader._user
    if user is None:
        return no_credentials
    if "exec" in user:
        return _LoaderToken(loader, tls, clock, plugin=True)
    if loader.provider:
        return _LoaderToken(loader, tls, clock, plugin=False)
    if "tokenFile" in user:
        base = Path(user.path).resolve().parent if user.path else Path()
        return _FileToken(base / user["tokenFile"], clock)
    token = getattr(loader, "token", None)
    return _fixed({"Authorization": token}) if token else no_credentials


def _tls(base: str, found: Any) -> ssl.SSLContext | None:
    if not base.startswith("https"):
        return None
    try:
        tls = ssl.create_default_context(cafile=found.ssl_ca_cert)
        if found.cert_file:
            tls.load_cert_chain(found.cert_file, found.key_file)
    except (OSError, ssl.SSLError) as error:
        raise AuthError(f"certificates for {base}: {_plain(error)}") from error
    # Newer Pythons refuse certificates without key identifiers, which cluster authorities often leave out.
    tls.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not found.verify_ssl:
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
    return tls


def _multiplexed(base: str, found: Any) -> ssl.SSLContext | None:
    """The same TLS, offering HTTP/2; a context of its own, since what is offered belongs to the context."""
    tls = _tls(base, found)
    if tls is not None:
        tls.set_alpn_protocols(["h2", "http/1.1"])
    return tls


def _plain(error: BaseException) -> str:
    return str(error) or type(error).__name__
