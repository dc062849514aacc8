from __future__ import annotations

import asyncio

import pytest

from scheduler.client.supervise import Supervisor, TaskDiedError, stop_task


async def for_ever():
    await asyncio.Event().wait()


async def fails():
    raise ValueError("no such file")


async def ends():
    await asyncio.sleep(0)


async def test_a_task_that_fails_ends_the_process_with_its_reason(caplog):
    supervisor = Supervisor()
    supervisor.start(for_ever(), "steady")
    supervisor.start(fails(), "reader")
    with pytest.raises(TaskDiedError, match="background task reader failed: no such file") as died:
        await supervisor.wait()
    assert isinstance(died.value.__cause__, ValueError)
    assert "reader" in caplog.text
    assert await supervisor.stop() == ()


async def test_a_task_that_ends_of_itself_is_a_failure_too():
    supervisor = Supervisor()
    supervisor.start(ends(), "reader")
    with pytest.raises(TaskDiedError, match="reader ended unexpectedly"):
        await supervisor.wait()


async def test_a_task_that_may_end_is_no_failure():
    supervisor = Supervisor()
    supervisor.start(ends(), "once", may_end=True)
    await asyncio.sleep(0.01)
    assert supervisor.running == ()
    await supervisor.stop()
    await supervisor.wait()


async def test_stopping_cancels_all_and_lets_the_waiter_return():
    supervisor = Supervisor()
    tasks = [supervisor.start(for_ever(), name) for name in "ab"]
    assert supervisor.running == ("a", "b")
    waiter = asyncio.create_task(supervisor.wait())
    await asyncio.sleep(0)
    assert await supervisor.stop() == ()
    await waiter
    assert all(task.cancelled() for task in tasks)


async def test_a_failure_while_stopping_is_logged_and_does_not_prevent_the_stop(caplog):
    async def untidy():
        try:
            await for_ever()
        finally:
            raise ValueError("left a mess")

    supervisor = Supervisor()
    supervisor.start(untidy(), "untidy")
    await asyncio.sleep(0)
    await supervisor.stop()
    await supervisor.wait()
    assert "left a mess" in caplog.text


@pytest.mark.looptime
async def test_a_task_that_does_not_stop_is_named():
    release = asyncio.Event()

    async def stubborn():
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    supervisor = Supervisor()
    task = supervisor.start(stubborn(), "stubborn")
    await asyncio.sleep(0)
    assert await supervisor.stop(grace=5) == ("stubborn",)
    release.set()
    await task


async def test_stop_task_passes_over_the_tasks_own_failure():
    async def untidy():
        try:
            await for_ever()
        finally:
            raise ValueError("left a mess")

    task = asyncio.create_task(untidy())
    await asyncio.sleep(0)
    await stop_task(task)
    assert task.done()
