"""JSON answers of any size: encoded once, compared by tag, compressed in slices between which other work runs."""

from __future__ import annotations

import asyncio
import hashlib
import zlib
from typing import TYPE_CHECKING, Final

import msgspec
from aiohttp import web

from scheduler.server.responses import HEADERS

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON_HEADERS: Final = {**HEADERS, "X-Content-Type-Options": "nosniff", "Content-Type": "application/json"}

_COMPRESSED_FROM: Final = 2**14
_SLICE: Final = 2**16
"""Bytes that are compressed or written at a time: about a millisecond."""
_GZIP: Final = 16 + zlib.MAX_WBITS
_LEVEL: Final = 1

_encoder = msgspec.json.Encoder()


async def document(
    request: web.BaseRequest, view: msgspec.Struct, *, headers: Mapping[str, str] | None = None
) -> web.StreamResponse:
    """The view as JSON; 304 if the client has it already, gzip where it is large and the client takes that.

    The tag leaves out the view's own `time`, so that what has not changed is the same from one second to the next.
    """
    blank = msgspec.structs.replace(view, time="") if "time" in view.__struct_fields__ else view
    body = _encoder.encode(blank)
    tag = f'W/"{hashlib.blake2b(body, digest_size=16).hexdigest()}"'
    all_headers = {**JSON_HEADERS, **(headers or {}), "ETag": tag, "Vary": "Accept-Encoding"}
    if tag in _tags(request.headers.get("If-None-Match", "")):
        return web.Response(status=304, headers=all_headers)
    if blank is not view:
        body = _encoder.encode(view)
    return await _packed(request, body, all_headers)


async def raw(request: web.BaseRequest, body: bytes, *, headers: Mapping[str, str] | None = None) -> web.StreamResponse:
    """JSON that is encoded already and changes with the version only."""
    return await _packed(request, body, {**JSON_HEADERS, **(headers or {}), "Vary": "Accept-Encoding"})


def error(status: int, code: str, what: str, *, headers: Mapping[str, str] | None = None) -> web.Response:
    """A refusal: `code` for programs, `what` says what is wrong and what to do."""
    body = _encoder.encode({"error": what, "code": code})
    return web.Response(body=body, status=status, headers={**JSON_HEADERS, **(headers or {})})


def _tags(header: str) -> set[str]:
    return {tag.strip() for tag in header.split(",")}


def takes_gzip(header: str) -> bool:
    """Whether a client takes that coding, by its header Accept-Encoding."""
    for coding in header.lower().split(","):
        name, _, parameter = coding.partition(";")
        if name.strip() in ("gzip", "*"):
            return parameter.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


async def _packed(request: web.BaseRequest, body: bytes, headers: Mapping[str, str]) -> web.Response:
    if len(body) < _COMPRESSED_FROM or not takes_gzip(request.headers.get("Accept-Encoding", "")):
        return web.Response(body=body, headers=headers)
    return web.Response(body=await _compressed(body), headers={**headers, "Content-Encoding": "gzip"})


async def _compressed(body: bytes) -> bytes:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    view, pieces = memoryview(body), []
    for start in range(0, len(body), _SLICE):
        pieces.append(packer.compress(view[start : start + _SLICE]))
        await asyncio.sleep(0)
    return b"".join([*pieces, packer.flush()])
