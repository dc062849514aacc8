"""What extenders are asked about a pod, in which order, and what becomes of their answers."""

from __future__ import annotations

import pytest

from scheduler.cache.state import ClusterState
from scheduler.client.extender.interface import CandidateVictims, ExtenderError, HostScore, VictimUIDs
from scheduler.framework.extenders import ExtenderCalls
from scheduler.framework.interface import Eviction
from scheduler.framework.status import unresolvable, unschedulable
from tests.builders import pod
from tests.framework.stubs import StubExtender, passing

BROKEN = ExtenderError("broken")
STATE = ClusterState()
INFO = STATE.info(pod("incoming").build())


def info(name):
    return STATE.info(pod(name).set("metadata.uid", name).build())


def calls(*extenders):
    return ExtenderCalls(extenders, INFO)


class TestInterest:
    def test_those_without_interest_are_not_asked(self):
        diary = []
        asked = calls(
            StubExtender("a", diary, interested=False, filter=passing()),
            StubExtender("b", diary, filter=passing("x")),
        )
        assert asked.filter(["x", "y"]).kept == ["x"]
        assert diary == ["b filter x y"]

    def test_whether_any_takes_part_does_not_depend_on_interest(self):
        asked = calls(StubExtender(interested=False, filter=passing()))
        assert asked
        assert asked.filters
        assert not asked.prioritizes
        assert calls(StubExtender(prioritize=[])).prioritizes
        assert not calls()

    def test_an_interest_that_can_not_be_told_is_a_failure(self):
        with pytest.raises(ExtenderError, match=r"^broken$"):
            calls(StubExtender(interested=BROKEN, filter=passing())).filter(["x"])


class TestFilter:
    def test_each_sees_what_the_ones_before_it_left(self):
        diary = []
        asked = calls(
            StubExtender("a", diary, filter=passing("x", "y", failed={"z": "small"})),
            StubExtender("b", diary, filter=passing("y", unresolvable={"x": "odd"})),
        )
        answer = asked.filter(["x", "y", "z"])
        assert diary == ["a filter x y z", "b filter x y"]
        assert answer.kept == ["y"]
        assert answer.statuses == {"z": unschedulable("small"), "x": unresolvable("odd")}

    def test_nobody_is_asked_about_no_nodes(self):
        diary = []
        calls(StubExtender("a", diary, filter=passing()), StubExtender("b", diary, filter=passing())).filter(["x"])
        assert diary == ["a filter x"]

    def test_unresolvable_has_precedence(self):
        asked = calls(StubExtender(filter=passing(failed={"x": "a"}, unresolvable={"x": "b"})))
        assert asked.filter(["x"]).statuses == {"x": unresolvable("b")}

    def test_those_that_do_not_filter_let_all_pass(self):
        assert calls(StubExtender(prioritize=[])).filter(["x"]).kept == ["x"]

    def test_nodes_that_were_sent_back_whole_are_marked(self):
        last = StubExtender(filter=passing("x"))
        assert calls(StubExtender(filter=passing("x", whole=True)), last).filter(["x"]).whole
        assert not calls(last).filter(["x"]).whole

    def test_a_failure_fails_unless_it_is_ignorable(self):
        with pytest.raises(ExtenderError, match=r"^broken$"):
            calls(StubExtender(filter=BROKEN)).filter(["x"])
        assert calls(StubExtender(filter=BROKEN, ignorable=True)).filter(["x"]).kept == ["x"]


class TestScores:
    def test_all_are_asked_before_any_answer_is_waited_for(self):
        diary = []
        first, second = (
            StubExtender("a", diary, weight=2, prioritize=[HostScore("x", 1)]),
            StubExtender("b", diary, prioritize=[HostScore("y", 9)]),
        )
        given = calls(first, second).scores(["x", "y"])
        assert given == [("a", 2, [HostScore("x", 1)]), ("b", 1, [HostScore("y", 9)])]
        assert diary == ["a prioritize x y", "b prioritize x y"]

    def test_those_that_fail_or_do_not_score_give_none(self):
        assert calls(StubExtender(prioritize=BROKEN), StubExtender(filter=passing())).scores(["x"]) == []


class TestBind:
    async def test_the_first_that_binds_does_it(self):
        diary = []
        binders = StubExtender("a", diary, filter=passing()), StubExtender("b", diary, bind=None)
        assert await calls(*binders).bind("x") == "b"
        assert diary == ["b bind x"]

    async def test_none_of_interest_leaves_it_to_the_plugins(self):
        assert not await calls(StubExtender(interested=False, bind=None)).bind("x")
        assert not await calls(StubExtender(interested=BROKEN, filter=passing())).bind("x")

    async def test_a_failure_fails_unless_it_is_ignorable(self):
        with pytest.raises(ExtenderError, match=r"^broken$"):
            await calls(StubExtender(bind=BROKEN)).bind("x")
        assert not await calls(StubExtender(bind=BROKEN, ignorable=True)).bind("x")


class TestPreempt:
    victims = info("v"), info("w")
    candidates = (Eviction("x", victims, 1), Eviction("y", (info("u"),)))

    def preempt(self, *extenders, candidates=candidates):
        there = {"x": self.victims, "y": [info("u")]}
        return list(calls(*extenders).preempt(candidates, there.get))

    def test_those_that_do_not_preempt_leave_the_candidates_as_they_are(self):
        assert self.preempt(StubExtender(filter=passing())) == list(self.candidates)

    def test_an_extender_chooses_nodes_and_victims(self):
        seen = []

        def choose(candidates):
            seen.append(candidates)
            return {"x": VictimUIDs(["w"], 3)}

        assert self.preempt(StubExtender(preempt=choose)) == [Eviction("x", (self.victims[1],), 3)]
        assert seen[0]["x"] == CandidateVictims(self.victims, 1)

    def test_the_next_sees_what_the_one_before_it_left(self):
        diary = []
        one = StubExtender("a", diary, preempt={"y": VictimUIDs(["u"], 0)})
        assert self.preempt(one, StubExtender("b", diary, preempt={})) == []
        assert diary == ["a preempt x y", "b preempt y"]

    def test_nobody_is_asked_about_no_candidates(self):
        diary = []
        none = StubExtender("a", diary, preempt={})
        assert self.preempt(none, StubExtender("b", diary, preempt={})) == []
        assert self.preempt(none, candidates=()) == []
        assert diary == ["a preempt x y"]

    @pytest.mark.parametrize(
        ("answer", "problem"),
        [
            (BROKEN, "broken"),
            ({"x": VictimUIDs([], 0)}, 'expected at least one victim pod on node "x"'),
            ({"z": VictimUIDs(["v"], 0)}, 'nodeinfo not found for node name "z"'),
            (
                {"x": VictimUIDs(["u"], 0)},
                "extender: http://extender claims to preempt pod (UID: &{u}) on node: x, "
                "but the pod is not found on that node",
            ),
        ],
    )
    def test_failures(self, answer, problem):
        with pytest.raises(ExtenderError) as caught:
            self.preempt(StubExtender(preempt=answer))
        assert str(caught.value) == problem

    def test_an_ignorable_one_may_fail_and_may_leave_nodes_without_victims(self):
        assert self.preempt(StubExtender(preempt=BROKEN, ignorable=True)) == list(self.candidates)
        answer = {"x": VictimUIDs([], 0), "y": VictimUIDs(["u"], 0)}
        (left,) = self.preempt(StubExtender(preempt=answer, ignorable=True))
        assert left.node == "y"


class TestReplay:
    def test_gives_the_same_answers_and_asks_nobody(self):
        diary = []
        stubs = (
            StubExtender("a", diary, filter=passing("y", "x")),
            StubExtender("b", diary, filter=BROKEN, ignorable=True),
            StubExtender("c", diary, prioritize=[HostScore("x", 1)]),
        )
        asked = calls(*stubs)
        first = asked.filter(["x", "y"]), asked.scores(["x", "y"])
        del diary[:]
        again = asked.replay()
        assert (again.filter(["y", "x"]), again.scores(["x", "y"])) == first
        assert diary == []

    def test_fails_for_what_was_not_asked(self):
        asked = calls(StubExtender(filter=passing("x")))
        asked.filter(["x"])
        with pytest.raises(ExtenderError, match=r"was not asked about these nodes: \['y'\]"):
            asked.replay().filter(["y"])
        again = asked.replay()
        again.filter(["x"])
        with pytest.raises(ExtenderError, match="was not asked"):
            again.filter(["x"])
