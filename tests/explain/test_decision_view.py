"""From the nodes of a decision to what is shown of it. That records come to the same is held by their own tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scheduler.cycle.outcome import Failure
from scheduler.explain.decision_view import ERROR, SCHEDULED, UNSCHEDULABLE, LeftOut, Picture, of_picture, result_of
from scheduler.explain.views import Summary
from scheduler.framework.scoring import PluginScores
from scheduler.framework.status import unresolvable, unschedulable

NAMES = np.array(["n0", "n1", None, "n3", "n4"], np.object_)
"""Row 2 has no node."""


def rows(*numbers: int) -> Any:
    return np.array(numbers, np.intp)


def summary(node: str = "") -> Summary:
    return Summary(id=1, time="", pod="default/p", result="Scheduled", node=node)


def shown(node: str = "", **fields: Any) -> Any:
    return of_picture(Picture(**{"names": NAMES, "feasible": rows(), "best": rows(), **fields}), summary(node))


@pytest.mark.parametrize(
    ("failure", "result"),
    [
        (None, SCHEDULED),
        (Failure("Unschedulable", "0/1 nodes", frozenset()), UNSCHEDULABLE),
        (Failure("SchedulerError", "it broke", frozenset()), ERROR),
    ],
)
def test_how_it_came_out_in_a_word(failure: Failure | None, result: str) -> None:
    assert result_of(failure) == result


class TestFeasible:
    def scored(self, node: str = "") -> Any:
        fit = PluginScores("Fit", np.array([10, 30, 30]), np.array([20, 60, 60]), 2)
        image = PluginScores("Image", np.array([5, 1, 1]), np.array([5, 1, 1]), 1)
        totals = np.array([25, 61, 61])
        return shown(node, feasible=rows(4, 0, 3), totals=totals, best=rows(0, 3), scores=[fit, image]).feasible

    def test_the_best_comes_first_and_of_equals_the_one_that_was_chosen(self) -> None:
        assert self.scored(node="n3").names == ("n3", "n0", "n4")
        assert self.scored(node="n0").names == ("n0", "n3", "n4")

    def test_else_equals_go_by_name(self) -> None:
        assert self.scored().names == ("n0", "n3", "n4")

    def test_all_lists_are_in_one_order(self) -> None:
        found = self.scored(node="n3")
        assert found.totals == (61, 61, 25)
        assert [(column.plugin, column.weight, column.raw) for column in found.columns] == [
            ("Fit", 2, (30, 30, 10)),
            ("Image", 1, (1, 1, 5)),
        ]

    def test_what_a_plugin_adds_is_its_normalized_score_times_its_weight(self) -> None:
        fit = self.scored(node="n3").columns[0]
        assert fit.weighted == (60, 60, 20)
        assert fit.normalized == (30, 30, 10)

    def test_where_nothing_needed_to_be_scored_there_are_no_totals(self) -> None:
        found = shown("n1", feasible=rows(1), best=rows(1)).feasible
        assert (found.names, found.totals, found.columns) == (("n1",), (), ())

    def test_ties_are_told_by_name(self) -> None:
        assert shown(feasible=rows(3, 0), totals=np.array([7, 7]), best=rows(3, 0)).ties == ("n0", "n3")


class TestRejected:
    FULL = unschedulable("Insufficient cpu").by("NodeResourcesFit")
    TAINTED = unresolvable("node(s) had untolerated taint(s)").by("TaintToleration")

    def told(self, **fields: Any) -> list[tuple[str, tuple[str, ...], bool]]:
        return [(group.plugin, group.nodes, group.left_out) for group in shown(**fields).rejected]

    def test_the_largest_group_comes_first_its_nodes_by_name(self) -> None:
        assert self.told(groups=[(self.TAINTED, rows(1)), (self.FULL, rows(4, 0))]) == [
            ("NodeResourcesFit", ("n0", "n4"), False),
            ("TaintToleration", ("n1",), False),
        ]

    def test_equally_large_ones_go_by_plugin(self) -> None:
        assert [plugin for plugin, *_ in self.told(groups=[(self.TAINTED, rows(1)), (self.FULL, rows(0))])] == [
            "NodeResourcesFit",
            "TaintToleration",
        ]

    def test_the_same_reason_twice_is_one_group(self) -> None:
        assert self.told(groups=[(self.FULL, rows(1)), (self.FULL, rows(0))]) == [
            ("NodeResourcesFit", ("n0", "n1"), False)
        ]

    def test_nodes_that_prefilter_left_out_are_said_to_be(self) -> None:
        absent = LeftOut("NodeAffinity", unresolvable("not named"), rows(3, 4), refused=False)
        assert self.told(groups=[(self.FULL, rows(0))], left_out=absent) == [
            ("NodeAffinity", ("n3", "n4"), True),
            ("NodeResourcesFit", ("n0",), False),
        ]

    def test_a_nominated_node_that_was_left_out_too_is_told_of_once(self) -> None:
        absent = LeftOut("NodeAffinity", unresolvable("not named"), rows(3, 4), refused=False)
        assert self.told(groups=[(self.FULL, rows(3))], left_out=absent) == [("NodeAffinity", ("n3", "n4"), True)]

    def test_where_prefilter_refused_the_pod_all_nodes_are_one_group(self) -> None:
        refusal = LeftOut("VolumeBinding", unresolvable("no claim"), rows(0, 1, 3, 4), refused=True)
        assert self.told(left_out=refusal) == [("VolumeBinding", ("n0", "n1", "n3", "n4"), False)]

    def test_nobody_left_out_is_no_group(self) -> None:
        assert self.told(left_out=LeftOut("NodeAffinity", unresolvable("x"), rows(), refused=False)) == []

    def test_reasons_are_in_a_fixed_order(self) -> None:
        both = unschedulable("b", "a").by("NodeResourcesFit")
        assert shown(groups=[(both, rows(0))]).rejected[0].reasons == ("a", "b")
