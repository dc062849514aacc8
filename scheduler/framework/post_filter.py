"""Running the PostFilter plugins (pkg/scheduler/framework/runtime/framework.go, RunPostFilterPlugins)."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

import msgspec

from scheduler.framework.recorder import POST_FILTER, ask
from scheduler.framework.status import Code, PluginError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import PostFilterPlugin, PostFilterResult

log = logging.getLogger(__name__)


class PostFilterOutcome(msgspec.Struct, frozen=True):
    """What the PostFilter plugins said together.

    `message` goes behind the reasons of the misfit; `nominated_node` is a node in prospect, "" to clear it, None to
    leave it as the pod has it.
    """

    code: Code
    message: str
    nominated_node: str | None


def run_post_filters(plugins: Sequence[PostFilterPlugin], cycle: Cycle) -> PostFilterOutcome:
    """Ask each plugin in order, until one made room or says that nothing will.

    What a plugin raises ends it as well, with the code Error.
    """
    start = time.perf_counter()
    outcome = _run(plugins, cycle)
    if cycle.recorder is not None:
        cycle.recorder.point(POST_FILTER, outcome.code, time.perf_counter() - start)
    return outcome


def _run(plugins: Sequence[PostFilterPlugin], cycle: Cycle) -> PostFilterOutcome:
    nominated: str | None = None
    reasons: list[str] = []
    for plugin in plugins:
        try:
            result: PostFilterResult = ask(cycle, POST_FILTER, plugin.name, plugin.post_filter, cycle)
        except Exception as problem:
            log.exception("PostFilter plugin %s failed for pod %s", plugin.name, cycle.pod.key)
            text = str(problem) if isinstance(problem, PluginError) else f"{type(problem).__name__}: {problem}"
            return PostFilterOutcome(Code.ERROR, text, None)
        status = result.status
        if status.code in (Code.SUCCESS, Code.UNSCHEDULABLE_AND_UNRESOLVABLE):
            return PostFilterOutcome(status.code, status.message, result.nominated_node)
        if not status.rejected:
            return PostFilterOutcome(Code.ERROR, status.message, None)
        if result.nominated_node is not None:
            nominated = result.nominated_node
        reasons += status.reasons
    return PostFilterOutcome(Code.UNSCHEDULABLE, ", ".join(reasons), nominated)
