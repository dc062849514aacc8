"""Running the PreFilter plugins (pkg/scheduler/framework/runtime/framework.go, RunPreFilterPlugins)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from scheduler.framework.interface import NodeNames
from scheduler.framework.recorder import PRE_FILTER, ask, skips
from scheduler.framework.settled import Learning, Step, known_steps
from scheduler.framework.status import Code, PluginError, Status, unresolvable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import PreFilterPlugin
    from scheduler.framework.shape_cache import ShapeCache


class PreFilterOutcome(msgspec.Struct, frozen=True):
    """What the PreFilter plugins said together.

    `status` is None on success, else the refusal; `names` are the only nodes to look at (None: all), restricted by the
    plugins in `restricted_by`; the filters of `skipped` are left out.
    """

    status: Status | None
    names: frozenset[str] | None
    restricted_by: frozenset[str]
    skipped: frozenset[str]


def run_pre_filters(
    plugins: Sequence[PreFilterPlugin], cycle: Cycle, cache: ShapeCache | None = None
) -> PreFilterOutcome:
    """Ask each plugin in order, but for those whose answer for the shape the cache has.

    Raises PluginError if one fails.
    """
    known: list[Step[PreFilterPlugin]] | None = known_steps(cache, cycle, PRE_FILTER)
    answers = _Answers(cycle)
    if known is None:
        return _ask_all(plugins, answers, cache)
    for step in known:
        plugin = step.plugin
        if plugin is None:
            answers.skipped += step.hand_on(cycle, PRE_FILTER)
        elif not answers.take(plugin.name, plugin.pre_filter(cycle)):
            break
    return answers.outcome()


def _ask_all(plugins: Sequence[PreFilterPlugin], answers: _Answers, cache: ShapeCache | None) -> PreFilterOutcome:
    """Ask all plugins, and remember which of them need not be asked again if all let the pod in."""
    cycle = answers.cycle
    timed = cycle.recorder is not None and cycle.sampled
    learning: Learning[PreFilterPlugin] = Learning(cache, cycle, PRE_FILTER)
    for plugin in plugins:
        answer = ask(cycle, PRE_FILTER, plugin.name, plugin.pre_filter, cycle) if timed else plugin.pre_filter(cycle)
        if not answers.take(plugin.name, answer):
            return answers.outcome()
        skipped = skips(answer)
        settled = plugin.pre_filter_settled if answer is None or skipped else None
        learning.note(plugin, plugin.name, skipped=skipped, settled=settled)
    learning.keep()
    return answers.outcome()


class _Answers:
    """What the plugins have said so far."""

    __slots__ = ("_names", "_refusal", "_restricted_by", "cycle", "skipped")

    def __init__(self, cycle: Cycle) -> None:
        self.cycle = cycle
        self.skipped: tuple[str, ...] = ()
        self._names: frozenset[str] | None = None
        self._restricted_by: tuple[str, ...] = ()
        self._refusal: Status | None = None

    def take(self, plugin: str, answer: Status | NodeNames | None) -> bool:
        """Take an answer in; whether the next plugin is to be asked. Raises PluginError."""
        if skips(answer):  # as most do most pods
            self.skipped += (plugin,)
            return True
        recorder = self.cycle.recorder
        if recorder is not None:
            recorder.evaluated(PRE_FILTER, plugin)
        if answer is None:
            return True
        if isinstance(answer, NodeNames):
            self._restricted_by += (plugin,)
            names = self._names = answer.names if self._names is None else self._names & answer.names
            if not names:
                self._refusal = unresolvable(_nothing_left(self._restricted_by))
            return bool(names)
        if answer.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            self._refusal, self._names, self._restricted_by = answer.by(plugin), None, ()
            return False
        if answer.code is not Code.UNSCHEDULABLE:
            raise PluginError(f'running PreFilter plugin "{plugin}": {answer.message}')
        # Preemption may help, and it needs the state that the remaining plugins prepare.
        self._refusal = answer.by(plugin)
        return True

    def outcome(self) -> PreFilterOutcome:
        """What they have said together."""
        if self._refusal is None and self._names is None:
            return _without_refusal(self.skipped)
        return PreFilterOutcome(self._refusal, self._names, frozenset(self._restricted_by), frozenset(self.skipped))


@lru_cache(maxsize=256)
def _without_refusal(skipped: tuple[str, ...]) -> PreFilterOutcome:
    """Most outcomes are one of a few."""
    return PreFilterOutcome(None, None, _NOBODY, frozenset(skipped))


_NOBODY: frozenset[str] = frozenset()

NOTHING_SAID = PreFilterOutcome(None, None, _NOBODY, _NOBODY)
"""The outcome without any plugin."""


def _nothing_left(plugins: tuple[str, ...]) -> str:
    if len(plugins) == 1:
        return f"node(s) didn't satisfy plugin {plugins[0]}"
    return f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(plugins))}] simultaneously"
