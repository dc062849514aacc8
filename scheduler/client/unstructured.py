"""What is said of an answer that is no ``Status`` object: a proxy's page, say, or the API server's own plain text.

Source: NewGenericServerResponse in k8s.io/apimachinery/pkg/api/errors/errors.go.
"""

from __future__ import annotations

import json
from typing import Final

__all__ = ["generic_message"]

_LONGEST: Final = 2048
"""Bytes of the answer that are looked at (maxUnstructuredResponseTextBytes in client-go's rest/request.go)."""
_TELLS: Final = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}
_IN_ITS_OWN_WORDS: Final = frozenset({403, 406, 415})
_INTERNAL: Final = 500


def generic_message(status: int, body: bytes, method: str, path: str) -> str:
    """kube-scheduler's words for it; the path tells what was asked about."""
    text = body[:_LONGEST].decode("utf-8", "replace").strip()
    if text.startswith(("{", "[")):
        text = "unknown"  # JSON, but nothing that was to be expected
    if status in _IN_ITS_OWN_WORDS:
        told = text
    elif status >= _INTERNAL and status not in _TELLS:
        quoted = json.dumps(text, ensure_ascii=False)
        told = f"an error on the server ({quoted}) has prevented the request from succeeding"
    else:
        unknown = f"the server responded with the status code {status} but did not return more information"
        told = _TELLS.get(status, unknown)
    about = _about(path)
    return f"{told} ({method.lower()} {about})" if about else told


def _about(path: str) -> str:
    """Resource and name, as in ``pods web-0`` or ``leases.coordination.k8s.io berth``."""
    root, *parts = path.partition("?")[0].strip("/").split("/")
    group, parts = ("", parts[1:]) if root == "api" else (".".join(parts[:1]), parts[2:])
    if parts[:1] == ["namespaces"] and len(parts) > 2:
        parts = parts[2:]
    if root not in ("api", "apis") or not parts:
        return ""
    resource = f"{parts[0]}.{group}" if group else parts[0]
    return " ".join([resource, *parts[1:2]])
