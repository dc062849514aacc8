"""Decisions as tables for people."""

from __future__ import annotations

import io

from scheduler.explain import table
from scheduler.explain.grid import Part, show
from scheduler.explain.record import DecisionRecord, NodeRejection, NodeScore


def plain(*parts: Part) -> list[str]:
    stream = io.StringIO()
    show(stream, parts)
    return stream.getvalue().splitlines()


def record(**nodes: tuple[int, int, int]) -> DecisionRecord:
    """A decision between nodes with scores of Taints, Fit and Images."""
    feasible = {
        name: NodeScore(sum(parts), dict(zip(("Taints", "Fit", "Images"), parts, strict=True)))
        for name, parts in nodes.items()
    }
    return DecisionRecord(feasible=feasible, prescore_skipped=("Spread",))


class TestPlacements:
    def test_one_line_a_pod(self) -> None:
        rows = [("default/a", "n1", "Scheduled", ""), ("default/long", "-", "Unschedulable", "0/1 nodes are available")]
        assert plain(table.placements(rows)) == [
            "POD            NODE   STATUS          MESSAGE",
            "default/a      n1     Scheduled",
            "default/long   -      Unschedulable   0/1 nodes are available",
        ]


class TestScores:
    def test_nodes_side_by_side_the_best_first(self) -> None:
        assert plain(*table.scores(record(a=(300, 40, 0), b=(0, 97, 0)), chosen="a")) == [
            "PLUGIN     a    b",
            "Taints   300    0",
            "Fit       40   97",
            "total    340   97",
            "a leads b by 243 points: Taints +300, Fit -57",
            "0 for all: Images, Spread",
        ]

    def test_the_chosen_one_of_equals_comes_first(self) -> None:
        lines = plain(*table.scores(record(a=(1, 1, 1), b=(1, 1, 1)), chosen="b"))
        assert lines[0].split() == ["PLUGIN", "b", "a"]
        assert "b and a tie, so one of the best was drawn" in lines

    def test_only_so_many_nodes_are_shown(self) -> None:
        lines = plain(*table.scores(record(a=(3, 0, 0), b=(2, 0, 0), c=(1, 0, 0)), limit=2))
        assert lines[0].split() == ["PLUGIN", "a", "b"]
        assert "and 1 more node that fits" in lines
        lines = plain(*table.scores(record(a=(3, 0, 0), b=(2, 0, 0), c=(1, 0, 0)), limit=1))
        assert "and 2 more nodes that fit" in lines

    def test_a_single_node_had_nothing_to_win_against(self) -> None:
        only = DecisionRecord(feasible={"a": NodeScore(300, {"Taints": 300})}, score_skipped=True)
        assert plain(*table.scores(only, chosen="a")) == [
            "PLUGIN     a",
            "Taints   300",
            "total    300",
            "the only node that fits, whatever its score",
        ]


class TestRejections:
    def test_nodes_are_grouped_by_plugin_and_reason_the_largest_group_first(self) -> None:
        cpu = NodeRejection("NodeResourcesFit", "Unschedulable", ("Insufficient cpu",))
        both = NodeRejection("NodeResourcesFit", "Unschedulable", ("Insufficient cpu", "Too many pods"))
        assert plain(table.rejections({"n3": cpu, "n1": cpu, "n2": both})) == [
            "NODES   TURNED DOWN BY     REASON                            WHICH",
            "    2   NodeResourcesFit   Insufficient cpu                  n1, n3",
            "    1   NodeResourcesFit   Insufficient cpu, Too many pods   n2",
        ]

    def test_of_a_large_group_some_nodes_are_named(self) -> None:
        cpu = NodeRejection("Fit", "Unschedulable", ("no",))
        lines = plain(table.rejections({f"n{i}": cpu for i in range(5)}, names=2))
        assert lines[1].endswith("n0, n1, and 3 more")
