"""What a reflector makes of an API server's good and bad days."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest

from scheduler.client.informer import Informer
from scheduler.client.kinds import PODS, UNFINISHED_PODS
from scheduler.client.reflector import Reflector, WatchSettings
from scheduler.client.supervise import stop_task
from tests.fakes.apiserver import (
    bookmark,
    event,
    page,
    pod,
    refusal,
    reply,
    status,
    stream,
)

PATH = "/api/v1/pods"
QUICK = WatchSettings(idle=5.0, backoff_base=0.005, backoff_cap=0.02)

SILENT = stream(end="silence")
END_OF_LIST = bookmark(10, initial_end=True)


@pytest.fixture
def informer():
    return Informer(PODS)


@pytest.fixture
def log(informer):
    """What handlers heard: +name, ~name, -name."""
    heard = []

    def handler(old, new):
        name = (new or old).metadata.name
        heard.append(("+" if old is None else "-" if new is None else "~") + name)

    informer.add_handler(handler)
    return heard


@asynccontextmanager
async def running(session, informer, **options):
    reflector = Reflector(session, PODS, informer, **{"settings": QUICK} | options)
    task = asyncio.create_task(reflector.run())
    try:
        yield reflector
    finally:
        assert not task.done()
        await stop_task(task)


def by_watch(server, *answers):
    server.on("GET", PATH, *answers)


def versions(server):
    """The version that each request started from; "list" for streamed lists, "page" for pages."""
    return [
        "list" if "sendInitialEvents" in r.query else r.query.get("resourceVersion", "page") for r in server.requests
    ]


class TestStreamedList:
    async def test_has_synced_only_with_the_bookmark_that_ends_it(self, server, session, informer, eventually):
        by_watch(server, stream(event("ADDED", pod("a", 3)), end="silence"))
        async with running(session, informer):
            await eventually(lambda: len(informer) == 1)
            assert not informer.has_synced

    async def test_hands_on_the_json_of_objects_that_are_wanted_whole(self, server, session, informer, eventually):
        informer.keep_whole(lambda _: True)
        whole = {**pod("a", 3), "kind": "Pod", "unknown": {"to": "us"}}
        by_watch(server, stream(event("ADDED", whole), END_OF_LIST, end="silence"))
        async with running(session, informer):
            await eventually(lambda: informer.has_synced)
        assert b'"unknown":{"to": "us"}' in informer.whole("ns", "a")

    async def test_goes_on_as_the_watch_on_the_same_connection(self, server, session, informer, log, eventually):
        lines = [event("ADDED", pod("a", 3)), END_OF_LIST, event("DELETED", pod("a", 11))]
        by_watch(server, stream(*lines, end="silence"))
        async with running(session, informer) as reflector:
            await eventually(lambda: log == ["+a", "-a"])
            assert informer.has_synced
            assert reflector.resource_version == "11"
        assert len(server.requests) == 1

    async def test_asks_for_initial_events_bookmarks_and_an_end_after_minutes(
        self, server, session, informer, eventually
    ):
        by_watch(server, stream(END_OF_LIST, end="silence"))
        async with running(session, informer, selection=UNFINISHED_PODS):
            await eventually(lambda: informer.has_synced)
        query = server.requests[0].query
        assert 300 <= int(query.pop("timeoutSeconds")) <= 600
        assert query == {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "sendInitialEvents": "true",
            "resourceVersionMatch": "NotOlderThan",
            "fieldSelector": "status.phase!=Succeeded,status.phase!=Failed",
        }

    async def test_that_breaks_half_way_is_begun_anew(self, server, session, informer, log, eventually):
        by_watch(
            server,
            stream(event("ADDED", pod("a", 3)), event("ADDED", pod("b", 4)), end="cut"),
            stream(event("ADDED", pod("a", 3)), END_OF_LIST, end="silence"),
        )
        async with running(session, informer):
            await eventually(lambda: informer.has_synced)
        assert versions(server) == ["list", "list"]
        assert log == ["+a", "+b", "-b"]


class TestPagedList:
    @pytest.mark.parametrize("code", [400, 403, 404, 422])
    async def test_is_used_where_a_streamed_list_is_refused(self, server, session, informer, eventually, code):
        by_watch(server, status(code, "Invalid"), reply(page(10, pod("a", 3))), SILENT)
        async with running(session, informer):
            await eventually(lambda: len(server.requests) == 3)
            assert informer.has_synced
            assert len(informer) == 1
        assert versions(server) == ["list", "page", "10"]

    async def test_hands_on_the_json_of_objects_that_are_wanted_whole(self, server, session, informer, eventually):
        informer.keep_whole(lambda _: True)
        by_watch(server, status(422), reply(page(10, {**pod("a", 3), "unknown": 1})), SILENT)
        async with running(session, informer):
            await eventually(lambda: informer.has_synced)
        assert b'"unknown":1' in informer.whole("ns", "a")

    async def test_reads_page_after_page(self, server, session, informer, log, eventually):
        pages = [page(10, pod("a", 3), more="next"), page(10, pod("b", 4))]
        by_watch(server, status(422), *map(reply, pages), SILENT)
        async with running(session, informer):
            await eventually(lambda: len(server.requests) == 4)
        assert [r.query.get("continue") for r in server.requests[1:3]] == [None, "next"]
        assert server.requests[1].query["limit"] == "500"
        assert log == ["+a", "+b"]

    async def test_is_taken_in_one_piece_when_its_token_expires(self, server, session, informer, log, eventually):
        by_watch(
            server,
            status(422),
            reply(page(10, pod("a", 3), more="old")),
            status(410, "Expired"),
            reply(page(20, pod("b", 4))),
            SILENT,
        )
        async with running(session, informer):
            await eventually(lambda: len(server.requests) == 5)
        assert "limit" not in server.requests[3].query
        assert log == ["+a", "+b", "-a"]
        assert server.requests[4].query["resourceVersion"] == "20"


class TestResume:
    async def test_from_the_last_event_after_an_ordinary_end(self, server, session, informer, log, eventually):
        by_watch(
            server,
            stream(END_OF_LIST, event("ADDED", pod("a", 11))),
            stream(event("MODIFIED", pod("a", 12)), end="silence"),
        )
        async with running(session, informer):
            await eventually(lambda: log == ["+a", "~a"])
        assert versions(server) == ["list", "11"]

    async def test_from_the_last_bookmark(self, server, session, informer, eventually):
        by_watch(server, stream(END_OF_LIST, bookmark(50)), SILENT)
        async with running(session, informer):
            await eventually(lambda: len(server.requests) == 2)
        assert versions(server) == ["list", "50"]

    async def test_after_a_connection_that_is_cut_in_the_middle_of_a_line(
        self, server, session, informer, log, eventually
    ):
        by_watch(
            server,
            stream(END_OF_LIST, b'{"type":"ADDED","object":{"metad', end="cut"),
            stream(event("ADDED", pod("a", 11)), end="silence"),
        )
        async with running(session, informer):
            await eventually(lambda: log == ["+a"])
        assert versions(server) == ["list", "10"]

    async def test_after_a_silence_longer_than_the_guard(self, server, session, informer, log, eventually):
        by_watch(
            server,
            stream(END_OF_LIST, end="silence"),
            stream(event("ADDED", pod("a", 11)), end="silence"),
        )
        impatient = WatchSettings(idle=0.05, backoff_base=0.005, backoff_cap=0.02)
        async with running(session, informer, settings=impatient):
            await eventually(lambda: log == ["+a"])

    async def test_after_errors_of_the_server(self, server, session, informer, log, eventually):
        by_watch(
            server,
            stream(END_OF_LIST),
            status(500, "InternalError"),
            status(429, "TooManyRequests", headers={"Retry-After": "0"}),
            stream(event("ERROR", refusal(500, "InternalError"))),
            stream(event("ADDED", pod("a", 11)), end="silence"),
        )
        async with running(session, informer):
            await eventually(lambda: log == ["+a"])
        assert versions(server) == ["list", "10", "10", "10", "10"]


class TestExpiredVersion:
    @pytest.mark.parametrize(
        "gone",
        [
            status(410, "Expired", "too old resource version"),
            stream(event("ERROR", refusal(410, "Expired", "too old resource version"))),
            status(504, "Timeout", "Too large resource version: 99, current: 5"),
        ],
        ids=["as status", "as line", "from the future"],
    )
    async def test_leads_to_a_new_list_that_shows_as_a_difference(
        self, server, session, informer, log, eventually, gone
    ):
        by_watch(
            server,
            stream(*[event("ADDED", pod(n, 3)) for n in ("kept", "changed", "lost", "replaced")], END_OF_LIST),
            gone,
            stream(
                event("ADDED", pod("changed", 30)),
                event("ADDED", pod("kept", 3)),
                event("ADDED", pod("new", 31)),
                event("ADDED", pod("replaced", 32, uid="another")),
                bookmark(40, initial_end=True),
                end="silence",
            ),
        )
        async with running(session, informer) as reflector:
            await eventually(lambda: reflector.resource_version == "40")
        assert versions(server) == ["list", "10", "list"]
        assert log[4:] == ["~changed", "+new", "-replaced", "+replaced", "-lost"]

    async def test_that_comes_back_after_each_list_is_not_asked_about_without_pause(
        self, server, session, informer, eventually
    ):
        by_watch(server, *[stream(END_OF_LIST), status(410, "Expired")] * 50)
        patient = WatchSettings(backoff_base=60.0, backoff_cap=60.0)
        async with running(session, informer, settings=patient):
            await eventually(lambda: server.requests)
            await asyncio.sleep(0.2)
        assert len(server.requests) <= 4


async def test_streams_that_end_at_once_three_times_lead_to_a_new_list(server, session, informer, eventually):
    by_watch(server, stream(END_OF_LIST), stream(), stream(), stream(), stream(END_OF_LIST, end="silence"))
    async with running(session, informer):
        await eventually(lambda: len(server.requests) == 5)
    assert versions(server) == ["list", "10", "10", "10", "list"]


class TestUnreadableInput:
    async def test_an_object_is_skipped_and_named(self, server, session, informer, log, eventually, caplog):
        bad = pod("bad", 11) | {"spec": {"containers": "not a list"}}
        by_watch(
            server,
            stream(END_OF_LIST, event("ADDED", bad), event("ADDED", pod("good", 12)), end="silence"),
        )
        named = []
        async with running(session, informer, on_malformed=lambda *what: named.append(what)):
            await eventually(lambda: log == ["+good"])
        assert named == [("pods", "ns/bad")]
        assert "ns/bad" in caplog.text

    async def test_an_object_that_becomes_unreadable_is_kept_in_its_last_state(
        self, server, session, informer, log, eventually
    ):
        bad = pod("a", 20) | {"spec": {"containers": "not a list"}}
        by_watch(
            server,
            stream(event("ADDED", pod("a", 3)), END_OF_LIST),
            status(410),
            stream(event("ADDED", bad), bookmark(30, initial_end=True), end="silence"),
        )
        async with running(session, informer) as reflector:
            await eventually(lambda: reflector.resource_version == "30")
        assert log == ["+a"]

    async def test_a_deleted_object_goes_even_if_unreadable(self, server, session, informer, log, eventually):
        bad = pod("a", 11) | {"spec": {"containers": "not a list"}}
        by_watch(server, stream(event("ADDED", pod("a", 3)), END_OF_LIST, event("DELETED", bad), end="silence"))
        async with running(session, informer):
            await eventually(lambda: log == ["+a", "-a"])

    @pytest.mark.parametrize("garbage", [b"}{\n", b"\xff\xfe\n", b'{"type":"NEW","object":{}}\n', b"[" * 9999 + b"\n"])
    async def test_a_garbage_line_is_asked_for_again_once_and_then_skipped(
        self, server, session, informer, log, eventually, garbage
    ):
        by_watch(
            server,
            stream(END_OF_LIST, garbage),
            stream(garbage, event("ADDED", pod("a", 11)), end="silence"),
        )
        async with running(session, informer):
            await eventually(lambda: log == ["+a"])
        assert versions(server) == ["list", "10"]

    async def test_a_page_of_another_proxy_is_retried(self, server, session, informer, eventually):
        by_watch(server, status(422), reply("<html>"), reply(page(10, pod("a", 3))), SILENT)
        async with running(session, informer):
            await eventually(lambda: informer.has_synced)

    async def test_null_for_an_absent_part_is_readable(self, server, session, informer, log, eventually):
        by_watch(
            server,
            stream(event("ADDED", pod("a", 3) | {"spec": {"containers": None}}), END_OF_LIST, end="silence"),
        )
        async with running(session, informer):
            await eventually(lambda: log == ["+a"])

    async def test_an_object_of_three_mebibytes_is_read(self, server, session, informer, log, eventually):
        big = pod("big", 3, annotations={"note": "x" * 3 * 2**20})
        by_watch(server, stream(event("ADDED", big), event("ADDED", pod("a", 4)), END_OF_LIST, end="silence"))
        async with running(session, informer):
            await eventually(lambda: log == ["+big", "+a"])


async def test_a_kind_that_the_server_lacks_counts_as_empty_where_it_is_optional(server, session, informer, eventually):
    async with running(session, informer, optional=True) as reflector:
        await eventually(lambda: informer.has_synced)
        assert reflector.problem == ""


async def test_a_kind_that_may_not_be_read_is_retried_and_the_reason_kept(server, session, informer, eventually):
    by_watch(server, status(403, "Forbidden", "pods is forbidden"), status(403, "Forbidden", "pods is forbidden"))
    async with running(session, informer) as reflector:
        await eventually(lambda: len(server.requests) > 3)
        assert reflector.problem == "pods is forbidden"
        assert not informer.has_synced


async def test_what_a_handler_raises_is_not_swallowed_as_trouble_with_the_network(server, session, informer):
    def broken(old, new):
        raise OSError("the disk is full")

    informer.add_handler(broken)
    by_watch(server, stream(event("ADDED", pod("a", 3)), end="silence"))
    with pytest.raises(OSError, match="the disk is full"):
        await Reflector(session, PODS, informer, settings=QUICK).run()


async def test_other_tasks_run_while_a_long_list_is_read(server, session, informer):
    by_watch(
        server,
        stream(*[event("ADDED", pod(f"p{i}", i)) for i in range(1, 3000)], END_OF_LIST, end="silence"),
    )
    turns = 0
    async with running(session, informer):
        while not informer.has_synced:
            turns += 1
            await asyncio.sleep(0)
    assert turns > 10
