"""Running the PreFilter plugins (pkg/scheduler/framework/runtime/framework.go, RunPreFilterPlugins)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from scheduler.framework.interface import NodeNames
from scheduler.framework.recorder import PRE_FILTER, ask, skips
from scheduler.framework.status import Code, PluginError, Status, unresolvable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import PreFilterPlugin


class PreFilterOutcome(msgspec.Struct, frozen=True):
    """What the PreFilter plugins said together.

    `status` is None on success, else the refusal; `names` are the only nodes to look at (None: all), restricted by the
    plugins in `restricted_by`; the filters of `skipped` are left out.
    """

    status: Status | None
    names: frozenset[str] | None
    restricted_by: frozenset[str]
    skipped: frozenset[str]


def run_pre_filters(plugins: Sequence[PreFilterPlugin], cycle: Cycle) -> PreFilterOutcome:
    """Ask each plugin in order. Raises PluginError if one fails."""
    skipped: list[str] = []
    names: frozenset[str] | None = None
    restricted_by: list[str] = []
    refusal: Status | None = None
    recorder = cycle.recorder
    for plugin in plugins:
        timed = recorder is not None and cycle.sampled
        answer = ask(cycle, PRE_FILTER, plugin.name, plugin.pre_filter, cycle) if timed else plugin.pre_filter(cycle)
        if recorder is not None and not skips(answer):
            recorder.evaluated(PRE_FILTER, plugin.name)
        if answer is None:
            continue
        if isinstance(answer, NodeNames):
            restricted_by.append(plugin.name)
            names = answer.names if names is None else names & answer.names
            if not names:
                status = unresolvable(_nothing_left(restricted_by))
                return PreFilterOutcome(status, names, frozenset(restricted_by), frozenset(skipped))
        elif answer.code is Code.SKIP:
            skipped.append(plugin.name)
        elif answer.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return PreFilterOutcome(answer.by(plugin.name), None, _NOBODY, frozenset(skipped))
        elif answer.code is Code.UNSCHEDULABLE:
            # Preemption may help, and it needs the state that the remaining plugins prepare.
            refusal = answer.by(plugin.name)
        else:
            raise PluginError(f'running PreFilter plugin "{plugin.name}": {answer.message}')
    return PreFilterOutcome(refusal, names, frozenset(restricted_by), frozenset(skipped))


_NOBODY: frozenset[str] = frozenset()

NOTHING_SAID = PreFilterOutcome(None, None, _NOBODY, _NOBODY)
"""The outcome without any plugin."""


def _nothing_left(plugins: list[str]) -> str:
    if len(plugins) == 1:
        return f"node(s) didn't satisfy plugin {plugins[0]}"
    return f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(plugins))}] simultaneously"
