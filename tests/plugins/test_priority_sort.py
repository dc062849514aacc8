"""PrioritySort."""

from __future__ import annotations

from scheduler.plugins.priority_sort import PrioritySort
from tests.builders import info, pod


def order(*pods: tuple[str, int | None, float]) -> list[str]:
    plugin = PrioritySort()
    keyed = []
    for name, priority, enqueued in pods:
        builder = pod(name) if priority is None else pod(name).priority(priority)
        keyed.append((plugin.sort_key(info(builder), enqueued), name))
    return [name for _, name in sorted(keyed)]


def test_higher_priorities_come_first():
    assert order(("low", -5, 1.0), ("high", 100, 3.0), ("none", None, 2.0)) == ["high", "none", "low"]


def test_among_equals_the_earliest_comes_first():
    assert order(("late", 1, 2.5), ("early", 1, 2.0)) == ["early", "late"]
