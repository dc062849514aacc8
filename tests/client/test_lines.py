from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.client.errors import StreamError
from scheduler.client.lines import LineStream


def lines_of(*chunks, **options):
    left = [*chunks, b""]

    async def next_chunk():
        return left.pop(0)

    return LineStream(next_chunk, **options)


async def everything(stream):
    found = []
    while (batch := await stream.read()) is not None:
        found += batch
    return found


async def test_lines_that_arrived_together_are_given_together():
    stream = lines_of(b"a\nb\nc", b"\n")
    assert await stream.read() == [b"a", b"b"]
    assert await stream.read() == [b"c"]
    assert await stream.read() is None


async def test_empty_lines_are_left_out():
    assert await everything(lines_of(b"\n \r\na\n\n")) == [b"a"]


async def test_half_a_line_at_the_end_is_dropped():
    assert await everything(lines_of(b"a\nhal", b"f")) == [b"a"]


async def test_a_line_beyond_all_reason_breaks_the_stream():
    with pytest.raises(StreamError, match="exceeds 10 bytes"):
        await everything(lines_of(b"12345", b"123456", max_line=10))


@given(st.lists(st.binary(min_size=1, max_size=20)))
async def test_how_the_stream_was_cut_into_chunks_does_not_matter(chunks):
    *whole, _ = b"".join(chunks).split(b"\n")
    assert await everything(lines_of(*chunks)) == [line for line in whole if line.strip()]
