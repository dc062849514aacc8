"""Token and access reviews by the API server, with their answers kept for a while.

Requests and semantics of k8s.io/apiserver/plugin/pkg/authenticator/token/webhook and .../authorizer/webhook.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Any, Generic, TypeVar

import msgspec

from scheduler.server.identity import AuthenticationError, AuthorizationError, Decision, User
from scheduler.server.options import CONFIG_MAP_NAME, CONFIG_MAP_NAMESPACE

Post = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
Get = Callable[[str], Awaitable[Any]]
Answer = TypeVar("Answer")

TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
CONFIG_MAP = f"/api/v1/namespaces/{CONFIG_MAP_NAMESPACE}/configmaps/{CONFIG_MAP_NAME}"


class _UserInfo(msgspec.Struct):
    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] | None = None
    extra: dict[str, tuple[str, ...]] | None = None


class _TokenStatus(msgspec.Struct):
    authenticated: bool = False
    user: _UserInfo = msgspec.field(default_factory=_UserInfo)
    error: str = ""


class _AccessStatus(msgspec.Struct):
    allowed: bool = False
    denied: bool = False
    reason: str = ""


class _TokenReview(msgspec.Struct):
    status: _TokenStatus = msgspec.field(default_factory=_TokenStatus)


class _AccessReview(msgspec.Struct):
    status: _AccessStatus = msgspec.field(default_factory=_AccessStatus)


class _ConfigMap(msgspec.Struct):
    data: dict[str, str] | None = None


class TtlCache(Generic[Answer]):
    """Answers that are good for a time, at most `size` of them; the oldest makes room."""

    def __init__(self, *, size: int = 4096, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._clock = clock
        self._entries: dict[Hashable, tuple[float, Answer]] = {}

    def get(self, key: Hashable) -> Answer | None:
        """The answer for `key` unless there is none or it is too old."""
        entry = self._entries.get(key)
        if entry is None or entry[0] <= self._clock():
            self._entries.pop(key, None)
            return None
        return entry[1]

    def put(self, key: Hashable, answer: Answer, ttl: float) -> None:
        """Keep `answer` for `ttl` seconds."""
        if ttl <= 0:
            return
        self._entries.pop(key, None)
        if len(self._entries) >= self._size:
            del self._entries[next(iter(self._entries))]
        self._entries[key] = (self._clock() + ttl, answer)


class _Rejected:
    """What the cache holds for a token that is not valid."""


class KubernetesReviews:
    """A TokenReviewer and Authorizer that asks the API server.

    `post(path, body)` creates an object and gives the answer decoded from JSON. Whoever reaches the port can
    make this process ask, so no more than `in_flight` reviews run at a time.
    """

    def __init__(
        self,
        post: Post,
        *,
        token_ttl: float = 10.0,
        authorized_ttl: float = 10.0,
        unauthorized_ttl: float = 10.0,
        timeout: float = 10.0,
        in_flight: int = 8,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._post = post
        self._token_ttl = token_ttl
        self._decision_ttl = {True: authorized_ttl, False: unauthorized_ttl}
        self._timeout = timeout
        self._slots = asyncio.Semaphore(in_flight)
        self._token_key = secrets.token_bytes(32)
        self._users: TtlCache[User | _Rejected] = TtlCache(clock=clock)
        self._decisions: TtlCache[Decision] = TtlCache(clock=clock)

    async def review_token(self, token: str) -> User | None:
        """The user whom the API server takes `token` for; None if it does not know the token."""
        key = hashlib.blake2b(token.encode(errors="surrogateescape"), key=self._token_key).digest()
        known = self._users.get(key)
        if known is None:
            known = await self._ask_whose(token)
            self._users.put(key, known, self._token_ttl)
        return known if isinstance(known, User) else None

    async def authorize(self, user: User, verb: str, path: str) -> Decision:
        """Whether the API server lets `user` use `verb` on the non-resource `path`."""
        extra = tuple(sorted((name, tuple(values)) for name, values in user.extra.items()))
        key = (user.name, user.uid, user.groups, extra, verb, path)
        decision = self._decisions.get(key)
        if decision is None:
            decision = await self._ask_whether(user, verb, path)
            self._decisions.put(key, decision, self._decision_ttl[decision.allowed])
        return decision

    async def _ask_whose(self, token: str) -> User | _Rejected:
        try:
            body = _review("authentication.k8s.io/v1", "TokenReview", {"token": token})
            status = msgspec.convert(await self._asked(TOKEN_REVIEWS, body), _TokenReview).status
        except Exception as error:
            raise AuthenticationError(f"token review failed: {_text(error)}") from error
        if not status.authenticated:
            return _Rejected()
        user = status.user
        return User(user.username, user.groups or (), user.uid, user.extra or {})

    async def _ask_whether(self, user: User, verb: str, path: str) -> Decision:
        spec: dict[str, Any] = {"user": user.name, "nonResourceAttributes": {"path": path, "verb": verb}}
        if user.groups:
            spec["groups"] = list(user.groups)
        if user.uid:
            spec["uid"] = user.uid
        if user.extra:
            spec["extra"] = {name: list(values) for name, values in user.extra.items()}
        try:
            body = _review("authorization.k8s.io/v1", "SubjectAccessReview", spec)
            status = msgspec.convert(await self._asked(ACCESS_REVIEWS, body), _AccessReview).status
        except Exception as error:
            raise AuthorizationError(f"access review failed: {_text(error)}") from error
        if status.allowed and status.denied:
            raise AuthorizationError("access review failed: both allowed and denied")
        return Decision(status.allowed, status.reason)

    async def _asked(self, path: str, body: Mapping[str, Any]) -> Any:
        async with asyncio.timeout(self._timeout), self._slots:
            return await self._post(path, body)


def client_ca_of_cluster(get: Get) -> Callable[[], Awaitable[str]]:
    """A reader of the certificates (PEM) that the API server takes client certificates from.

    They are published in the ConfigMap kube-system/extension-apiserver-authentication; `get(path)` gives an
    object decoded from JSON. The reader gives "" if the cluster has none, and raises what `get` raises.
    """

    async def read() -> str:
        config = msgspec.convert(await get(CONFIG_MAP), _ConfigMap)
        return (config.data or {}).get("client-ca-file", "")

    return read


def _review(version: str, kind: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "spec": spec}


def _text(error: Exception) -> str:
    return str(error) or type(error).__name__
