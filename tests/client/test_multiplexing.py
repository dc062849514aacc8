"""One connection for all requests: when another one is made, and what is sent again."""

from __future__ import annotations

import asyncio

import pytest

from scheduler.client.answers import Answer
from scheduler.client.errors import ConnectError, TransportError
from scheduler.client.multiplexing import Multiplexer
from scheduler.client.streams import StaleError, UnprocessedError


class Connection:
    """Answers with what it was given, in turn; the last one again and again."""

    def __init__(self, *outcomes, agreed=True, silence=0.0):
        self.outcomes = list(outcomes) or [Answer(200, b"ok")]
        self.agreed = agreed
        self.usable = True
        self.silence = silence
        self.closed = False
        self.requests = []

    def idle(self, now):
        return self.silence

    def close(self):
        self.closed, self.usable = True, False

    async def exchange(self, block, body, within):
        self.requests.append((block, body))
        await asyncio.sleep(0)
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, Exception):
            self.usable = False
            raise outcome
        return outcome


class Sender:
    def __init__(self, *connections):
        self.left = list(connections)
        self.made = []
        self.multiplexer = Multiplexer(
            self.connect,
            authority="h",
            headers={"Accept": "x"},
            repeatable=frozenset({"GET"}),
            longest_idle=60.0,
        )

    async def connect(self, within):
        await asyncio.sleep(0)
        self.made.append(self.left.pop(0))
        return self.made[-1]

    async def send(self, method="GET", path="/", *, headers=None, body=None):
        return await self.multiplexer.send(
            method, path, headers=headers or {}, body=body, within=5.0, otherwise=self.send_otherwise
        )

    async def send_otherwise(self):
        return "otherwise"


async def test_requests_share_the_connection_whoever_comes_first():
    sender = Sender(Connection())
    answers = await asyncio.gather(*(sender.send() for _ in range(5)))
    assert [one.body for one in answers] == [b"ok"] * 5
    assert len(sender.made) == 1


async def test_a_request_as_it_is_sent():
    sender = Sender(Connection())
    await sender.send("POST", "/p", headers={"Content-Type": "j"}, body=b"{}")
    block = b"\x83\x87\x01\x01h\x04\x02/p\x10\x06accept\x01x\x10\x0ccontent-type\x01j"
    assert sender.made[0].requests == [(block, b"{}")]


async def test_credentials_that_change_are_sent_as_they_are_now():
    sender = Sender(Connection())
    for number in range(70):
        await sender.send(headers={"Authorization": f"t{number}"})
    assert [block.rpartition(b"t")[2] for block, _ in sender.made[0].requests] == [b"%d" % n for n in range(70)]


async def test_a_server_that_does_not_speak_it_gets_no_request():
    sender = Sender(Connection(agreed=False))
    assert await sender.send() == "otherwise"
    assert (sender.made[0].requests, sender.made[0].closed) == ([], True)


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_what_the_server_did_not_begin_with_is_sent_again_whatever_it_is(method):
    sender = Sender(Connection(UnprocessedError()), Connection())
    assert (await sender.send(method)).body == b"ok"


async def test_a_server_that_begins_with_nothing_is_given_up():
    sender = Sender(*(Connection(UnprocessedError("no room")) for _ in range(9)))
    with pytest.raises(ConnectError, match="no room"):
        await sender.send()
    assert len(sender.made) == 5


async def test_only_what_may_be_repeated_is_sent_again_where_a_kept_connection_was_closed():
    sender = Sender(Connection(StaleError()), Connection(StaleError()), Connection())
    assert (await sender.send("GET")).body == b"ok"
    sender = Sender(Connection(StaleError()), Connection())
    with pytest.raises(TransportError, match="closed the connection"):
        await sender.send("POST")


@pytest.mark.parametrize("problem", [TransportError("lost"), TimeoutError()])
async def test_where_the_outcome_is_unknown_nothing_is_sent_again(problem):
    sender = Sender(Connection(problem), Connection())
    with pytest.raises(type(problem)):
        await sender.send()
    assert len(sender.made) == 1
    assert (await sender.send()).body == b"ok"


async def test_a_connection_that_was_idle_too_long_is_not_used_again():
    sender = Sender(Connection(silence=61.0), Connection())
    await sender.send()
    await sender.send()
    assert [one.closed for one in sender.made] == [True, False]


async def test_a_connection_with_requests_under_way_is_left_to_end():
    busy = Connection()
    sender = Sender(busy, Connection())
    await sender.send()
    busy.usable = False
    await sender.send()
    assert not busy.closed


async def test_closing_ends_the_connection():
    sender = Sender(Connection())
    sender.multiplexer.close()
    await sender.send()
    sender.multiplexer.close()
    assert sender.made[0].closed
