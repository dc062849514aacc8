from __future__ import annotations

import json

import msgspec
import pytest

from scheduler.client.errors import StreamError
from scheduler.client.kinds import PODS
from scheduler.client.wire import GarbageError, ObjectReader, Unreadable
from tests.fakes.apiserver import bookmark, event, page, pod, refusal

READER = ObjectReader(PODS)


def line(content):
    return json.dumps(content).encode()


def test_a_change_carries_the_object_and_its_version():
    change = READER.change(line(event("MODIFIED", pod("a", 7, node="n1"))))
    assert (change.kind, change.resource_version, change.object.spec.node_name) == ("MODIFIED", "7", "n1")


@pytest.mark.parametrize("kind", ["ADDED", "MODIFIED", "DELETED"])
@pytest.mark.parametrize("pattern", ['{"type":"%s","object":%s}', '{ "type": "%s", "object": %s }', "$"])
def test_a_line_is_read_however_it_is_laid_out(kind, pattern):
    body = json.dumps(pod("a", 7), separators=(",", ":"))
    if "$" in pattern:
        text = f'{{"object":{body},"type":"{kind}"}}'
    else:
        text = pattern % (kind, body)
    change = READER.change(text.encode())
    assert (change.kind, change.resource_version, change.object.metadata.name) == (kind, "7", "a")
    assert json.loads(bytes(change.raw)) == json.loads(body)


def test_what_comes_behind_the_object_is_passed_over():
    body = json.dumps(pod("a", 7))
    change = READER.change(f'{{"type":"ADDED","object":{body},"more":{{}}}}'.encode())
    assert (change.kind, change.object.metadata.name, json.loads(bytes(change.raw))) == ("ADDED", "a", pod("a", 7))


def test_an_object_that_cannot_be_read_is_told_apart_from_a_line_that_cannot():
    change = READER.change(b'{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"7"},"spec":5}}')
    assert (change.kind, change.resource_version, str(change.object)) == ("ADDED", "7", "a")
    with pytest.raises(GarbageError):
        READER.change(b'{"type":"ADDED","object":{"metadata":{"name":"a"}}')


def test_a_bookmark_carries_a_version_and_may_end_the_initial_list():
    assert not READER.change(line(bookmark(7))).initial_end
    end = READER.change(line(bookmark(8, initial_end=True)))
    assert (end.resource_version, end.initial_end, end.object) == ("8", True, None)


def test_an_error_carries_the_status():
    assert READER.change(line(event("ERROR", refusal(410, "Expired")))).error.is_expired


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (pod("a", 7) | {"spec": 5}, "ns/a"),
        ({"metadata": {"name": "a", "namespace": None}, "spec": 5}, "a"),
        ({"metadata": 5}, "(object without a readable name)"),
    ],
)
def test_an_unreadable_object_is_named_as_well_as_may_be(content, name):
    obj = READER.item(msgspec.Raw(line(content)))
    assert isinstance(obj, Unreadable)
    assert str(obj) == name


def test_nesting_without_end_is_unreadable_and_nothing_worse():
    deep = b'{"metadata":{"name":"a"},"spec":{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}}"
    assert isinstance(READER.item(msgspec.Raw(deep)), Unreadable)


@pytest.mark.parametrize("content", [{}, [], {"type": "ADDED"}, {"type": 1, "object": {}}, event("BOOKMARK", {})])
def test_a_line_that_is_no_watch_event_is_garbage(content):
    with pytest.raises(GarbageError):
        READER.change(line(content))


def test_a_page_has_a_version_items_and_the_token_of_the_next():
    read = READER.page(line(page(9, pod("a", 1), more="t")))
    assert (read.resource_version, read.next_token, len(read.items)) == ("9", "t", 1)
    assert READER.page(b'{"metadata":{"resourceVersion":"1"},"items":null}').items == []


def test_what_is_no_list_breaks_the_stream():
    with pytest.raises(StreamError, match="the list of pods can't be read"):
        READER.page(b"<html>")
