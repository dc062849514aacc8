"""Answers as k8s.io/apiserver gives them: plain texts and metav1.Status errors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from aiohttp import web

from scheduler.metrics.exposition import CONTENT_TYPE as METRICS_TYPE

if TYPE_CHECKING:
    from scheduler.server.identity import User

HEADERS = {"Cache-Control": "no-cache, private"}
_NO_SNIFF = {**HEADERS, "X-Content-Type-Options": "nosniff"}
_FOR_PEOPLE = ("curl", "Wget", "Mozilla/5.0")
# An error must not look like HTML (responsewriters/errors.go).
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def plain(text: str, status: int = 200) -> web.Response:
    """A text for people."""
    return web.Response(text=text, status=status, headers=_NO_SNIFF)


def json_bytes(body: bytes) -> web.Response:
    """A document that is encoded already."""
    return web.Response(body=body, headers={**_NO_SNIFF, "Content-Type": "application/json"})


def metrics(body: bytes) -> web.Response:
    """A scrape in the Prometheus text format."""
    return web.Response(body=body, headers={**HEADERS, "Content-Type": METRICS_TYPE})


def not_found() -> web.Response:
    """There is nothing at this path."""
    return plain("404 page not found\n", 404)


def method_not_allowed(allowed: str) -> web.Response:
    """The path exists, but not for this method."""
    answer = plain("Method Not Allowed\n", 405)
    answer.headers["Allow"] = allowed
    return answer


def unauthorized(request: web.BaseRequest) -> web.Response:
    """The credentials are not valid."""
    return _failure(request, 401, {"message": "Unauthorized", "reason": "Unauthorized"})


def forbidden(request: web.BaseRequest, user: User, verb: str, reason: str) -> web.Response:
    """The user may not do this; `reason` is the authorizer's, if it gave one."""
    message = f"User {_quoted(user.name)} cannot {verb} path {_quoted(request.path)}".translate(_MARKUP)
    if reason:
        message = f"{message}: {reason}"
    return _failure(request, 403, {"message": f"forbidden: {message}", "reason": "Forbidden", "details": {}})


def internal_error(request: web.BaseRequest, what: str) -> web.Response:
    """Something failed that is not the client's fault."""
    text = f"Internal Server Error: {_quoted(request.path_qs)}: {what}".translate(_MARKUP)
    return plain(f"{text}\n", 500)


def _failure(request: web.BaseRequest, code: int, parts: dict[str, Any]) -> web.Response:
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        **parts,
        "code": code,
    }
    if request.headers.get("User-Agent", "").startswith(_FOR_PEOPLE):
        text = json.dumps(status, indent=2)
    else:
        text = json.dumps(status, separators=(",", ":")) + "\n"
    return web.Response(body=text.encode(), status=code, headers={**_NO_SNIFF, "Content-Type": "application/json"})


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
