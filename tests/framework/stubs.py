"""Plugins that answer what a test tells them to, and keep a diary of what they were asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler.framework.interface import (
    BindPlugin,
    EnqueueExtensions,
    FilterPlugin,
    PermitPlugin,
    PostBindPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
)
from scheduler.framework.status import SKIP, Status


def _answer(value: Any) -> Any:
    if isinstance(value, Exception):
        raise value
    return value


class Named:
    """A plugin named by its instance; `answer` may be an exception to raise."""

    def __init__(self, name: str, answer: Any = None, diary: list[str] | None = None) -> None:
        self.name = name
        self.answer = answer
        self.diary = [] if diary is None else diary


class Gate(Named, PreEnqueuePlugin, EnqueueExtensions):
    """Holds pods back while `answer` is a status. `hints` are what it asks to hear of."""

    hints: Any = ()

    def pre_enqueue(self, pod):
        self.diary.append(f"{self.name} {pod.name}")
        return _answer(self.answer)

    def events_to_register(self):
        return self.hints


class PreFilter(Named, PreFilterPlugin):
    def pre_filter(self, cycle):
        self.diary.append(self.name)
        return _answer(self.answer)


class Filter(Named, FilterPlugin, EnqueueExtensions):
    """`answer`: statuses by node name; other nodes fit. Asked anew in each cycle."""

    per_cycle = True
    may_fail = True
    hints: Any = ()

    def filter(self, cycle, nodes):
        table = nodes.table
        rows = nodes.indices.tolist()
        names = [table.objects[row].metadata.name if table.objects[row] else "" for row in rows]
        self.diary.append(f"{self.name} {' '.join(sorted(filter(None, names)))}")
        answer = _answer(self.answer) or {}
        self.statuses = list(answer.values())
        places = {name: place for place, name in enumerate(answer, 1)}
        return np.array([places.get(name, 0) for name in names], np.uint8)

    def status(self, cycle, code):
        return self.statuses[code - 1]

    def events_to_register(self):
        return self.hints


class PostFilter(Named, PostFilterPlugin):
    """`answer`: a PostFilterResult, or a status."""

    def post_filter(self, cycle):
        self.diary.append(self.name)
        answer = _answer(self.answer)
        return PostFilterResult(answer) if isinstance(answer, Status) else answer


class PreScore(Named, PreScorePlugin):
    def pre_score(self, cycle, feasible):
        self.diary.append(self.name)
        return _answer(self.answer)


class Score(Named, PreScorePlugin, ScorePlugin):
    """`answer`: scores by node name, 0 for others, or SKIP."""

    per_cycle = True

    def pre_score(self, cycle, feasible):
        return SKIP if self.answer is SKIP else None

    def score(self, cycle, nodes):
        scores = _answer(self.answer) or {}
        names = [nodes.table.name(row) for row in nodes.indices.tolist()]
        return np.array([scores.get(name, 0) for name in names], np.int64)


class Reserve(Named, ReservePlugin):
    def reserve(self, cycle, node):
        self.diary.append(f"reserve {self.name}")
        return _answer(self.answer)

    def unreserve(self, cycle, node):
        self.diary.append(f"unreserve {self.name}")


class Permit(Named, PermitPlugin):
    """`answer`: a status, or a status and seconds."""

    def permit(self, cycle, node):
        self.diary.append(f"permit {self.name}")
        answer = _answer(self.answer)
        return answer if isinstance(answer, tuple) else (answer, 0.0)


class PreBind(Named, PreBindPlugin):
    """`flight`: the answer to the pre-flight; `wait`: something to await before answering."""

    flight: Any = None
    wait: Any = None

    def pre_bind_pre_flight(self, cycle, node):
        return _answer(self.flight)

    async def pre_bind(self, cycle, node):
        self.diary.append(f"prebind {self.name}")
        if self.wait is not None:
            await self.wait()
        return _answer(self.answer)


class Bind(Named, BindPlugin):
    """Binds nothing, or by `write(pod, node)`; `wait`: something to await before answering."""

    wait: Any = None
    write: Any = None

    async def bind(self, cycle, node):
        self.diary.append(f"bind {self.name}")
        if self.wait is not None:
            await self.wait()
        answer = _answer(self.answer)
        if answer is None and self.write is not None:
            self.write(cycle.pod, node)
        return answer


class PostBind(Named, PostBindPlugin):
    def post_bind(self, cycle, node):
        self.diary.append(f"postbind {self.name} {node}")
        _answer(self.answer)
