"""Work in steps: what comes of it is the same, whether others go on between them or not."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from scheduler.explain.steps import in_one_go, in_turns

if TYPE_CHECKING:
    from scheduler.explain.steps import Steps


def counted(number: int, done: list[str]) -> Steps[int]:
    for _ in range(number):
        done.append("step")
        yield
    return number


@pytest.mark.parametrize("number", [0, 1, 3])
def test_in_one_go_all_steps_are_taken(number: int) -> None:
    done: list[str] = []
    assert in_one_go(counted(number, done)) == number
    assert done == ["step"] * number


@pytest.mark.parametrize("number", [0, 1, 3])
async def test_in_turns_others_go_on_after_each_step(number: int) -> None:
    done: list[str] = []

    async def other() -> None:
        while True:
            done.append("other")
            await asyncio.sleep(0)

    beside = asyncio.create_task(other())
    assert await in_turns(counted(number, done)) == number
    beside.cancel()
    assert done == ["step", "other"] * number


@pytest.mark.parametrize("way", ["one go", "turns"])
async def test_what_a_step_raises_ends_it(way: str) -> None:
    def failing() -> Steps[int]:
        yield
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        in_one_go(failing()) if way == "one go" else await in_turns(failing())


async def test_whoever_gives_up_waiting_ends_the_steps_where_they_are() -> None:
    done: list[str] = []
    work = asyncio.create_task(in_turns(counted(1_000, done)))
    await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert 0 < len(done) < 1_000
