"""What plugins have answered for all pods of a shape once and for all, so that they need not be asked again.

Most plugins have nothing to look at for most pods: no volumes, no ports, no affinity. Asking each of them again for
every pod of a deployment took a fifth of a decision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scheduler.framework.cycle import Cycle
    from scheduler.framework.shape_cache import ShapeCache

P = TypeVar("P")


class Asked(NamedTuple, Generic[P]):
    """What became of one plugin: whether its answer was Skip, what it left in `Cycle.data`, and whether that holds."""

    plugin: P
    name: str
    skipped: bool
    left: dict[str, Any]
    settled: bool


class Step(NamedTuple, Generic[P]):
    """A plugin to be asked, or, where that is None, what its neighbours have answered for good.

    `left` is what they hand on in `Cycle.data`; `skipped` and `counted` are those that answered Skip, and the others.
    """

    plugin: P | None
    left: dict[str, Any]
    skipped: tuple[str, ...]
    counted: tuple[str, ...]

    def hand_on(self, cycle: Cycle, point: str) -> tuple[str, ...]:
        """Let the answers hold for one more pod; the names of those that skip it."""
        if self.left:
            cycle.data.update(self.left)
        if cycle.recorder is not None:
            for name in self.counted:
                cycle.recorder.evaluated(point, name)
        return self.skipped


def steps(asked: Iterable[Asked[P]]) -> list[Step[P]]:
    """How the plugins are gone through from now on, in the order in which they were asked."""
    found: list[Step[P]] = []
    for one in asked:
        if not one.settled:
            found.append(Step(one.plugin, {}, (), ()))
            continue
        if not found or found[-1].plugin is not None:
            found.append(Step(None, {}, (), ()))
        _, left, skipped, counted = found[-1]
        if one.skipped:
            skipped += (one.name,)
        else:
            counted += (one.name,)
        found[-1] = Step(None, left | one.left, skipped, counted)
    return found


def known_steps(cache: ShapeCache | None, cycle: Cycle, point: str) -> list[Step[Any]] | None:
    """How the plugins of a point are gone through; None where all are to be asked, as in cycles that are timed."""
    return None if cache is None or cycle.sampled else cache.answers.get(point)


class Learning(Generic[P]):
    """Notes what the plugins of a point answer, to be gone by for the pods of the shape to come.

    It does so only for a shape that was seen before: most work would be in vain for one that has a single pod.
    """

    __slots__ = ("_asked", "_before", "_cache", "_cycle", "_point")

    def __init__(self, cache: ShapeCache | None, cycle: Cycle, point: str) -> None:
        self._cache = cache if cache is not None and cache.seen_before(point) else None
        self._cycle = cycle
        self._point = point
        self._asked: list[Asked[P]] = []
        self._before = set(cycle.data) if self._cache is not None else set()

    def note(self, plugin: P, name: str, *, skipped: bool, settled: Callable[[Cycle], bool] | None) -> None:
        """A plugin has answered; `settled` says whether for good, None if that is out of the question."""
        if self._cache is None:
            return
        data, left = self._cycle.data, {}
        if len(data) != len(self._before):
            left = {key: value for key, value in data.items() if key not in self._before}
            self._before.update(left)
        holds = settled is not None and settled(self._cycle)
        self._asked.append(Asked(plugin, name, skipped, left, holds))

    def keep(self) -> None:
        """All plugins have answered, and the pod goes on."""
        if self._cache is not None:
            self._cache.answers[self._point] = steps(self._asked)
