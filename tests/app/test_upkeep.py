"""What happens now and then."""

from __future__ import annotations

import asyncio
import gc

import pytest

from scheduler.app.upkeep import each_second, every, relax_collection, settle_heap


@pytest.mark.looptime
async def test_work_is_repeated_at_its_interval():
    loop = asyncio.get_running_loop()
    times = []
    task = asyncio.create_task(every(30.0, lambda: times.append(loop.time())))
    await asyncio.sleep(95)
    task.cancel()
    assert times == [30.0, 60.0, 90.0]


@pytest.mark.looptime
async def test_work_of_each_second_begins_with_the_second_of_the_clock():
    loop = asyncio.get_running_loop()
    seconds = []

    def clock():
        return 1000.25 + loop.time()

    task = asyncio.create_task(each_second(lambda: seconds.append(clock()), clock=clock))
    await asyncio.sleep(3)
    task.cancel()
    assert seconds == [1001.0, 1002.0, 1003.0]


@pytest.fixture
def collector():
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


@pytest.mark.usefixtures("collector")
def test_what_has_settled_is_exempt_from_collection():
    kept = [[]]
    assert any(tracked is kept for tracked in gc.get_objects())
    settle_heap()
    assert not any(tracked is kept for tracked in gc.get_objects())


@pytest.mark.usefixtures("collector")
def test_cycles_that_died_while_exempt_are_collected_later():
    class Ring:
        def __init__(self):
            self.ring = self

        def __del__(self):
            died.append(True)

    died: list[bool] = []
    ring = Ring()
    settle_heap()
    del ring
    gc.collect()
    assert died == []
    settle_heap()
    assert died == [True]


@pytest.mark.usefixtures("collector")
def test_collections_become_rare():
    relax_collection()
    assert gc.get_threshold()[0] >= 100_000
