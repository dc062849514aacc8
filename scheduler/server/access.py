"""Authentication and authorization of requests, in the order and with the outcomes of k8s.io/apiserver.

Client certificate, then bearer token, then anonymous; privileged groups, then paths open to all, then the API
server. Nobody to ask means no: with no authorizer only those groups and paths pass. What a front proxy
asserts in headers (--requestheader-*) is not taken over: such a request counts as the proxy's own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scheduler.server.identity import (
    ANONYMOUS,
    ANONYMOUS_NAME,
    AUTHENTICATED_GROUP,
    UNAUTHENTICATED_GROUP,
    AuthenticationError,
    Authorizer,
    Decision,
    TokenReviewer,
    User,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


class Authentication:
    """Finds out who sent a request. Without `tokens`, bearer tokens are not looked at."""

    def __init__(self, tokens: TokenReviewer | None) -> None:
        self._tokens = tokens

    async def user(self, certificate: Mapping[str, Any] | None, authorization: str) -> User:
        """The user of a verified client certificate (as `ssl.getpeercert` has it) or an Authorization header.

        Raises AuthenticationError for a token that is not valid or that could not be checked.
        """
        user = certificate_user(certificate)
        if user is None and self._tokens is not None:
            token = bearer_token(authorization)
            if token:
                user = await self._tokens.review_token(token)
                if user is None:
                    raise AuthenticationError("invalid bearer token")
        return ANONYMOUS if user is None else _with_group(user)


class Authorization:
    """Decides whether a request may go on.

    `paths` are open to everybody; one that ends in * is a prefix, a leading / may be left out. Raises
    ValueError for a * elsewhere.
    """

    def __init__(self, groups: Collection[str], paths: Iterable[str], delegate: Authorizer | None) -> None:
        self._groups = frozenset(groups)
        self._delegate = delegate
        self._paths: set[str] = set()
        self._prefixes: list[str] = []
        for path in paths:
            name = path.removeprefix("/")
            if "*" in name[:-1]:
                raise ValueError(f"--authorization-always-allow-paths: only trailing * allowed in {path!r}")
            if name.endswith("*"):
                self._prefixes.append(name[:-1])
            else:
                self._paths.add(name)

    async def decide(self, user: User, verb: str, path: str) -> Decision:
        """Whether `user` may `verb` `path`. Raises AuthorizationError if the API server could not say."""
        if not self._groups.isdisjoint(user.groups) or self._is_open(path):
            return Decision(allowed=True)
        if self._delegate is None:
            return Decision(allowed=False)
        return await self._delegate.authorize(user, verb, path)

    def _is_open(self, path: str) -> bool:
        name = path.removeprefix("/")
        return name in self._paths or any(name.startswith(prefix) for prefix in self._prefixes)


def certificate_user(certificate: Mapping[str, Any] | None) -> User | None:
    """Common name and organizations of a certificate's subject; None without a common name."""
    if not certificate:
        return None
    subject = [pair for names in certificate.get("subject", ()) for pair in names]
    names = [value for key, value in subject if key == "commonName"]
    groups = tuple(value for key, value in subject if key == "organizationName")
    return User(names[-1], groups) if names and names[-1] else None


def bearer_token(authorization: str) -> str:
    """The token in an Authorization header; "" if it has none."""
    scheme, _, rest = authorization.strip().partition(" ")
    return rest.split(" ", 1)[0] if scheme.lower() == "bearer" else ""


def _with_group(user: User) -> User:
    if user.name == ANONYMOUS_NAME or {AUTHENTICATED_GROUP, UNAUTHENTICATED_GROUP} & set(user.groups):
        return user
    return replace(user, groups=(*user.groups, AUTHENTICATED_GROUP))
