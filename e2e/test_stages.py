"""Which stage a sample of the CPU belongs to."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from e2e.perf.stages import SIMULATE_STAGES, Sampler

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


@pytest.mark.parametrize(
    ("file", "stage"),
    [
        ("/x/scheduler/client/watching.py", "decode"),
        ("/x/scheduler/api/objects.py", "decode"),
        ("/x/scheduler/client/eventwriter.py", "events"),
        ("/x/scheduler/client/dispatcher.py", "bind"),
        ("/x/scheduler/plugins/defaultpreemption/victims.py", "preempt"),
        ("/x/scheduler/plugins/taint_toleration.py", "cycle"),
        ("/x/scheduler/cycle/handlers.py", "state"),
        ("/x/scheduler/queue/queue.py", "queue"),
        ("/x/scheduler/app/process.py", "loop"),
        ("/x/scheduler/metrics/instruments.py", "other"),
        ("/usr/lib/python3/asyncio/events.py", ""),
    ],
)
def test_files(file: str, stage: str) -> None:
    assert Sampler().stage_of(file) == stage


@pytest.mark.parametrize(
    ("file", "stage"),
    [
        ("<frozen importlib._bootstrap>", "imports"),
        ("/x/scheduler/app/yaml_text.py", "read"),
        ("/x/scheduler/api/stored.py", "read"),
        ("/x/scheduler/app/decisions.py", "record"),
        ("/x/scheduler/cli/decisions_json.py", "print"),
        ("/x/scheduler/client/memory.py", "bind"),
        ("/x/scheduler/client/events.py", "bind"),
        ("/x/scheduler/cycle/algorithm.py", "cycle"),
        ("/x/scheduler/app/simulation.py", "other"),
    ],
)
def test_files_of_a_simulation(file: str, stage: str) -> None:
    assert Sampler(SIMULATE_STAGES).stage_of(file) == stage


def _frame(*files: str) -> FrameType:
    """The innermost frame of calls from file to file, the outermost first."""

    def last() -> FrameType:
        return sys._getframe().f_back  # type: ignore[return-value]

    call: Callable[[], FrameType] = last
    for file in reversed(files):
        made: dict[str, Callable[[], FrameType]] = {"inner": call}
        exec(compile("def outer(): return inner()", file, "exec"), made)
        call = made["outer"]
    return call()


@pytest.mark.parametrize(
    ("files", "stage"),
    [
        (("/x/asyncio/events.py",), "loop"),
        (("/x/asyncio/events.py", "/x/scheduler/client/http.py"), "bind"),
        (("/x/scheduler/cycle/algorithm.py", "/x/numpy/core.py"), "cycle"),
        (("/x/scheduler/cycle/scheduler.py", "/x/scheduler/cache/state.py"), "cycle"),
        (("/x/scheduler/client/informer.py", "/x/scheduler/cache/state.py"), "state"),
    ],
)
def test_the_innermost_frame_says_and_the_state_works_for_the_cycle(files: tuple[str, ...], stage: str) -> None:
    sampler = Sampler()
    sampler.take(0, _frame(*files))
    assert sampler.shares() == {stage: 1.0}
