"""Answers in HTTP/1.1: what is read out of which bytes, however they arrive."""

from __future__ import annotations

import gzip
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.client import answers
from scheduler.client.answers import Answer, AnswerReader, GarbledAnswerError, unpacked

BY_LENGTH = b'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\ncontent-length: 12\r\n\r\n{"a": [1, 2]}'[:-1]
BY_CHUNKS = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\n1;ext=1\r\n,\r\n6\r\n\r\nrld!\r\n0\r\nTrailer: x\r\n\r\n"
)
WITHOUT_BODY = b"HTTP/1.1 204 No Content\r\n\r\n"
REFUSED = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 2\r\nContent-Length: 2\r\n\r\n{}"
UNCHANGED = b'HTTP/1.1 304 Not Modified\r\nETag: W/"3f"\r\nContent-Length: 9\r\n\r\n'
PACKED = b"HTTP/1.1 200 OK\r\nContent-Encoding: GZIP\r\nContent-Length: 2\r\n\r\n\x1f\x8b"
AFTER_INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
UNTIL_THE_END = b"HTTP/1.1 200 OK\r\n\r\nall of it"


def read(data: bytes, *cuts: int) -> tuple[Answer | None, AnswerReader]:
    reader = AnswerReader()
    answer = None
    edges = [0, *sorted(cuts), len(data)]
    for start, end in itertools.pairwise(edges):
        assert answer is None
        if piece := data[start:end]:
            answer = reader.feed(piece)
    return answer, reader


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (BY_LENGTH, Answer(201, b'{"a": [1, 2]')),
        (BY_CHUNKS, Answer(200, b"hello,\r\nrld!")),
        (WITHOUT_BODY, Answer(204, b"")),
        (REFUSED, Answer(429, b"{}", "2")),
        (AFTER_INTERIM, Answer(200, b"")),
        (UNCHANGED, Answer(304, b"", etag='W/"3f"')),
        (PACKED, Answer(200, b"\x1f\x8b", encoding="gzip")),
    ],
    ids=["by length", "by chunks", "without a body", "refused", "after an interim answer", "unchanged", "packed"],
)
class TestAWholeAnswer:
    def test_is_read_at_once_and_the_connection_can_be_used_on(self, data, expected):
        answer, reader = read(data)
        assert answer == expected
        assert reader.reusable

    def test_is_the_same_byte_by_byte(self, data, expected):
        answer, reader = read(data, *range(len(data)))
        assert answer == expected
        assert reader.reusable

    @given(cuts=st.lists(st.integers(0, 200), max_size=6))
    def test_is_the_same_however_it_is_cut(self, data, expected, cuts):
        answer, _ = read(data, *(cut for cut in cuts if cut < len(data)))
        assert answer == expected

    def test_is_not_there_before_its_last_byte(self, data, expected):
        answer, reader = read(data[:-1])
        assert answer is None
        assert reader.feed(data[-1:]) == expected

    def test_can_be_followed_by_another(self, data, expected):
        _, reader = read(data)
        assert reader.feed(REFUSED) == Answer(429, b"{}", "2")
        assert reader.feed(data) == expected


def test_a_body_without_a_told_end_lasts_until_the_connection_ends():
    answer, reader = read(UNTIL_THE_END, 25)
    assert answer is None
    assert reader.end() == Answer(200, b"all of it")
    assert not reader.reusable


@pytest.mark.parametrize("data", [b"", BY_LENGTH[:30], BY_LENGTH[:-1], BY_CHUNKS[:-2]])
def test_an_answer_that_is_cut_off_is_none(data):
    answer, reader = read(data)
    assert answer is None
    assert reader.end() is None


@pytest.mark.parametrize(
    ("head", "reusable"),
    [
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\n", False),
        (b"HTTP/1.1 200 OK\r\nConnection: Keep-Alive, Close\r\n", False),
        (b"HTTP/1.0 200 OK\r\n", False),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n", True),
    ],
)
def test_whether_the_connection_outlives_the_answer_is_the_servers_to_say(head, reusable):
    answer, reader = read(head + b"Content-Length: 0\r\n\r\n")
    assert answer == Answer(200, b"")
    assert reader.reusable is reusable


@pytest.mark.parametrize("data", [BY_LENGTH, BY_CHUNKS])
def test_a_connection_that_says_more_than_was_asked_for_is_not_used_on(data):
    answer, reader = read(data + b"HTTP/1.1")
    assert answer is not None
    assert not reader.reusable


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"SSH-2.0-x\r\n\r\n", "begins no answer"),
        (b"HTTP/2 200\r\n\r\n", "begins no answer"),
        (b"HTTP/1.1 2x0 OK\r\n\r\n", "begins no answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "content length"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "transfer coding"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n", "chunk size"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "chunk size"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "longer than it said"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 70_000, "no end"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000, "exceeds"),
    ],
)
def test_what_is_no_answer_is_an_error(data, problem):
    with pytest.raises(GarbledAnswerError, match=problem):
        read(data)


@given(
    data=st.binary(max_size=300), kind=st.sampled_from([b"", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"])
)
def test_no_bytes_raise_anything_else(data, kind):
    reader = AnswerReader()
    try:
        reader.feed(kind + data)
    except GarbledAnswerError:
        return
    reader.end()


class TestUnpacking:
    def test_a_body_is_as_it_was_before_it_was_packed(self):
        assert unpacked(Answer(200, gzip.compress(b"hello"), encoding="gzip")) == b"hello"
        assert unpacked(Answer(200, b"hello")) == b"hello"

    @pytest.mark.parametrize(
        ("body", "encoding", "problem"),
        [
            (b"hello", "br", "the content coding 'br' is not understood"),
            (b"hello", "gzip", "can't be unpacked"),
            # Packed at no particular time: that would be in the test's name, and differ from worker to worker.
            (gzip.compress(b"hello", mtime=0)[:-3], "gzip", "has no end"),
            (b"", "gzip", "has no end"),
        ],
    )
    def test_what_cant_be_unpacked_is_no_answer(self, body, encoding, problem):
        with pytest.raises(GarbledAnswerError, match=problem):
            unpacked(Answer(200, body, encoding=encoding))

    def test_there_is_an_end_to_what_comes_out(self, monkeypatch):
        monkeypatch.setattr(answers, "_LARGEST", 1000)
        with pytest.raises(GarbledAnswerError, match="exceeds 1000 bytes"):
            unpacked(Answer(200, gzip.compress(bytes(5000)), encoding="gzip"))
