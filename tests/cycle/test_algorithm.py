"""From a pod to the nodes that tie for it."""

from __future__ import annotations

import pytest

from scheduler.cycle.algorithm import Algorithm, FitError, NoNodesError
from scheduler.framework.interface import NodeNames
from scheduler.framework.status import SKIP, Code, PluginError, error, unresolvable, unschedulable
from tests.builders import info, node, pod, state
from tests.cycle.rig import profile_of
from tests.framework.stubs import Filter, PreFilter, PreScore, Score

NO = unschedulable("no")
_BEYOND_HELP = Code.UNSCHEDULABLE_AND_UNRESOLVABLE


class Crowded(Filter):
    """Lets the pod in wherever there is no other one."""

    def filter(self, cycle, nodes):
        taken = [bool(cycle.state.pods.on_node(cycle.state.nodes.name(row))) for row in nodes.indices.tolist()]
        return super().filter(cycle, nodes) * taken


class Bench:
    def __init__(self, *plugins, nodes="abc", percentage=100, wanted=None, zones=None, **profile):
        builders = [node(name) for name in nodes]
        if zones:
            builders = [builder.zone(zones[i]) for i, builder in enumerate(builders)]
        self.cluster = state(builders)
        self.profile = profile_of(*plugins, **profile)
        self.algorithm = Algorithm(self.cluster, percentage_of_nodes_to_score=percentage)
        self.wanted = wanted or pod("p")
        self.begun = []

    def decide(self, **more):
        return self.algorithm.decide(self.profile, info(self.wanted, self.cluster), observe=self.begun.append, **more)

    def misfit(self):
        with pytest.raises(FitError) as failure:
            self.decide()
        return failure.value

    def names(self, rows):
        return [self.cluster.nodes.name(row) for row in rows]


def many(count):
    return [f"n{i:03}" for i in range(count)]


class TestFeasible:
    def test_all_nodes_that_fit_are_feasible(self):
        bench = Bench(Filter("A", {"b": NO}), Score("S"))
        decision = bench.decide()
        assert bench.names(decision.feasible) == ["a", "c"]
        assert decision.evaluated == 3

    def test_without_nodes_there_is_nothing_to_decide(self):
        with pytest.raises(NoNodesError, match=r"^no nodes available to schedule pods$"):
            Bench(Score("S"), nodes="").decide()

    def test_no_node_that_fits_is_a_misfit_with_reasons(self):
        bench = Bench(Filter("A", dict.fromkeys("abc", NO)))
        assert str(bench.misfit()) == "0/3 nodes are available: 3 no."

    def test_a_failing_filter_ends_the_attempt_though_other_nodes_fit(self):
        with pytest.raises(PluginError, match='running "A" filter plugin: boom'):
            Bench(Filter("A", {"b": error("boom")}), Score("S")).decide()

    def test_filters_whose_pre_filter_skips_are_left_out(self):
        class Both(PreFilter, Filter):
            def pre_filter(self, cycle):
                return SKIP

        assert len(Bench(Both("A", {"a": NO}), Score("S")).decide().feasible) == 3


class TestPreFilter:
    def test_a_refusal_is_told_without_a_count(self):
        bench = Bench(PreFilter("A", unresolvable("no such claim")))
        misfit = bench.misfit()
        assert str(misfit) == "0/3 nodes are available: no such claim."
        assert misfit.rejections.rejecting_plugins() == {"A"}
        assert set(misfit.rejections.statuses().values()) == {unresolvable("no such claim").by("A")}

    def test_only_named_nodes_are_filtered(self):
        diary = []
        bench = Bench(PreFilter("P", NodeNames(frozenset({"b"}))), Filter("A", {"b": NO}, diary))
        misfit = bench.misfit()
        assert str(misfit) == "0/3 nodes are available: 1 no, 2 node(s) didn't satisfy plugin(s) [P]."
        assert misfit.rejections.rejecting_plugins() == {"A", "P"}

    def test_evictions_are_no_help_on_nodes_that_are_not_named(self):
        bench = Bench(PreFilter("P", NodeNames(frozenset({"b"}))), Filter("A", {"b": NO}, []))
        rejections = bench.misfit().rejections
        named = [bench.names(rejections.rows_with(code)) for code in (Code.UNSCHEDULABLE, _BEYOND_HELP)]
        assert named == [["b"], ["a", "c"]]

    def test_a_name_without_a_node_is_dropped_silently(self):
        bench = Bench(PreFilter("P", NodeNames(frozenset({"missing"}))))
        assert str(bench.misfit()) == "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [P]."

    def test_no_names_at_all(self):
        bench = Bench(PreFilter("P", NodeNames(frozenset())))
        assert str(bench.misfit()) == "0/3 nodes are available: node(s) didn't satisfy plugin P."


class TestNominatedNode:
    def test_whoever_turns_it_down_is_told_with_those_who_restrict_the_nodes(self):
        restricts = PreFilter("P", NodeNames(frozenset({"b"})))
        bench = Bench(restricts, Filter("A", {"b": NO, "c": NO}), wanted=pod("p").nominated("c"))
        misfit = bench.misfit()
        assert str(misfit) == "0/3 nodes are available: 1 node(s) didn't satisfy plugin(s) [A P], 2 no."
        assert misfit.rejections.rejecting_plugins() == {"A", "P"}
        accepting = Bench(restricts, Filter("A", {"b": NO}), wanted=pod("p").nominated("b"))
        assert str(accepting.misfit()) == "0/3 nodes are available: 1 no, 2 node(s) didn't satisfy plugin(s) [A P]."

    def test_it_is_taken_without_a_look_at_the_others(self):
        bench = Bench(Filter("A"), Score("S", {"a": 100}), wanted=pod("p").nominated("b"))
        decision = bench.decide()
        assert bench.names(decision.best) == ["b"]
        assert (decision.nominated, decision.evaluated, decision.totals) == (True, 1, None)

    def test_if_it_does_not_fit_all_are_filtered(self):
        bench = Bench(Filter("A", {"b": NO}), Score("S"), wanted=pod("p").nominated("b"))
        decision = bench.decide()
        assert bench.names(decision.feasible) == ["a", "c"]
        assert not decision.nominated

    def test_one_that_is_gone_is_ignored(self):
        bench = Bench(Filter("A"), Score("S"), wanted=pod("p").nominated("gone"))
        assert len(bench.decide().feasible) == 3

    def test_one_that_failed_does_not_end_the_attempt_by_itself(self):
        bench = Bench(
            PreFilter("P", NodeNames(frozenset({"a"}))),
            Filter("A", {"b": error("boom")}),
            wanted=pod("p").nominated("b"),
        )
        assert bench.names(bench.decide().feasible) == ["a"]

    def test_one_that_is_out_of_the_question_keeps_its_own_reason(self):
        bench = Bench(
            PreFilter("P", NodeNames(frozenset({"a"}))),
            Filter("A", {"a": NO, "b": unschedulable("full")}),
            wanted=pod("p").nominated("b"),
        )
        assert str(bench.misfit()) == "0/3 nodes are available: 1 full, 1 no, 1 node(s) didn't satisfy plugin(s) [A P]."

    def test_one_that_is_full_only_with_others_in_prospect_keeps_its_own_reason(self):
        bench = Bench(
            PreFilter("P", NodeNames(frozenset({"a"}))),
            Filter("A", {"a": NO}),
            Crowded("C", {"b": unschedulable("full")}),
            wanted=pod("p").nominated("b"),
        )
        bench.cluster.nominations.add(info(pod("rival").priority(9), bench.cluster), "b")
        assert str(bench.misfit()) == "0/3 nodes are available: 1 full, 1 no, 1 node(s) didn't satisfy plugin(s) [C P]."


class TestScores:
    def test_the_highest_total_is_the_best(self):
        bench = Bench(Filter("A"), Score("S", {"a": 5, "b": 9, "c": 9}))
        decision = bench.decide()
        assert decision.totals.tolist() == [5, 9, 9]
        assert bench.names(decision.best) == ["b", "c"]

    def test_one_feasible_node_is_not_scored(self):
        diary = []
        bench = Bench(Filter("A", {"a": NO, "b": NO}), PreScore("P", None, diary), Score("S"))
        decision = bench.decide()
        assert (bench.names(decision.best), decision.totals, diary) == (["c"], None, [])

    def test_unless_details_are_asked_for(self):
        bench = Bench(Filter("A", {"a": NO, "b": NO}), Score("S", {"c": 4}))
        decision = bench.decide(details=True)
        assert [(s.name, s.raw.tolist(), s.weighted.tolist()) for s in decision.scores] == [("S", [4], [4])]

    def test_without_score_plugins_one_node_is_enough(self):
        bench = Bench(Filter("A", {"a": NO}))
        decision = bench.decide()
        assert bench.names(decision.feasible) == ["b"]

    def test_a_skipping_plugin_adds_nothing(self):
        decision = Bench(Score("S", SKIP), Score("T", {"a": 1})).decide()
        assert decision.pre_score_skipped == {"S"}
        assert decision.totals.tolist() == [1, 0, 0]


class TestSampling:
    def test_below_a_hundred_nodes_all_are_looked_at(self):
        assert Bench(Score("S"), nodes=many(99), percentage=5).decide().evaluated == 99

    def test_the_percentage_of_nodes_is_enough_but_never_below_a_hundred(self):
        bench = Bench(Score("S"), nodes=many(300), percentage=50)
        assert len(bench.decide().feasible) == 150
        assert len(Bench(Score("S"), nodes=many(300), percentage=5).decide().feasible) == 100

    def test_a_profile_may_have_its_own_percentage(self):
        bench = Bench(Score("S"), nodes=many(300), percentage=5, percentage_of_nodes_to_score=40)
        assert len(bench.decide().feasible) == 120

    def test_the_start_moves_on_by_the_nodes_that_were_looked_at(self):
        bench = Bench(Filter("A", {"n001": NO}), Score("S"), nodes=many(150), percentage=5)
        first = bench.decide()
        assert (first.evaluated, bench.algorithm.next_start) == (101, 101)
        second = bench.decide()
        assert (second.start, bench.names(second.feasible)[:2]) == (101, ["n101", "n102"])
        assert bench.names(second.feasible)[49:52] == ["n000", "n002", "n003"]

    def test_it_moves_on_though_the_attempt_fails(self):
        bench = Bench(Filter("A", {"n000": error("boom")}), Score("S"), nodes=many(150), percentage=5)
        with pytest.raises(PluginError):
            bench.decide()
        assert bench.algorithm.next_start == 101

    def test_errors_of_nodes_beyond_the_sample_do_not_matter(self):
        bench = Bench(Filter("A", {"n120": error("boom")}), Score("S"), nodes=many(150), percentage=5)
        assert len(bench.decide().feasible) == 100

    def test_zones_take_turns(self):
        bench = Bench(Score("S"), nodes=many(150), percentage=5, zones=["x"] * 100 + ["y"] * 50)
        assert bench.names(bench.decide().feasible)[:4] == ["n000", "n100", "n001", "n101"]

    def test_a_nominated_node_that_failed_counts_as_looked_at_beyond_the_sample(self):
        bench = Bench(
            Filter("A", {"n149": NO}), Score("S"), nodes=many(150), percentage=5, wanted=pod("p").nominated("n149")
        )
        decision = bench.decide()
        assert decision.evaluated == 101
        assert bench.algorithm.next_start == 101


class TestTimings:
    def points(self, bench):
        return [(point, code) for point, code, _ in bench.begun[0].timings]

    def test_the_points_that_were_reached_are_timed(self):
        bench = Bench(Filter("A"), Score("S"))
        bench.decide()
        assert self.points(bench) == [
            ("PreFilter", Code.SUCCESS),
            ("Filter", Code.SUCCESS),
            ("PreScore", Code.SUCCESS),
            ("Score", Code.SUCCESS),
        ]

    def test_a_misfit_is_no_failure_of_filtering(self):
        bench = Bench(Filter("A", dict.fromkeys("abc", NO)))
        bench.misfit()
        assert self.points(bench) == [("PreFilter", Code.SUCCESS), ("Filter", Code.SUCCESS)]

    def test_a_refusal_by_pre_filter(self):
        bench = Bench(PreFilter("A", unresolvable("no")))
        bench.misfit()
        assert self.points(bench) == [("PreFilter", Code.UNSCHEDULABLE_AND_UNRESOLVABLE)]

    @pytest.mark.parametrize(
        ("plugins", "point"),
        [
            ([PreFilter("A", error("boom"))], "PreFilter"),
            ([Filter("A", {"a": error("boom")})], "Filter"),
            ([PreScore("A", error("boom")), Score("S")], "PreScore"),
            ([Score("S", {"a": 101})], "Score"),
        ],
    )
    def test_a_failure_is_told_where_it_happened(self, plugins, point):
        bench = Bench(*plugins)
        with pytest.raises(PluginError):
            bench.decide()
        assert self.points(bench)[-1] == (point, Code.ERROR)
