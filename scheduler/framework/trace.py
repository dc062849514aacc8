"""What is noted of one attempt while it goes on, for its record: each step, and scores that are made anew each time."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, TypeAlias

from scheduler.framework.status import Code

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import Plugin, ScorePlugin, Scores
    from scheduler.framework.scoring import PluginScores
    from scheduler.framework.status import Status

WAIT_ON_PERMIT = "WaitOnPermit"


StepKey: TypeAlias = tuple[str, str, Code, str]
"""A step but for its time: extension point, plugin where one alone was asked or decided, outcome, what went wrong."""


GivenScores: TypeAlias = "tuple[ScorePlugin, int, Scores, Scores]"
"""What a plugin gave the feasible nodes that nobody else keeps: the plugin, its weight, the scores before normalizing,
and as they count."""


class Trace:
    """The steps of one attempt, its binding cycle included.

    `scores` are those of plugins that are asked in each cycle, `given` those of extenders, until the record has taken
    them. `waits`: the seconds that Permit plugins let the pod wait at most. `ended`: whether nothing more will come;
    `failure` is then None, or (whether the pod was turned down and this is no error, message).
    """

    __slots__ = ("_keys", "_seconds", "ended", "failure", "given", "scores", "waits")

    def __init__(self) -> None:
        self._keys: list[StepKey] | tuple[StepKey, ...] = []
        self._seconds: list[float] | array[float] = []
        self.ended = False
        self.failure: tuple[bool, str] | None = None
        self.scores: list[GivenScores] = []
        self.given: list[PluginScores] = []
        self.waits: Mapping[str, float] = _NO_WAITS

    def step(self, point: str, seconds: float, code: Code = Code.SUCCESS, plugin: str = "", error: str = "") -> None:
        """A step was taken."""
        if isinstance(self._keys, list):
            self._keys.append((point, plugin, code, error))
            self._seconds.append(seconds)

    def begin_with(self, steps: Sequence[tuple[str, Code, float]]) -> None:
        """Steps (point, code, seconds) that came before all others."""
        if isinstance(self._keys, list) and isinstance(self._seconds, list):
            self._keys[:0] = [(point, "", code, "") for point, code, _ in steps]
            self._seconds[:0] = [seconds for _, _, seconds in steps]

    def forget_scores(self) -> None:
        """The record has taken the scores."""
        self.scores = []
        self.given = []

    def steps(self) -> Iterator[tuple[StepKey, float]]:
        """The steps so far, each with its seconds."""
        return zip(self._keys, self._seconds, strict=True)

    def end(self, failure: tuple[bool, str] | None = None) -> None:
        """Nothing more comes. The steps are kept in little memory from now on: most attempts take the same ones."""
        if self.ended:
            return
        self.ended = True
        self.failure = failure
        keys = tuple(self._keys)
        if failure is None:
            keys = _SEQUENCES.setdefault(keys, keys)
            if len(_SEQUENCES) > _MOST:
                _SEQUENCES.clear()
        self._keys = keys
        self._seconds = array("f", self._seconds)


_NO_WAITS: dict[str, float] = {}
_SEQUENCES: dict[tuple[StepKey, ...], tuple[StepKey, ...]] = {}
"""Sequences of steps that led to a bound pod, by themselves."""
_MOST = 256


def note(cycle: Cycle, point: str, plugins: Sequence[Plugin], status: Status | None, seconds: float) -> None:
    """The plugins of a point were asked, if there are any; `status` is what came of it, None for success."""
    trace = cycle.trace
    if trace is None or not plugins:
        return
    if status is None:
        trace.step(point, seconds, plugin=plugins[0].name if len(plugins) == 1 else "")
    else:
        error = "" if status.code in (Code.SUCCESS, Code.SKIP) else status.message
        trace.step(point, seconds, status.code, status.plugin, error)
