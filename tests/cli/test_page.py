"""`berth page`."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress

import aiohttp
import msgspec
import pytest

from scheduler.app.reach import ReachError
from scheduler.cli import page, reaching
from scheduler.cli.main import build_parser, main
from scheduler.client.answers import Answer
from scheduler.client.auth import AuthError
from tests.fakes.decisions import FakeDecisions


class Requests:
    """Answers for the overview, and counts the ways that were made to it."""

    def __init__(self):
        self.ways = 0
        self.open = 0
        self.status = 200

    async def get(self, path, *, known=""):
        return Answer(self.status, msgspec.json.encode(FakeDecisions().overview()))

    @asynccontextmanager
    async def way(self):
        self.ways += 1
        self.open += 1
        try:
            yield self
        finally:
            self.open -= 1


@pytest.fixture
def requests(monkeypatch):
    """A scheduler that is reached, however it is looked for."""
    made = Requests()

    async def connection_of(namespace):
        return None

    monkeypatch.setattr(reaching, "connection_of", connection_of)
    monkeypatch.setattr(reaching, "way_of", lambda namespace, connection: made.way())
    return made


@asynccontextmanager
async def served(capsys, *flags):
    """The command at work; the address that it printed."""
    task = asyncio.create_task(page._serve(build_parser().parse_args(["page", *flags])))
    out = ""
    while not out and not task.done():
        await asyncio.sleep(0)
        out = capsys.readouterr().out
    try:
        yield out.strip()
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def fetched(address):
    async with aiohttp.ClientSession() as session, session.get(address) as answer:
        return answer.status, await answer.text()


async def test_the_page_and_its_data_are_at_the_printed_address(requests, capsys):
    async with served(capsys, "--no-browser") as address:
        assert (await fetched(address))[1].startswith("<!doctype html>")
        status, body = await fetched(address.removesuffix("page") + "explain/v1/overview")
        assert (status, "kubernetesVersion" in body) == (200, True)
        assert (requests.ways, requests.open) == (1, 1)
    assert requests.open == 0


async def test_a_browser_is_told_an_address_that_works_once(requests, capsys, monkeypatch):
    opened = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def opener(address):
        loop.call_soon_threadsafe(opened.put_nowait, address)
        return True

    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(page.webbrowser, "open", opener)
    async with served(capsys) as address:
        once = await opened.get()
        assert once != address
        assert (await fetched(once))[1].startswith("<!doctype html>")
        assert (await fetched(once))[0] == 404


async def test_without_a_screen_no_browser_is_started(requests, capsys, monkeypatch):
    def opener(address):
        raise AssertionError("a browser was started")

    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(page.sys, "platform", "linux")
    monkeypatch.setattr(page.webbrowser, "open", opener)
    async with served(capsys) as address:
        assert (await fetched(address))[0] == 200


def test_a_refusal_is_told_before_anything_is_served(requests, capsys):
    requests.status = 403
    assert main(["page", "--no-browser"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "the scheduler may not show you this" in err
    assert requests.open == 0


def test_a_scheduler_that_cant_be_reached(requests, capsys, monkeypatch):
    @asynccontextmanager
    async def broken():
        raise ReachError("no Berth in namespace kube-system")
        yield

    monkeypatch.setattr(reaching, "way_of", lambda namespace, connection: broken())
    assert main(["page", "--no-browser"]) == 1
    assert "no Berth in namespace kube-system" in capsys.readouterr().err


def test_credentials_that_cant_be_had(capsys, monkeypatch):
    async def connection_of(namespace):
        raise AuthError("there is no kubeconfig")

    monkeypatch.setattr(reaching, "connection_of", connection_of)
    assert main(["page"]) == 2
    assert "there is no kubeconfig" in capsys.readouterr().err


def test_a_port_that_is_none(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["page", "--port", "70000"])
    assert ended.value.code == 2
    assert "argument --port: '70000' is no port: they are 1 to 65535" in capsys.readouterr().err
