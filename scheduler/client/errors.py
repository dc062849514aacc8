"""What may go wrong between this process and the API server, as types that callers can tell apart."""

from __future__ import annotations

import msgspec

from scheduler.client.unstructured import generic_message

__all__ = [
    "ApiError",
    "BindConflictError",
    "BindError",
    "BindTimeoutError",
    "ConnectError",
    "PodGoneError",
    "StreamError",
    "TransportError",
]


class TransportError(Exception):
    """The request got no answer: whether the server acted on it is unknown."""


class ConnectError(TransportError):
    """No connection could be made: the request was certainly not sent."""


class StreamError(Exception):
    """A list or watch can't be read on, and must be begun anew from the last resource version."""


class ApiError(Exception):
    """The API server's refusal, from the ``Status`` object that it answered with.

    ``retry_after`` is in seconds, or None where the server did not ask to wait.
    """

    def __init__(
        self,
        status: int,
        reason: str = "",
        message: str = "",
        *,
        causes: tuple[str, ...] = (),
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message or f"the server answered with status {status} {reason}".rstrip())
        self.status = status
        self.reason = reason
        self.message = message
        self.causes = causes
        self.retry_after = retry_after

    @property
    def is_not_found(self) -> bool:
        """The object (or the resource itself) does not exist."""
        return self.status == 404

    @property
    def is_conflict(self) -> bool:
        """The write contradicts the present state (409, other than an object that exists already)."""
        return self.status == 409 and self.reason != "AlreadyExists"

    @property
    def is_replaced(self) -> bool:
        """The uid that was the write's precondition is not that of the object that has the name now."""
        return self.is_conflict and "uid" in self.message.lower() and "precondition" in self.message.lower()

    @property
    def already_exists(self) -> bool:
        """An object of this name exists already."""
        return self.status == 409 and self.reason == "AlreadyExists"

    @property
    def is_expired(self) -> bool:
        """The resource version or continue token is too old, or from a future that the server forgot."""
        return (
            self.status == 410
            or self.reason in ("Expired", "Gone")
            or "ResourceVersionTooLarge" in self.causes
            or "Too large resource version" in self.message
        )

    @property
    def outcome_unknown(self) -> bool:
        """A failure inside the server (5xx): the write may nevertheless have been done."""
        return self.status >= 500


class BindError(Exception):
    """A pod could not be bound. The subclasses say what is known about the pod."""


class PodGoneError(BindError):
    """The pod was deleted, or another one of its name has taken its place."""


class BindConflictError(BindError):
    """The pod can't be bound in its present state: it is bound elsewhere, being deleted, or gated."""


class BindTimeoutError(BindError):
    """The pod was seen unbound to the end, in spite of several attempts."""


class _Cause(msgspec.Struct):
    reason: str | None = ""
    message: str | None = ""


class _Details(msgspec.Struct, rename="camel"):
    retry_after_seconds: int | None = None
    causes: list[_Cause] | None = None


class _Status(msgspec.Struct):
    kind: str | None = ""
    code: int | None = 0
    reason: str | None = ""
    message: str | None = ""
    details: _Details | None = None


_decoder = msgspec.json.Decoder(_Status)


def error_from_status(
    body: bytes | msgspec.Raw, *, status: int = 0, retry_after: float | None = None, method: str = "", path: str = ""
) -> ApiError:
    """Read a ``Status`` body. Where there is none (but a proxy's page, say), the other arguments make the message.

    ``status`` is the HTTP status, zero where the body came as a line of a watch.
    """
    try:
        parsed = _decoder.decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        parsed = _Status()
    if parsed.kind != "Status":
        message = generic_message(status or 500, bytes(body), method, path)
        return ApiError(status or 500, "", message, retry_after=retry_after)
    details = parsed.details or _Details()
    if retry_after is None and details.retry_after_seconds:
        retry_after = float(details.retry_after_seconds)
    causes = tuple(text for cause in details.causes or () for text in (cause.reason, cause.message) if text)
    return ApiError(
        status or parsed.code or 500,
        parsed.reason or "",
        parsed.message or "",
        causes=causes,
        retry_after=retry_after,
    )
