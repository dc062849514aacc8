"""A request that is under way, and the end of one that gets no answer."""

from __future__ import annotations

import asyncio

import pytest

from scheduler.client.errors import TransportError
from scheduler.client.streams import StaleError, Stream, UnprocessedError


@pytest.fixture
async def stream():
    return Stream(1, asyncio.get_running_loop().create_future(), began_at=0.0, deadline=5.0, window=65_535)


async def test_at_first_nothing_has_come_and_nothing_waits(stream):
    assert (stream.status, stream.pieces, stream.received, stream.unsent) == (0, [], 0, b"")
    assert not stream.answer.done()


@pytest.mark.parametrize("problem", [TransportError("cut"), UnprocessedError(), StaleError()])
async def test_whoever_waits_for_the_answer_hears_why_there_is_none(stream, problem):
    stream.fail(problem)
    with pytest.raises(type(problem)):
        await stream.answer


async def test_only_the_first_problem_counts(stream):
    """A connection that breaks fails all its streams, some of which had their end already."""
    stream.fail(UnprocessedError())
    stream.fail(TransportError("cut"))
    with pytest.raises(UnprocessedError):
        await stream.answer


async def test_an_answer_that_has_come_stays(stream):
    stream.answer.set_result("answer")
    stream.fail(TransportError("cut"))
    assert await stream.answer == "answer"


async def test_whoever_has_given_up_is_not_told(stream):
    stream.answer.cancel()
    stream.fail(TransportError("cut"))
    assert stream.answer.cancelled()


def test_what_may_be_sent_again_is_told_apart_from_what_may_have_taken_effect():
    """Neither is a TransportError: those callers take for an outcome that is unknown."""
    assert not issubclass(UnprocessedError, TransportError)
    assert not issubclass(StaleError, TransportError)
