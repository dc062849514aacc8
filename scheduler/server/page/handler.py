"""Serves the page."""

from __future__ import annotations

import hashlib

from aiohttp import web

from scheduler.server.page.document import page

PATH = "/page"


async def serve_page(request: web.BaseRequest) -> web.StreamResponse:
    """The page; 304 where the browser has it already."""
    document = page()
    tag = f'"{hashlib.sha256(document.html).hexdigest()[:32]}"'
    headers = {
        "Cache-Control": "no-cache, private",
        "Content-Security-Policy": f"{document.policy}; frame-ancestors 'none'",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "ETag": tag,
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    if tag in (request.headers.get("If-None-Match") or ""):
        return web.Response(status=304, headers=headers)
    return web.Response(body=document.html, content_type="text/html", charset="utf-8", headers=headers)
