"""What the winner has over the runner-up."""

from __future__ import annotations

import pytest

from scheduler.explain.comparison import Comparison, compare, ranked
from scheduler.explain.record import DecisionRecord, NodeScore


def record(**nodes: dict[str, int]) -> DecisionRecord:
    """A decision with these parts of the nodes' totals."""
    return DecisionRecord(feasible={name: NodeScore(sum(parts.values()), parts) for name, parts in nodes.items()})


def test_nodes_are_ranked_by_total_then_by_name() -> None:
    assert ranked(record(c={"X": 1}, b={"X": 2}, a={"X": 1})) == ["b", "a", "c"]


def test_the_chosen_node_is_first_among_equals() -> None:
    assert ranked(record(a={"X": 2}, b={"X": 2}, c={"X": 1}), chosen="b") == ["b", "a", "c"]


def test_parts_are_the_plugins_that_differ_the_largest_first() -> None:
    found = compare(record(a={"X": 300, "Y": 10, "Z": 5, "Q": 7}, b={"X": 0, "Y": 40, "Z": 5, "Q": 8}))
    assert found == Comparison("a", "b", 269, (("X", 300), ("Y", -30), ("Q", -1)))


@pytest.mark.parametrize("nodes", [{}, {"a": {"X": 1}}])
def test_there_is_nothing_to_compare_with_fewer_than_two_nodes(nodes: dict[str, dict[str, int]]) -> None:
    assert compare(record(**nodes)) is None


@pytest.mark.parametrize(
    ("comparison", "text"),
    [
        (Comparison("a", "b", 176, (("X", 200), ("Y", -24))), "a leads b by 176 points: X +200, Y -24"),
        (Comparison("a", "b", 1, (("X", 1),)), "a leads b by 1 point: X +1"),
        (Comparison("a", "b", 0, ()), "a and b tie, so one of the best was drawn"),
        (Comparison("a", "b", 0, (("X", 3), ("Y", -3))), "a and b tie, so one of the best was drawn: X +3, Y -3"),
    ],
)
def test_in_words(comparison: Comparison, text: str) -> None:
    assert str(comparison) == text
