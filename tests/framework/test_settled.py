"""What plugins have answered for all pods of a shape once and for all."""

from __future__ import annotations

import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import NodeNames
from scheduler.framework.pre_filter import run_pre_filters
from scheduler.framework.recorder import PluginRecorder
from scheduler.framework.scoring import run_pre_scores
from scheduler.framework.settled import Asked, Step, steps
from scheduler.framework.shape_cache import ShapeCache
from scheduler.framework.status import SKIP, unresolvable, unschedulable
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from tests.builders import info, node, pod, state
from tests.cycle.rig import profile_of
from tests.framework.stubs import PreFilter, PreScore


class Settled(PreFilter):
    """Leaves its name in the cycle's data, unless it skips."""

    def pre_filter(self, cycle):
        answer = super().pre_filter(cycle)
        if answer is None:
            cycle.data[self.name] = f"of {self.name}"
        return answer

    def pre_filter_settled(self, cycle):
        return True


class SettledScore(PreScore):
    def pre_score_settled(self, cycle):
        return True


class Fixture:
    def __init__(self, *plugins):
        self.cluster = state([node("n")])
        self.plugins = plugins
        self.cache = ShapeCache()
        self.metrics = SchedulerMetrics()

    def cycle(self, *, sampled=False):
        recorder = PluginRecorder(self.metrics, "p")
        cycle = Cycle(info(pod("p"), self.cluster), self.cluster, "p", recorder=recorder, sampled=sampled)
        cycle.feasible = self.cluster.nodes.order.rows()
        return cycle

    def filter(self, **how):
        """Who was asked, who skips, and what there is for Filter. Of a shape that is new nothing is remembered yet."""
        for plugin in self.plugins:
            plugin.diary.clear()
        cycle = self.cycle(**how)
        self.outcome = run_pre_filters(self.plugins, cycle, self.cache)
        asked = [name for plugin in self.plugins for name in plugin.diary]
        return asked, sorted(self.outcome.skipped), cycle.data

    def score(self, **how):
        for plugin in self.plugins:
            plugin.diary.clear()
        skipped = run_pre_scores(profile_of(*self.plugins), self.cycle(**how), self.cache)
        return [name for plugin in self.plugins for name in plugin.diary], sorted(skipped)

    def evaluations(self, plugin, point):
        return self.metrics.plugin_evaluation.labels(plugin, point, "p").value


class TestPreFilter:
    def test_those_that_have_settled_are_not_asked_again_and_what_they_left_is_handed_on(self):
        fixture = Fixture(Settled("A", SKIP), Settled("B"), PreFilter("C"), Settled("D", SKIP))
        fixture.filter()
        first = fixture.filter()
        assert first == (["A", "B", "C", "D"], ["A", "D"], {"B": "of B"})
        assert fixture.filter() == (["C"], *first[1:])

    def test_they_count_as_asked_in_the_metrics_all_the_same(self):
        fixture = Fixture(Settled("A", SKIP), Settled("B"), PreFilter("C"))
        for _ in range(3):
            fixture.filter()
        counts = {name: fixture.evaluations(name, "PreFilter") for name in "ABC"}
        assert counts == {"A": 0, "B": 3, "C": 3}

    def test_where_plugins_are_timed_each_is_asked(self):
        fixture = Fixture(Settled("A"), Settled("B", SKIP))
        fixture.filter()
        fixture.filter()
        assert fixture.filter()[0] == []
        assert fixture.filter(sampled=True)[0] == ["A", "B"]

    def test_a_refusal_is_never_settled(self):
        fixture = Fixture(Settled("A", unschedulable("no")), Settled("B"))
        for _ in range(3):
            assert fixture.filter()[0][0] == "A"
            assert fixture.outcome.status == unschedulable("no").by("A")

    def test_nor_are_names_of_nodes(self):
        fixture = Fixture(Settled("A", NodeNames(frozenset({"n"}))), Settled("B"))
        for _ in range(3):
            assert fixture.filter()[0][0] == "A"
            assert (fixture.outcome.names, fixture.outcome.restricted_by) == ({"n"}, {"A"})

    def test_nothing_is_remembered_where_not_all_were_asked(self):
        refusing = PreFilter("A", unresolvable("no"))
        fixture = Fixture(refusing, Settled("B", SKIP))
        fixture.filter()
        fixture.filter()
        refusing.answer = None
        assert fixture.filter()[:2] == (["A", "B"], ["B"])

    def test_a_refusal_later_on_leaves_out_those_behind_it(self):
        changing = PreFilter("B")
        fixture = Fixture(Settled("A", SKIP), changing, Settled("C", SKIP))
        fixture.filter()
        fixture.filter()
        changing.answer = unresolvable("no")
        assert fixture.filter()[:2] == (["B"], ["A"])
        assert fixture.outcome.status == unresolvable("no").by("B")


class TestPreScore:
    def test_those_that_have_settled_are_not_asked_again(self):
        fixture = Fixture(SettledScore("A", SKIP), PreScore("B"), SettledScore("C"))
        for _ in range(2):
            assert fixture.score() == (["A", "B", "C"], ["A"])
        assert fixture.score() == (["B"], ["A"])
        assert fixture.score(sampled=True)[0] == ["A", "B", "C"]

    def test_they_count_as_asked_in_the_metrics_all_the_same(self):
        fixture = Fixture(SettledScore("A", SKIP), SettledScore("B"))
        for _ in range(3):
            fixture.score()
        assert [fixture.evaluations(name, "PreScore") for name in "AB"] == [0, 3]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ([], []),
        (
            [Asked(1, "A", True, {}, True), Asked(2, "B", False, {"b": 0}, True)],
            [Step(None, {"b": 0}, ("A",), ("B",))],
        ),
        (
            [Asked(1, "A", True, {}, True), Asked(2, "B", True, {}, False), Asked(3, "C", True, {}, True)],
            [Step(None, {}, ("A",), ()), Step(2, {}, (), ()), Step(None, {}, ("C",), ())],
        ),
    ],
    ids=["nobody", "neighbours are one step", "in order"],
)
def test_steps(asked, expected):
    assert steps(asked) == expected
