"""Background tasks that can't die unnoticed: the first one that fails ends the process, with its reason."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Coroutine

__all__ = ["Supervisor", "TaskDiedError", "stop_task"]

log = logging.getLogger(__name__)


class TaskDiedError(Exception):
    """A background task ended although it was to run for ever; ``__cause__`` is its error, if any."""


class Supervisor:
    """Owns the process's background tasks.

    ``wait`` returns when ``stop`` was asked for, and raises TaskDiedError as soon as one task fails or ends
    of itself: the caller lets the process end on that, and whoever runs it (the kubelet) starts it again.
    """

    def __init__(self) -> None:
        self._tasks: dict[asyncio.Task[None], str] = {}
        self._ended: asyncio.Future[None] | None = None
        self._stopping = False

    def start(self, work: Coroutine[object, object, None], name: str, *, may_end: bool = False) -> asyncio.Task[None]:
        """Run ``work`` in the background. With ``may_end`` its ordinary end is no failure."""
        task = asyncio.create_task(work, name=name)
        self._tasks[task] = name
        task.add_done_callback(lambda done: self._on_done(done, may_end=may_end))
        return task

    @property
    def running(self) -> tuple[str, ...]:
        """Names of the tasks that run, in order of their start."""
        return tuple(self._tasks.values())

    async def wait(self) -> None:
        """Return after ``stop``; raise TaskDiedError when a task has failed. For one caller, once."""
        await self._future()

    async def stop(self, grace: float = 10.0) -> tuple[str, ...]:
        """Cancel all tasks and wait; answer the names of those still running after ``grace`` seconds."""
        self._stopping = True
        pending = set(self._tasks)
        for task in pending:
            task.cancel()
        if pending:
            await asyncio.wait(pending, timeout=grace)
        stuck = tuple(self._tasks[task] for task in pending if task in self._tasks and not task.done())
        if stuck:
            log.warning("background tasks that did not stop within %.1f s: %s", grace, ", ".join(stuck))
        future = self._future()
        if not future.done():
            future.set_result(None)
        return stuck

    def _future(self) -> asyncio.Future[None]:
        if self._ended is None:
            self._ended = asyncio.get_running_loop().create_future()
        return self._ended

    def _on_done(self, task: asyncio.Task[None], *, may_end: bool) -> None:
        name = self._tasks.pop(task)
        error = None if task.cancelled() else task.exception()
        if error is None and (self._stopping or may_end):
            return
        if error is not None:
            log.error("background task %s failed: %s: %s", name, type(error).__name__, error, exc_info=error)
        if self._stopping:
            return
        self._stopping = True
        died = TaskDiedError(f"background task {name} " + (f"failed: {error}" if error else "ended unexpectedly"))
        died.__cause__ = error
        future = self._future()
        if not future.done():
            future.set_exception(died)


async def stop_task(task: asyncio.Task[None]) -> None:
    """Cancel ``task`` and wait for its end, whatever that is; our own cancellation passes through."""
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        task.exception()
