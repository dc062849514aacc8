"""What the winner has over the runner-up."""

from __future__ import annotations

import pytest

from scheduler.explain.comparison import Comparison, compare, contrast, ranked
from scheduler.explain.record import DecisionRecord, NodeScore
from scheduler.explain.views import Decision, Feasible, PluginDifference, Rejected, ScoreColumn, Summary


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


def decision(node: str = "n3", ties: tuple[str, ...] = ("n3",), **weighted: tuple[int, ...]) -> Decision:
    """A decision among n3, n7 and n1 with what plugins add to the totals; n9 and n8 did not fit."""
    columns = tuple(
        ScoreColumn(plugin=plugin, weight=1, raw=points, normalized=points, weighted=points)
        for plugin, points in weighted.items()
    )
    totals = tuple(sum(points) for points in zip(*weighted.values(), strict=True))
    return Decision(
        summary=Summary(id=1, time="", pod="default/p", result="Scheduled", node=node),
        feasible=Feasible(names=("n3", "n7", "n1"), totals=totals, columns=columns),
        ties=ties,
        rejected=(
            Rejected(plugin="NodeResourcesFit", code="Unschedulable", reasons=("Insufficient cpu",), nodes=("n9",)),
            Rejected(plugin="NodeAffinity", code="U", reasons=("node(s) out",), nodes=("n8",), left_out=True),
        ),
    )


class TestContrast:
    scored = decision(PodTopologySpread=(30, 10, 0), ImageLocality=(2, 10, 1), Same=(5, 5, 5))

    def test_the_winner_with_the_runner_up_in_a_sentence(self) -> None:
        found = contrast(self.scored)
        assert found is not None
        assert found.sentence == "n3 won by 12 points over n7: +20 PodTopologySpread, -8 ImageLocality"
        assert (found.node, found.other, found.lead) == ("n3", "n7", 12)

    def test_each_difference_has_its_words(self) -> None:
        found = contrast(self.scored, "n1", tell=lambda plugin, node, other, raw: f"{plugin} {node} {other} {raw}")
        assert found is not None
        assert found.parts == (
            PluginDifference(
                plugin="PodTopologySpread", points=30, raw=(30, 0), words="PodTopologySpread n3 n1 (30, 0)"
            ),
            PluginDifference(plugin="ImageLocality", points=1, raw=(2, 1), words="ImageLocality n3 n1 (2, 1)"),
        )

    def test_nodes_that_tie(self) -> None:
        found = contrast(decision(ties=("n3", "n7"), X=(5, 5, 1)))
        assert found is not None
        assert found.sentence == "n3 and n7 tie, so that chance drew"

    def test_a_node_that_did_not_win(self) -> None:
        found = contrast(self.scored, "n3", node="n7")
        assert found is not None
        assert found.sentence == ("n7 is behind by 12 points against n3: -20 PodTopologySpread, +8 ImageLocality")

    def test_a_node_that_was_turned_down(self) -> None:
        found = contrast(self.scored, "n9")
        assert found is not None
        assert found.sentence == "n9 was turned down by NodeResourcesFit: Insufficient cpu"
        assert found.rejected == self.scored.rejected[0]

    def test_a_node_that_was_left_out(self) -> None:
        found = contrast(self.scored, "n8")
        assert found is not None
        assert found.sentence == "n8 was not looked at, as NodeAffinity left it out: node(s) out"

    def test_the_only_node_that_fits(self) -> None:
        only = Decision(
            summary=Summary(id=1, time="", pod="default/p", result="Scheduled", node="a"),
            feasible=Feasible(names=("a",)),
        )
        found = contrast(only)
        assert found is not None
        assert found.sentence == "a was the only node that fits"

    def test_nothing_to_compare(self) -> None:
        assert contrast(self.scored, "unheard-of") is None
        assert contrast(Decision(summary=Summary(id=1, time="", pod="default/p", result="Unschedulable"))) is None
