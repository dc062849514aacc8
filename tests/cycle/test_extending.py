"""What extenders change in a decision."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.client.extender.interface import ExtenderError, HostScore
from scheduler.cycle.algorithm import FitError
from scheduler.cycle.self_check import check
from scheduler.framework.interface import NodeNames
from scheduler.framework.status import PluginError, unschedulable
from tests.builders import node, pod
from tests.cycle.rig import PROFILE, Rig
from tests.cycle.test_algorithm import Bench, many
from tests.framework.stubs import Filter, PostFilter, PreFilter, Score, StubExtender, passing

NO = unschedulable("no")
BROKEN = ExtenderError("broken")


def bench(*plugins, extenders, **more):
    return Bench(*(plugins or (Filter("A"), Score("S"))), extenders=extenders, **more)


def keep_last(names):
    return passing(names[-1])


class TestFilter:
    def test_only_nodes_that_fit_are_asked_about(self):
        diary = []
        one = bench(Filter("A", {"b": NO}), Score("S"), extenders=[StubExtender("x", diary, filter=passing("c"))])
        assert one.names(one.decide().feasible) == ["c"]
        assert diary == ["x filter a c"]

    def test_reasons_join_those_of_the_plugins(self):
        answer = passing(failed={"a": "small"}, unresolvable={"c": "odd"})
        one = bench(Filter("A", {"b": NO}), Score("S"), extenders=[StubExtender(filter=answer)])
        misfit = one.misfit()
        assert str(misfit) == "0/3 nodes are available: 1 no, 1 odd, 1 small."
        assert misfit.rejections.rejecting_plugins() == {"A", "Extender"}

    def test_without_nodes_that_fit_nobody_is_asked(self):
        diary = []
        one = bench(Filter("A", dict.fromkeys("abc", NO)), extenders=[StubExtender("x", diary, filter=passing())])
        assert one.misfit().rejections.rejecting_plugins() == {"A"}
        assert diary == []

    def test_nodes_turned_down_without_a_word_count_as_not_looked_at(self):
        only = PreFilter("P", NodeNames(frozenset("ab")))
        one = bench(only, Filter("A"), Score("S"), extenders=[StubExtender(filter=passing())])
        assert str(one.misfit()) == "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [P]."

    def test_words_about_nodes_that_are_not_there_are_passed_on(self):
        answer = passing(failed={"elsewhere": "gone", "a": "small"})
        one = bench(extenders=[StubExtender(filter=answer)])
        assert str(one.misfit()) == "0/3 nodes are available: 1 gone, 1 small."

    def test_words_about_nodes_that_a_plugin_turned_down_replace_the_plugins(self):
        answer = passing(failed=dict.fromkeys("abc", "all"))
        one = bench(Filter("A", {"b": NO}), Score("S"), extenders=[StubExtender(filter=answer)])
        misfit = one.misfit()
        assert str(misfit) == "0/3 nodes are available: 3 all."
        assert misfit.rejections.rejecting_plugins() == {"A", "Extender"}

    def test_a_failure_ends_the_attempt(self):
        with pytest.raises(PluginError, match=r"^broken$"):
            bench(extenders=[StubExtender(filter=BROKEN)]).decide()

    def test_all_nodes_are_found_for_extenders_to_choose_from_where_no_plugin_scores(self):
        one = bench(Filter("A"), extenders=[StubExtender(filter=keep_last)])
        assert one.names(one.decide().feasible) == ["c"]

    def test_extenders_see_the_sample(self):
        seen = []

        def note(names):
            seen.append(len(names))
            return passing(*names[:2])

        one = bench(extenders=[StubExtender(filter=note)], nodes=many(400), percentage=50)
        assert one.decide().evaluated == 200
        assert seen == [200]

    async def test_a_refusal_by_an_extender_may_be_resolved_by_preemption(self):
        seen = []

        class Look(PostFilter):
            def post_filter(self, cycle):
                seen.append(cycle.rejections.rows_with(NO.code).tolist())
                return super().post_filter(cycle)

        answer = passing(failed={"a": "x"}, unresolvable={"b": "y"})
        rig = Rig(Filter("A"), Look("L", NO), extenders=[StubExtender(filter=answer)])
        rig.put(node("a"), node("b"), pod("p"))
        await rig.step()
        assert seen == [[0]]
        assert rig.notes() == ["0/2 nodes are available: 1 x, 1 y. no"]
        assert rig.queue.get("default", "p").unschedulable_plugins == {"Extender"}


class TestNodeInProspect:
    def nominated(self, *answers):
        replies = iter(answers)
        self.diary = []
        one = StubExtender("x", self.diary, filter=lambda names: next(replies))
        return bench(Filter("A"), Score("S"), extenders=[one], wanted=pod("p").nominated("b"))

    def test_is_taken_if_extenders_accept_it(self):
        one = self.nominated(passing("b"))
        assert one.names(one.decide().feasible) == ["b"]
        assert self.diary == ["x filter b"]

    def test_is_asked_about_again_with_the_others_if_they_do_not(self):
        one = self.nominated(passing(failed={"b": "busy"}), passing("a", "b"))
        assert one.names(one.decide().feasible) == ["a", "b"]
        assert self.diary == ["x filter b", "x filter a b c"]

    def test_that_was_turned_down_counts_twice_for_where_the_next_search_begins(self):
        one = self.nominated(passing(failed={"b": "busy"}), passing("a"))
        one.decide()
        assert one.algorithm.next_start == 1

    def test_keeps_its_reason_if_it_is_turned_down_without_a_word_afterwards(self):
        one = self.nominated(passing(failed={"b": "busy"}), passing())
        assert str(one.misfit()) == "0/3 nodes are available: 1 busy."

    def test_a_failure_is_not_final(self):
        replies = iter([BROKEN, passing("a")])

        def answer(_names):
            reply = next(replies)
            if isinstance(reply, ExtenderError):
                raise reply
            return reply

        one = bench(extenders=[StubExtender(filter=answer)], wanted=pod("p").nominated("b"))
        assert one.names(one.decide().feasible) == ["a"]


class TestScores:
    def test_are_added_to_those_of_plugins_times_weight_and_ten(self):
        scores = [HostScore("a", 3), HostScore("a", 1), HostScore("elsewhere", 9)]
        one = bench(
            Filter("A"), Score("S", {"b": 50, "a": 1}), extenders=[StubExtender("x", weight=2, prioritize=scores)]
        )
        decision = one.decide(details=True)
        assert decision.totals.tolist() == [81, 50, 0]
        assert one.names(decision.best) == ["a"]
        assert decision.scores[-1].name == "x"
        assert decision.scores[-1].raw.tolist() == [4, 0, 0]
        assert decision.scores[-1].weighted.tolist() == [80, 0, 0]

    def test_decide_alone_where_no_plugin_scores(self):
        one = bench(Filter("A"), extenders=[StubExtender(prioritize=[HostScore("b", 1)])])
        assert one.decide().totals.tolist() == [0, 10, 0]

    def test_overflow_as_in_go(self):
        one = bench(extenders=[StubExtender(prioritize=[HostScore("a", 2**62), HostScore("b", -1)])])
        assert one.decide().totals.tolist() == [-(2**63), -10, 0]

    def test_a_failure_leaves_the_plugins_to_decide(self):
        one = bench(Filter("A"), Score("S", {"b": 1}), extenders=[StubExtender(prioritize=BROKEN)])
        assert one.names(one.decide().best) == ["b"]

    def test_nobody_is_asked_for_scores_of_a_single_node(self):
        diary = []
        both = StubExtender("x", diary, filter=passing("b"), prioritize=[HostScore("b", 1)])
        one = bench(extenders=[both])
        one.decide(details=True)
        assert diary == ["x filter a b c"]


class TestNodesSentBackWhole:
    def decide(self, **answer):
        rig = Rig(extenders=[StubExtender(filter=passing("large", "small", **answer))])
        rig.scheduler.profiles[PROFILE].extenders = [StubExtender(filter=passing("large", "small", **answer))]
        images = {"size": 900 * 2**20}
        rig.put(
            node("large").capacity(cpu="8", memory="32Gi").image("app:v1", **images),
            node("small").capacity(cpu="4", memory="32Gi"),
            pod("old").cpu("6").on("large"),
            pod("p").cpu("1").image("app:v1"),
        )
        return rig, rig.scheduler.algorithm.decide(
            rig.scheduler.profiles[PROFILE], rig.queue.get("default", "p").pod, details=True
        )

    def test_are_scored_as_if_nothing_ran_on_them_and_no_images_were_there(self):
        rig, decision = self.decide(whole=True)
        raw = {scores.name: scores.raw.tolist() for scores in decision.scores}
        assert raw["NodeResourcesFit"] == [(87 + 99) // 2, (75 + 99) // 2]
        assert raw["ImageLocality"] == [0, 0]
        assert [rig.state.nodes.name(row) for row in decision.best] == ["large"]

    def test_while_nodes_named_are_scored_as_they_are(self):
        _, decision = self.decide()
        raw = {scores.name: scores.raw.tolist() for scores in decision.scores}
        assert raw["NodeResourcesFit"] == [(12 + 98) // 2, (75 + 99) // 2]
        assert raw["ImageLocality"][0] > 0

    @pytest.mark.parametrize("whole", [False, True])
    def test_the_self_check_comes_to_the_same(self, whole):
        rig, decision = self.decide(whole=whole)
        check(rig.scheduler.profiles[PROFILE], decision.cycle.pod, decision)


def test_the_self_check_asks_no_extender_again():
    diary = []
    stub = StubExtender("x", diary, filter=passing("c", "a"), prioritize=[HostScore("a", 1)])
    one = bench(Filter("A"), Score("S"), extenders=[stub])
    decision = one.decide()
    del diary[:]
    check(one.profile, decision.cycle.pod, decision)
    assert diary == []


def test_the_self_check_holds_for_pods_that_extenders_let_in_nowhere():
    one = bench(extenders=[StubExtender(filter=passing(failed={"a": "x"}))])
    with pytest.raises(FitError):
        one.decide()
    check(one.profile, one.begun[0].cycle.pod, one.begun[0])
    assert np.count_nonzero(one.begun[0].rejections.evaluated) == 1
