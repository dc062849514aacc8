"""DefaultBinder."""

from __future__ import annotations

import asyncio

import pytest

from scheduler.framework.status import error
from scheduler.plugins.default_binder import DefaultBinder
from tests.builders import node, pod, state
from tests.plugins.harness import cycle_of


class RecordingBinder:
    def __init__(self, problem: BaseException | None = None) -> None:
        self.problem = problem
        self.bound: list[tuple[str, str, str, str]] = []

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        if self.problem is not None:
            raise self.problem
        self.bound.append((namespace, name, uid, node))


CYCLE = cycle_of(state([node("n")]), pod("a").namespace("team").uid("u1"))


async def test_binds_the_very_pod_to_the_node():
    binder = RecordingBinder()
    assert await DefaultBinder(binder).bind(CYCLE, "n") is None
    assert binder.bound == [("team", "a", "u1", "n")]


async def test_a_failure_is_told_in_its_own_words():
    binder = RecordingBinder(RuntimeError('pods "a" not found'))
    assert await DefaultBinder(binder).bind(CYCLE, "n") == error('pods "a" not found')


async def test_cancellation_is_not_a_failure():
    with pytest.raises(asyncio.CancelledError):
        await DefaultBinder(RecordingBinder(asyncio.CancelledError())).bind(CYCLE, "n")
