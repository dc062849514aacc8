"""Running the PreBind, Bind and PostBind plugins (pkg/scheduler/framework/runtime/framework.go).

What a plugin raises counts as an error that it answers.
"""

from __future__ import annotations

import asyncio
import time
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from scheduler.framework.recorder import BIND, POST_BIND, PRE_BIND, PRE_BIND_PRE_FLIGHT, ask, ask_async
from scheduler.framework.reservation import named, raised
from scheduler.framework.status import SKIP, Code, Status, error
from scheduler.framework.trace import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import BindPlugin, PostBindPlugin, PreBindPlugin


class PreFlight(NamedTuple):
    """`status` is None where any plugin has work to do, SKIP where none has, else an error; `active` have some.

    Each list in `active` are plugins that work at the same time.
    """

    status: Status | None
    active: list[list[PreBindPlugin]]


def run_pre_flights(plugins: Sequence[PreBindPlugin], cycle: Cycle, node: str) -> PreFlight:
    """Ask the PreBind plugins which of them have work to do."""
    start = time.perf_counter()
    result: Status | None = SKIP
    busy: set[str] = set()
    for plugin in plugins:
        try:
            status = ask(cycle, PRE_BIND_PRE_FLIGHT, plugin.name, plugin.pre_bind_pre_flight, cycle, node)
        except Exception as problem:
            status = raised(PRE_BIND_PRE_FLIGHT, plugin.name, cycle, problem)
        if status is None:
            result = None
            busy.add(plugin.name)
        elif status.code is Code.ERROR:
            result = error(f'running PreBindPreFlight "{plugin.name}": {status.message}')
            break
        elif status.code is not Code.SKIP:
            result = error(
                f'PreBindPreFlight {plugin.name} returned "{status.code}", which is unsupported. '
                "It is supposed to return Success, Skip, or Error status"
            )
            break
    _observe(cycle, PRE_BIND_PRE_FLIGHT, result, start)
    return PreFlight(result, _groups(plugins, busy) if busy else [])


def _groups(plugins: Sequence[PreBindPlugin], busy: set[str]) -> list[list[PreBindPlugin]]:
    """The plugins with work to do, neighbours that may work in parallel together; idle serial ones part them, too."""
    found = []
    for parallel, neighbours in groupby(plugins, key=lambda plugin: plugin.parallel):
        working = [plugin for plugin in neighbours if plugin.name in busy]
        found += ([working] if working else []) if parallel else [[plugin] for plugin in working]
    return found


async def run_pre_bind(groups: Sequence[Sequence[PreBindPlugin]], cycle: Cycle, node: str) -> Status | None:
    """Let each group of plugins do its work, in order, until one refuses or fails.

    If this is cancelled with a message, the plugin at work fails with it.
    """
    start = time.perf_counter()
    status = None
    for plugins in groups:
        status = await (_together(plugins, cycle, node) if len(plugins) > 1 else _pre_bind(plugins[0], cycle, node))
        if status is not None:
            break
    _observe(cycle, PRE_BIND, status, start)
    return status


def skip_pre_bind(cycle: Cycle) -> None:
    """As `run_pre_bind`, where no plugin has work to do."""
    _observe(cycle, PRE_BIND, None, time.perf_counter())


async def _pre_bind(plugin: PreBindPlugin, cycle: Cycle, node: str) -> Status | None:
    start = time.perf_counter()
    try:
        status = await ask_async(cycle, PRE_BIND, plugin.name, plugin.pre_bind, cycle, node)
    except asyncio.CancelledError as called_off:
        if not called_off.args:
            raise
        status = error(str(called_off.args[0]))
    except Exception as problem:
        status = raised(PRE_BIND, plugin.name, cycle, problem)
    status = None if status is None else named(PRE_BIND, plugin.name, status)
    note(cycle, PRE_BIND, [plugin], status, time.perf_counter() - start)
    return status


async def _together(plugins: Sequence[PreBindPlugin], cycle: Cycle, node: str) -> Status | None:
    """Let plugins work at the same time; the first that does not succeed calls the others off."""
    tasks = [asyncio.ensure_future(_pre_bind(plugin, cycle, node)) for plugin in plugins]
    reason: tuple[object, ...] = ()
    try:
        for finished in asyncio.as_completed(tasks):
            status = await finished
            if status is not None:
                return status
        return None
    except asyncio.CancelledError as called_off:
        reason = called_off.args
        if not reason:
            raise
    finally:
        for task in tasks:
            task.cancel(*reason)
        answers = await asyncio.gather(*tasks, return_exceptions=True)
    return next((answer for answer in answers if isinstance(answer, Status)), None)


async def run_bind(plugins: Sequence[BindPlugin], cycle: Cycle, node: str) -> Status | None:
    """Bind by the first plugin that does not skip; SKIP if all do."""
    start = time.perf_counter()
    status: Status | None = SKIP
    for plugin in plugins:
        try:
            status = await ask_async(cycle, BIND, plugin.name, plugin.bind, cycle, node)
        except Exception as problem:
            status = raised(BIND, plugin.name, cycle, problem)
        if status is None or status.code is not Code.SKIP:
            status = None if status is None else named(BIND, plugin.name, status)
            break
    seconds = _observe(cycle, BIND, status, start)
    # The last one asked has bound the pod, or failed to.
    note(cycle, BIND, [plugin] if plugins else (), status, seconds)
    return status


def run_post_bind(plugins: Sequence[PostBindPlugin], cycle: Cycle, node: str) -> None:
    """Tell all plugins that the pod is bound."""
    start = time.perf_counter()
    for plugin in plugins:
        try:
            ask(cycle, POST_BIND, plugin.name, plugin.post_bind, cycle, node)
        except Exception as problem:
            raised(POST_BIND, plugin.name, cycle, problem)
    note(cycle, POST_BIND, plugins, None, _observe(cycle, POST_BIND, None, start))


def _observe(cycle: Cycle, point: str, status: Status | None, start: float) -> float:
    seconds = time.perf_counter() - start
    if cycle.recorder is not None:
        cycle.recorder.point(point, Code.SUCCESS if status is None else status.code, seconds)
    return seconds
