"""Plugins that answer what a test tells them to, and keep a diary of what they were asked."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import numpy as np

from scheduler.client.extender.interface import ExtenderError, FilterAnswer
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


class StubExtender:
    """An extender whose answers are told: values, exceptions, or functions of the nodes (or candidates) it is given.

    `diary` notes what it was asked.
    """

    weight = 1
    ignorable = False

    def __init__(self, name="http://extender", diary=None, interested=True, **answers):
        self.name = name
        self.diary = [] if diary is None else diary
        self.is_interested = interested
        self.weight = answers.pop("weight", 1)
        self.ignorable = answers.pop("ignorable", False)
        self.answers = answers
        self.filters = "filter" in answers
        self.prioritizes = "prioritize" in answers
        self.binds = "bind" in answers
        self.preempts = "preempt" in answers

    def read_from(self, source):
        self.diary.append(f"{self.name} read_from")

    def interested(self, pod):
        return _answer(self.is_interested)

    def filter(self, pod, nodes):
        return self._asked("filter", nodes)

    def prioritize(self, pod, nodes):
        future = Future()
        try:
            future.set_result(self._asked("prioritize", nodes))
        except ExtenderError as problem:
            future.set_exception(problem)
        return future

    async def bind(self, pod, node):
        self._asked("bind", [node])

    def preempt(self, pod, candidates):
        return self._asked("preempt", candidates)

    def close(self):
        self.diary.append(f"{self.name} close")

    def _asked(self, verb, about):
        self.diary.append(f"{self.name} {verb} {' '.join(sorted(about))}")
        answer = self.answers[verb]
        return _answer(answer(about) if callable(answer) else answer)


def passing(*kept, failed=(), unresolvable=(), whole=False):
    """A filter's answer; reasons are by node."""
    return FilterAnswer(list(kept), dict(failed), dict(unresolvable), whole)
