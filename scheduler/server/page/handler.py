"""Serves the page."""

from __future__ import annotations

from aiohttp import web

from scheduler.server.documents import takes_gzip
from scheduler.server.page.document import page

PATH = "/page"


async def serve_page(request: web.BaseRequest) -> web.StreamResponse:
    """The page; 304 where the browser has it already."""
    document = page()
    headers = {
        "Cache-Control": "no-cache, private",
        "Content-Security-Policy": f"{document.policy}; frame-ancestors 'none'",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "ETag": document.tag,
        "Referrer-Policy": "no-referrer",
        "Vary": "Accept-Encoding",
        "X-Content-Type-Options": "nosniff",
    }
    if document.tag in (request.headers.get("If-None-Match") or ""):
        return web.Response(status=304, headers=headers)
    body = document.html
    if takes_gzip(request.headers.get("Accept-Encoding", "")):
        body, headers["Content-Encoding"] = document.packed, "gzip"
    return web.Response(body=body, content_type="text/html", charset="utf-8", headers=headers)
