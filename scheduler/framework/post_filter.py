"""Running the PostFilter plugins (pkg/scheduler/framework/runtime/framework.go, RunPostFilterPlugins)."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

import msgspec

from scheduler.framework.recorder import POST_FILTER, ask
from scheduler.framework.status import Code, PluginError, Status
from scheduler.framework.trace import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import PostFilterPlugin, PostFilterResult

log = logging.getLogger(__name__)


class PostFilterOutcome(msgspec.Struct, frozen=True):
    """What the PostFilter plugins said together.

    `message` goes behind the reasons of the misfit; `nominated_node` is a node in prospect, "" to clear it, None to
    leave it as the pod has it. `plugin` is the first that turned the pod down, or the one that ended the asking by a
    refusal or an error; `speaker` the first of those that turned it down with a word, "" if none did or another
    ended it; `result` is the answer of the last plugin that was asked.
    """

    code: Code
    message: str
    nominated_node: str | None
    plugin: str = ""
    result: PostFilterResult | None = None
    speaker: str = ""


def run_post_filters(plugins: Sequence[PostFilterPlugin], cycle: Cycle) -> PostFilterOutcome:
    """Ask each plugin in order, until one made room or says that nothing will.

    What a plugin raises ends it as well, with the code Error.
    """
    start = time.perf_counter()
    outcome = cycle.post_filter = _run(plugins, cycle)
    seconds = time.perf_counter() - start
    if cycle.recorder is not None:
        cycle.recorder.point(POST_FILTER, outcome.code, seconds)
    said = Status(outcome.code, (outcome.message,), outcome.speaker or outcome.plugin)
    note(cycle, POST_FILTER, plugins, said, seconds)
    return outcome


def _run(plugins: Sequence[PostFilterPlugin], cycle: Cycle) -> PostFilterOutcome:
    nominated: str | None = None
    reasons: list[str] = []
    rejector = speaker = ""
    result: PostFilterResult | None = None
    for plugin in plugins:
        try:
            result = ask(cycle, POST_FILTER, plugin.name, plugin.post_filter, cycle)
        except Exception as problem:
            log.exception("PostFilter plugin %s failed for pod %s", plugin.name, cycle.pod.key)
            text = str(problem) if isinstance(problem, PluginError) else f"{type(problem).__name__}: {problem}"
            return PostFilterOutcome(Code.ERROR, text, None, plugin.name)
        status = result.status
        decider = "" if status.code is Code.SUCCESS else plugin.name
        if status.code in (Code.SUCCESS, Code.UNSCHEDULABLE_AND_UNRESOLVABLE):
            return PostFilterOutcome(status.code, status.message, result.nominated_node, decider, result)
        if not status.rejected:
            return PostFilterOutcome(Code.ERROR, status.message, None, plugin.name)
        if result.nominated_node is not None:
            nominated = result.nominated_node
        rejector = rejector or plugin.name
        if status.reasons:
            speaker = speaker or plugin.name
        reasons += status.reasons
    return PostFilterOutcome(Code.UNSCHEDULABLE, ", ".join(reasons), nominated, rejector, result, speaker)
