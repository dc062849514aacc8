"""Running the Reserve and Permit plugins (pkg/scheduler/framework/runtime/framework.go).

What a plugin raises counts as an error that it answers.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, NamedTuple

from scheduler.framework.recorder import PERMIT, RESERVE, UNRESERVE, ask
from scheduler.framework.status import Code, PluginError, Status, error
from scheduler.framework.trace import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import PermitPlugin, ReservePlugin

log = logging.getLogger(__name__)


class PermitOutcome(NamedTuple):
    """`status` is None or what ends the attempt; `waits` has the seconds that plugins want the pod to wait at most."""

    status: Status | None
    waits: dict[str, float]

    @property
    def code(self) -> Code:
        """Wait only where nobody turned the pod down."""
        if self.status is not None:
            return self.status.code
        return Code.WAIT if self.waits else Code.SUCCESS


def run_reserve(plugins: Sequence[ReservePlugin], cycle: Cycle, node: str) -> Status | None:
    """Ask each plugin in order, until one refuses or fails; then `run_unreserve` must follow."""
    start = time.perf_counter()
    status = None
    for plugin in plugins:
        try:
            status = ask(cycle, RESERVE, plugin.name, plugin.reserve, cycle, node)
        except Exception as problem:
            status = raised(RESERVE, plugin.name, cycle, problem)
        if status is not None:
            status = named(RESERVE, plugin.name, status)
            break
    seconds = _observe(cycle, RESERVE, Code.SUCCESS if status is None else status.code, start)
    note(cycle, RESERVE, plugins, status, seconds)
    return status


def run_unreserve(plugins: Sequence[ReservePlugin], cycle: Cycle, node: str) -> None:
    """Let all plugins take their reservations back, the last one first."""
    start = time.perf_counter()
    for plugin in reversed(plugins):
        try:
            ask(cycle, UNRESERVE, plugin.name, plugin.unreserve, cycle, node)
        except Exception as problem:
            raised(UNRESERVE, plugin.name, cycle, problem)
    note(cycle, UNRESERVE, plugins, None, _observe(cycle, UNRESERVE, Code.SUCCESS, start))


def run_permit(plugins: Sequence[PermitPlugin], cycle: Cycle, node: str) -> PermitOutcome:
    """Ask each plugin in order, until one refuses or fails; some may ask to wait."""
    start = time.perf_counter()
    waits: dict[str, float] = {}
    refusal = None
    for plugin in plugins:
        try:
            status, seconds = ask(cycle, PERMIT, plugin.name, plugin.permit, cycle, node)
        except Exception as problem:
            status, seconds = raised(PERMIT, plugin.name, cycle, problem), 0.0
        if status is None:
            continue
        if status.code is not Code.WAIT:
            refusal = named(PERMIT, plugin.name, status)
            break
        waits[plugin.name] = seconds
    if waits and cycle.trace is not None:
        cycle.trace.waits = waits
    outcome = PermitOutcome(refusal, waits)
    seconds = _observe(cycle, PERMIT, outcome.code, start)
    note(cycle, PERMIT, plugins, refusal or (Status(Code.WAIT, plugin=",".join(waits)) if waits else None), seconds)
    return outcome


def named(point: str, plugin: str, status: Status) -> Status:
    """A refusal under its plugin's name; anything else is an error that says where it happened."""
    if status.rejected:
        return status.by(plugin)
    return error(f'running {point} plugin "{plugin}": {status.message}').by(plugin)


def raised(point: str, plugin: str, cycle: Cycle, problem: Exception) -> Status:
    """The error that stands for what a plugin raised."""
    if isinstance(problem, PluginError):
        return error(str(problem))
    log.error("%s plugin %s failed for pod %s", point, plugin, cycle.pod.key, exc_info=problem)
    return error(f"{type(problem).__name__}: {problem}")


def _observe(cycle: Cycle, point: str, code: Code, start: float) -> float:
    seconds = time.perf_counter() - start
    if cycle.recorder is not None:
        cycle.recorder.point(point, code, seconds)
    return seconds
