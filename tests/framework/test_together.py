"""Doing several things at once."""

from __future__ import annotations

import asyncio

from scheduler.framework.together import together


async def test_all_of_it_is_done_at_the_same_time():
    begun, done = [], asyncio.Event()

    async def work(name):
        begun.append(name)
        if len(begun) == 2:
            done.set()
        await done.wait()

    assert await together(work(name) for name in "ab") == []
    assert begun == ["a", "b"]


async def test_what_went_wrong_is_told_after_everything_was_tried():
    finished = []

    async def work(problem):
        if problem is not None:
            raise problem
        await asyncio.sleep(0)
        finished.append(True)

    problem = RuntimeError("no")
    assert await together([work(problem), work(None)]) == [problem]
    assert finished == [True]
