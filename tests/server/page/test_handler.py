from __future__ import annotations

from scheduler.server.endpoints import Endpoints
from scheduler.server.options import ServerOptions
from scheduler.server.page.document import page
from scheduler.server.page.handler import PATH, serve_page
from scheduler.server.secure import Access

OPEN = ServerOptions(authorization_always_allow_paths=("/*",))
CONTENT = Endpoints(metrics=lambda: b"", extra={PATH: serve_page})


async def test_the_page_comes_with_its_policy(serve):
    _, client = await serve(OPEN, CONTENT)
    status, body, headers = await client.get(PATH)
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert body.encode() == page().html
    assert headers["Content-Security-Policy"] == f"{page().policy}; frame-ancestors 'none'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-cache, private"


async def test_who_has_it_gets_it_only_once(serve):
    _, client = await serve(OPEN, CONTENT)
    tag = (await client.get(PATH))[2]["ETag"]
    assert (await client.get(PATH, **{"If-None-Match": tag}))[:2] == (304, "")
    assert (await client.get(PATH, **{"If-None-Match": f'W/"other", {tag}'}))[0] == 304
    assert (await client.get(PATH, **{"If-None-Match": '"other"'}))[0] == 200


async def test_it_is_compressed_for_those_who_take_it(serve):
    _, client = await serve(OPEN, CONTENT)
    sizes = {}
    for coding in ("gzip", "identity"):
        _, body, headers = await client.get(PATH, **{"Accept-Encoding": coding})
        assert body.encode() == page().html
        assert (headers.get("Content-Encoding", "identity"), headers["Vary"]) == (coding, "Accept-Encoding")
        sizes[coding] = int(headers["Content-Length"])
    assert sizes["gzip"] * 2 < sizes["identity"]


async def test_it_is_for_those_who_may_see_it(serve, reviewers):
    reviewers.allowed.add(("prometheus", "get", PATH))
    _, client = await serve(ServerOptions(), CONTENT, Access(tokens=reviewers, authorizer=reviewers))
    assert (await client.get(PATH))[0] == 403
    assert (await client.get(PATH, token="bad"))[0] == 401
    assert (await client.get(PATH, token="good"))[0] == 200


async def test_it_is_only_read(serve):
    _, client = await serve(OPEN, CONTENT)
    assert (await client.get(PATH, method="POST"))[0] == 405
