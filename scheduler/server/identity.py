"""Who is asking, and who decides whether they may."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

ANONYMOUS_NAME = "system:anonymous"
AUTHENTICATED_GROUP = "system:authenticated"
UNAUTHENTICATED_GROUP = "system:unauthenticated"


@dataclass(frozen=True, slots=True)
class User:
    """A user as authentication.k8s.io/v1 UserInfo has it."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)


ANONYMOUS = User(ANONYMOUS_NAME, (UNAUTHENTICATED_GROUP,))


class Decision(NamedTuple):
    """Whether a request may go on, and what the authorizer said about it."""

    allowed: bool
    reason: str = ""


class AuthenticationError(Exception):
    """Credentials are not valid or could not be checked: the request is answered with 401."""


class AuthorizationError(Exception):
    """It could not be found out whether the request is allowed: it is answered with 500."""


class TokenReviewer(Protocol):
    """Knows whom a bearer token stands for."""

    async def review_token(self, token: str) -> User | None:
        """The user of `token`; None if it is not valid. Raises AuthenticationError if nobody can say."""
        ...


class Authorizer(Protocol):
    """Knows who may do what."""

    async def authorize(self, user: User, verb: str, path: str) -> Decision:
        """Whether `user` may `verb` (get, post, …) `path`. Raises AuthorizationError if nobody can say."""
        ...
