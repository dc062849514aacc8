from __future__ import annotations

import gzip
from contextlib import asynccontextmanager

import aiohttp
import pytest
from yarl import URL

from scheduler.app.page_proxy import PageProxy, Reconnecting
from scheduler.app.reach import ReachError
from scheduler.client.answers import Answer
from scheduler.server.page.document import page


class Scheduler:
    """Answers what it is asked, and notes it."""

    def __init__(self, status=200, body=b'{"time":"2026-01-01T00:00:00Z","total":3}'):
        self.asked = []
        self.known = []
        self.answer = Answer(status, body)
        self.problem = None

    async def get(self, path, *, known=""):
        self.asked.append(path)
        self.known.append(known)
        if self.problem is not None:
            raise self.problem
        return self.answer


@pytest.fixture
async def proxied():
    """A proxy that serves, the scheduler behind it, and a function that asks it for a path."""
    scheduler = Scheduler()
    proxy = PageProxy(scheduler)
    async with proxy.serving(), aiohttp.ClientSession() as session:

        async def ask(url, *, method="GET", **headers):
            async with session.request(
                method, URL(url, encoded=True), headers=headers, allow_redirects=False
            ) as answer:
                return answer.status, await answer.read(), answer.headers

        yield proxy, scheduler, ask


def api(proxy, path):
    return proxy.address.removesuffix("/page") + f"/explain/v1/{path}"


async def test_the_page_is_below_the_secret_path_only(proxied):
    proxy, scheduler, ask = proxied
    status, body, headers = await ask(proxy.address)
    assert (status, body) == (200, page().html)
    assert "Content-Security-Policy" in headers
    root = proxy.address.split("/", 3)[:3]
    for path in ("/", "/page", "/explain/v1/overview", "/wrong/page", "/wrong/explain/v1/overview", "//page"):
        assert (await ask("/".join(root) + path))[0] == 404
    assert scheduler.asked == []


async def test_what_the_page_asks_for_is_passed_on_as_it_came(proxied):
    proxy, scheduler, ask = proxied
    status, body, headers = await ask(api(proxy, "decisions?limit=5&pod=shop%2Fweb"))
    assert (status, body) == (200, scheduler.answer.body)
    assert headers["Content-Type"] == "application/json"
    assert headers["Cache-Control"] == "no-store"
    await ask(api(proxy, "pods/a%2Fb/c"))
    assert scheduler.asked == ["/explain/v1/decisions?limit=5&pod=shop%2Fweb", "/explain/v1/pods/a%2Fb/c"]


@pytest.mark.parametrize("path", ["/metrics", "/configz", "/explain/v1", "/explain/v2/overview", "/page/../metrics"])
async def test_nothing_else_is_passed_on(proxied, path):
    proxy, scheduler, ask = proxied
    assert (await ask(proxy.address.removesuffix("/page") + path))[0] == 404
    assert scheduler.asked == []


async def test_nothing_is_written(proxied):
    proxy, scheduler, ask = proxied
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert (await ask(api(proxy, "overview"), method=method))[0] == 405
    assert scheduler.asked == []


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1.evil.example:{port}", "[::1]:{port}", ""])
async def test_another_name_for_this_machine_is_not_answered(proxied, host):
    proxy, scheduler, ask = proxied
    port = proxy.address.split(":")[2].split("/")[0]
    assert (await ask(proxy.address, Host=host.format(port=port)))[0] == 421
    assert (await ask(api(proxy, "overview"), Host=host.format(port=port)))[0] == 421
    assert scheduler.asked == []


async def test_localhost_is_this_machine(proxied):
    proxy, _, ask = proxied
    port = proxy.address.split(":")[2].split("/")[0]
    assert (await ask(proxy.address, Host=f"localhost:{port}"))[0] == 200


async def test_the_address_that_others_may_see_works_once(proxied):
    proxy, _, ask = proxied
    once = proxy.address_once
    assert proxy.address.split("/")[3] not in once
    status, _, headers = await ask(once)
    assert status == 303
    assert proxy.address.endswith(headers["Location"])
    assert (await ask(once))[0] == 404


async def test_what_did_not_change_is_not_sent_again_over_either_part_of_the_way(proxied):
    proxy, scheduler, ask = proxied
    scheduler.answer = Answer(200, b"{}", etag='W/"3f"')
    assert (await ask(api(proxy, "pending")))[2]["ETag"] == 'W/"3f"'
    scheduler.answer = Answer(304, b"", etag='W/"3f"')
    status, body, headers = await ask(api(proxy, "pending"), **{"If-None-Match": 'W/"3f"'})
    assert (status, body, headers["ETag"]) == (304, b"", 'W/"3f"')
    assert scheduler.known == ["", 'W/"3f"']


@pytest.mark.parametrize("tag", ["*", "3f", '"\u00e9"', '"a" "b"', '"' + "x" * 300 + '"'])
async def test_a_tag_of_another_form_is_not_passed_on(proxied, tag):
    proxy, scheduler, ask = proxied
    assert (await ask(api(proxy, "pending"), **{"If-None-Match": tag}))[0] == 200
    assert scheduler.known == [""]


async def test_a_packed_answer_is_passed_on_as_it_came_to_who_takes_it(proxied):
    proxy, scheduler, ask = proxied
    packed = gzip.compress(b'{"total":3}')
    scheduler.answer = Answer(200, packed, encoding="gzip")
    status, body, headers = await ask(api(proxy, "pending"), **{"Accept-Encoding": "gzip"})
    assert (status, body, headers["Content-Encoding"], headers["Vary"]) == (
        200,
        b'{"total":3}',
        "gzip",
        "Accept-Encoding",
    )
    assert int(headers["Content-Length"]) == len(packed)
    status, body, headers = await ask(api(proxy, "pending"), **{"Accept-Encoding": "identity"})
    assert (status, body, "Content-Encoding" in headers) == (200, b'{"total":3}', False)


async def test_an_answer_that_cant_be_unpacked_is_told_of(proxied):
    proxy, scheduler, ask = proxied
    scheduler.answer = Answer(200, b"no", encoding="gzip")
    status, body, _ = await ask(api(proxy, "pending"), **{"Accept-Encoding": "identity"})
    assert status == 502
    assert b"can't be unpacked" in body


async def test_refusals_of_the_scheduler_are_passed_on(proxied):
    proxy, scheduler, ask = proxied
    scheduler.answer = Answer(403, b'{"error":"no","code":"forbidden"}')
    assert (await ask(api(proxy, "overview")))[:2] == (403, b'{"error":"no","code":"forbidden"}')


async def test_a_scheduler_that_cant_be_asked_is_told_of(proxied):
    proxy, scheduler, ask = proxied
    scheduler.problem = ReachError("the forward has ended")
    status, body, _ = await ask(api(proxy, "overview"))
    assert status == 502
    assert b"the forward has ended" in body


async def test_each_proxy_has_secrets_of_its_own():
    first, second = PageProxy(Scheduler()), PageProxy(Scheduler())
    secrets = {url.rsplit("/", 1)[1] for url in (first.address_once, second.address_once)}
    secrets |= {url.split("/")[3] for url in (first.address, second.address)}
    assert len(secrets) == 4
    assert min(map(len, secrets)) >= 43


class Ways:
    """Makes ways to schedulers, and notes which are there."""

    def __init__(self, *schedulers):
        self.schedulers = list(schedulers)
        self.open = []
        self.made = 0

    @asynccontextmanager
    async def way(self):
        scheduler = self.schedulers[self.made]
        self.made += 1
        if isinstance(scheduler, Exception):
            raise scheduler
        self.open.append(scheduler)
        try:
            yield scheduler
        finally:
            self.open.remove(scheduler)


async def test_a_way_is_made_when_it_is_needed_and_kept():
    ways = Ways(Scheduler())
    asking = Reconnecting(ways.way)
    assert ways.made == 0
    await asking.get("/a")
    await asking.get("/b")
    assert (ways.made, ways.open[0].asked) == (1, ["/a", "/b"])
    await asking.close()
    assert ways.open == []


async def test_a_way_that_failed_is_made_anew_by_the_next_who_asks():
    broken, whole = Scheduler(), Scheduler()
    broken.problem = ReachError("it broke")
    ways = Ways(broken, ReachError("not yet"), whole)
    asking = Reconnecting(ways.way)
    with pytest.raises(ReachError, match="it broke"):
        await asking.get("/a")
    assert ways.open == []
    with pytest.raises(ReachError, match="not yet"):
        await asking.get("/a")
    assert (await asking.get("/a")).status == 200
    assert ways.open == [whole]
    await asking.close()


async def test_a_fault_of_another_kind_is_not_hidden():
    broken = Scheduler()
    broken.problem = ZeroDivisionError("mine")
    asking = Reconnecting(Ways(broken).way)
    with pytest.raises(ZeroDivisionError):
        await asking.get("/a")
    await asking.close()
