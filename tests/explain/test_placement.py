"""Why a pod is where it is, in words and numbers."""

from __future__ import annotations

import io

from msgspec.structs import replace

from scheduler.explain.grid import show
from scheduler.explain.placement import comparisons, placement, sentence
from scheduler.explain.views import Feasible, ScoreColumn
from tests.fakes.decisions import DECISION


def text(parts):
    out = io.StringIO()
    show(out, parts)
    return out.getvalue()


def line(decision):
    return sentence(decision, comparisons(decision))


def shown(decision, *asked):
    return text(placement(decision, comparisons(decision, asked), asked=asked))


def scored(*totals, names="abcd", ties=(), node="a", **changes):
    points = tuple(totals)
    column = ScoreColumn(plugin="Fit", weight=1, raw=points, normalized=points, weighted=points)
    feasible = Feasible(names=tuple(names[: len(totals)]), totals=points, columns=(column,))
    summary = replace(DECISION.summary, node=node, nodes=5, feasible=len(totals))
    return replace(DECISION, summary=summary, feasible=feasible, ties=ties, rejected=(), **changes)


class TestSentence:
    def test_the_margin_is_made_of_the_plugins_that_differ_the_largest_first(self):
        assert line(DECISION) == (
            "shop/web-1 is on a: 187 points, 57 more than b, the next best (2 of 3 nodes fit): "
            "ImageLocality +30, TaintToleration +30, NodeResourcesFit -3"
        )

    def test_a_draw_is_called_one(self):
        assert "9 points, as many as b, so chance decided (2 of 5" in line(scored(9, 9, ties=("a", "b")))
        tied = ("a", "b", "c", "d", "e", "f")
        assert "as many as b, c, d and 2 more" in line(scored(9, 9, 9, 9, 9, 9, names="abcdef", ties=tied))
        assert "as many as b and c, so" in line(scored(9, 9, 9, ties=("a", "b", "c")))

    def test_the_only_node_needs_no_points(self):
        only = replace(scored(0), feasible=Feasible(names=("a",)))
        assert line(only) == "shop/web-1 is on a: the only node that fits (1 of 5 nodes fit)"

    def test_nodes_that_nobody_looked_at_are_told_of(self):
        assert "(2 of 5 nodes fit, 3 not looked at)" in line(scored(9, 8, not_evaluated=3))

    def test_a_node_kept_by_preemption_may_have_fewer_points(self):
        kept = scored(9, 5, node="b", nominated_path=True)
        assert line(kept).startswith("shop/web-1 is on b, which was kept for it: 5 points, 4 less than a")

    def test_of_a_decision_that_is_not_taken_it_says_would(self):
        evaluated = scored(9, 8)
        evaluated = replace(evaluated, summary=replace(evaluated.summary, id=0))
        assert line(evaluated).startswith("shop/web-1 would go to a: 9 points, 1 more than b")
        assert line(scored(9, 8, node="")).startswith("shop/web-1 would go to a: 9 points, 1 more than b")
        assert "would go to a: 9 points, as many as b (" in line(scored(9, 9, node="", ties=("a", "b")))


def test_the_table_has_the_points_of_each_plugin_and_their_difference():
    assert shown(DECISION).splitlines()[1:] == [
        "PLUGIN             WEIGHT     a     b   a-b",
        "ImageLocality          x1    30     0   +30",
        "NodeResourcesFit       x1    57    60    -3",
        "TaintToleration        x2   100    70   +30",
        "total                       187   130   +57",
    ]


def test_the_points_of_the_plugins_add_up_to_the_lead():
    (standing,) = comparisons(DECISION)
    assert sum(part.points for part in standing.parts) == standing.lead == 57


def test_long_names_of_nodes_become_letters_so_that_the_table_stays_narrow():
    names = ("ip-10-0-1-2.eu-west-1.internal", "ip-10-0-1-3.eu-west-1.internal")
    long = scored(9, 8, names=names, node=names[0])
    lines = shown(long).splitlines()
    assert lines[1:3] == [f"A = {names[0]}", f"B = {names[1]}"]
    assert lines[3].split() == ["PLUGIN", "WEIGHT", "A", "B", "A-B"]
    assert max(map(len, lines[1:])) <= 80


def test_a_node_that_was_asked_for_is_compared_or_its_refusal_told():
    decision = replace(scored(9, 8, 7), rejected=DECISION.rejected)
    lines = shown(decision, "c", "b", "x").splitlines()
    assert lines[1].split() == ["PLUGIN", "WEIGHT", "a", "b", "a-b", "c", "a-c"]
    assert "a won by 2 points over c: +2 Fit (c is number 3 of 3)" in lines
    assert "x is not among the nodes that this decision knows: there was no such node" in lines
    refused = shown(DECISION, "c")
    assert "c was turned down by NodeName: no" in refused


def test_plugins_that_gave_nothing_are_named_but_have_no_line():
    silent = ScoreColumn(plugin="ImageLocality", weight=1, raw=(0, 0), normalized=(0, 0), weighted=(0, 0))
    feasible = scored(9, 8).feasible
    decision = replace(scored(9, 8), feasible=replace(feasible, columns=(*feasible.columns, silent)))
    assert "0 for all of these: ImageLocality" in shown(decision)


def test_words_for_the_points_are_shown_where_the_scheduler_has_them():
    (standing,) = comparisons(DECISION)
    parts = tuple(replace(part, words=f"since {part.plugin}") for part in standing.parts)
    table = text(placement(DECISION, [replace(standing, parts=parts)])).splitlines()
    assert table[1].split() == ["PLUGIN", "WEIGHT", "a", "b", "a-b", "SINCE"]
    assert table[2].endswith("+30   since ImageLocality")
    assert table[5].split() == ["total", "187", "130", "+57"]
