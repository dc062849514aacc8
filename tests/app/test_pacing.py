"""Working in rounds while many pods are tried."""

from __future__ import annotations

import asyncio

import pytest

from scheduler.app.pacing import Pacer


class Thread:
    """A clock that stands still but for what the thread does, which sleeps without taking time."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def pacer(self, interval: float = 0.01) -> Pacer:
        return Pacer(interval, clock=self.clock, sleep=self.sleep)


@pytest.fixture
def thread() -> Thread:
    return Thread()


async def turns(number: int) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def test_few_pods_are_dealt_with_as_they_come(thread):
    pacer = thread.pacer()
    for _ in range(100):
        pacer.tried(1)
        thread.now += 0.01  # a hundred a second
        await turns(10)
    assert not pacer.bursting
    assert thread.slept == []


async def test_in_a_burst_rounds_begin_an_interval_apart(thread):
    pacer = thread.pacer()
    for _ in range(16):
        pacer.tried(1)
    assert pacer.bursting
    thread.now += 0.004  # of work
    await turns(7)
    assert thread.slept == [pytest.approx(0.006)]
    thread.now += 0.001
    await turns(7)
    assert thread.slept == [pytest.approx(0.006), pytest.approx(0.009)]


async def test_rounds_are_half_as_far_apart_as_a_bind_takes(thread):
    pacer = thread.pacer(0.02)
    pacer.tried(500)
    for _ in range(200):
        pacer.bound(0.006)
    await turns(14)
    assert thread.slept == [pytest.approx(0.003, rel=1e-3)] * 2


async def test_and_no_farther_than_the_interval(thread):
    pacer = thread.pacer(0.02)
    pacer.tried(500)
    for _ in range(200):
        pacer.bound(3.0)
    await turns(14)
    assert thread.slept == [pytest.approx(0.02)] * 2


async def test_a_single_slow_bind_changes_little(thread):
    pacer = thread.pacer(0.02)
    pacer.tried(500)
    for _ in range(200):
        pacer.bound(0.006)
    pacer.bound(0.070)
    await turns(7)
    assert thread.slept == [pytest.approx(0.005, rel=1e-3)]


async def test_many_pods_at_once_are_a_burst(thread):
    pacer = thread.pacer()
    pacer.tried(500)
    assert pacer.bursting


async def test_what_comes_in_gets_all_the_way_in_one_round(thread):
    """A watch has read something: its task, the queue's, the decision's, the bind's, and the write of the request."""
    pacer = thread.pacer()
    pacer.tried(500)
    steps = []

    async def chain(left: int) -> None:
        steps.append((left, len(thread.slept)))
        if left:
            await asyncio.create_task(chain(left - 1))

    await turns(7)
    slept = len(thread.slept)
    await chain(4)
    assert steps == [(left, slept) for left in (4, 3, 2, 1, 0)]


async def test_there_is_no_sleep_where_a_round_takes_as_long_as_the_interval(thread):
    pacer = thread.pacer()
    for _ in range(50):
        pacer.tried(20)
        thread.now += 0.01
        await turns(6)
    assert pacer.bursting
    assert thread.slept == []


async def test_rounds_end_with_the_burst(thread):
    pacer = thread.pacer()
    pacer.tried(16)
    while pacer.bursting:
        pacer.tried(1)  # a hundred a second
        await turns(6)
    assert len(thread.slept) == pytest.approx(10, abs=1)
    thread.now += 0.05
    pacer.tried(16)
    assert pacer.bursting


async def test_rounds_go_on_as_long_as_the_burst(thread):
    pacer = thread.pacer()
    pacer.tried(16)
    for _ in range(200):
        pacer.tried(2)
        await turns(6)
    assert pacer.bursting
    assert thread.now == pytest.approx(102.0, abs=0.05)


async def test_an_interval_of_nothing_never_waits(thread):
    pacer = thread.pacer(0.0)
    pacer.tried(500)
    await turns(20)
    assert not pacer.bursting
    assert thread.slept == []


async def test_timers_are_seen_to_between_rounds():
    pacer = Pacer(0.02)
    loop = asyncio.get_running_loop()
    pacer.tried(100)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await loop.create_future()
    assert pacer.bursting
