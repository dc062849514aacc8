"""Plugins that look at one node at a time."""

from __future__ import annotations

import pytest

from scheduler.cycle.algorithm import Algorithm, FitError
from scheduler.framework.per_node import NodeFilterPlugin, NodeInfoView, NodeScorePlugin
from scheduler.framework.status import SKIP, Code, PluginError, Status, error, unresolvable, unschedulable
from tests.builders import info, node, pod, state
from tests.cycle.rig import profile_of
from tests.framework.stubs import Filter


class Judge(NodeFilterPlugin, NodeScorePlugin):
    """Answers by node name; what is an exception is raised."""

    name = "Judge"

    def __init__(self, statuses=None, scores=None):
        self.statuses = statuses or {}
        self.scores = scores or {}
        self.asked = []

    def filter_node(self, cycle, node):
        self.asked.append(node.name)
        return self._answer(self.statuses.get(node.name))

    def score_node(self, cycle, node):
        return self._answer(self.scores.get(node.name, 0))

    def _answer(self, value):
        if isinstance(value, Exception):
            raise value
        return value


def decide(judge, *others, nodes="abc", **builders):
    cluster = state([builders.get(name) or node(name) for name in nodes])
    profile = profile_of(*others, judge)
    return Algorithm(cluster).decide(profile, info(pod("p"), cluster)), cluster


def names(decision, rows):
    return [decision.cycle.state.nodes.name(row) for row in rows]


class TestFilter:
    def test_each_node_is_judged_by_itself(self):
        decision, _ = decide(Judge({"b": unschedulable("no")}))
        assert names(decision, decision.feasible) == ["a", "c"]

    def test_nodes_that_others_turned_down_are_not_asked_about(self):
        judge = Judge()
        decide(judge, Filter("First", {"a": unschedulable("no")}))
        assert judge.asked == ["b", "c"]

    def test_rows_without_a_node_are_passed_over(self):
        judge = Judge()
        cluster = state([node("a"), node("b")])
        cluster.remove_node("a")
        Algorithm(cluster).decide(profile_of(judge), info(pod("p"), cluster))
        assert judge.asked == ["b"]

    def test_every_distinct_status_is_told(self):
        statuses = {"a": unschedulable("x"), "b": unresolvable("y", "z"), "c": unschedulable("x")}
        with pytest.raises(FitError) as failure:
            decide(Judge(statuses))
        rejections = failure.value.rejections
        assert rejections.statuses() == {row: status.by("Judge") for row, status in enumerate(statuses.values())}
        assert str(failure.value) == "0/3 nodes are available: 1 y, 1 z, 2 x."

    def test_a_success_in_words_is_a_success(self):
        decision, _ = decide(Judge({"a": Status(Code.SUCCESS)}))
        assert len(decision.feasible) == 3

    @pytest.mark.parametrize(
        ("answer", "text"),
        [
            (error("boom"), "boom"),
            (PluginError("boom"), "boom"),
            (KeyError("boom"), "KeyError: 'boom'"),
            (SKIP, "unexpected status Skip: "),
        ],
    )
    def test_a_failure_ends_the_attempt(self, answer, text):
        with pytest.raises(PluginError) as failure:
            decide(Judge({"b": answer}))
        assert str(failure.value) == f'running "Judge" filter plugin: {text}'


class TestScore:
    def test_each_feasible_node_is_scored_by_itself(self):
        decision, _ = decide(Judge({"a": unschedulable("no")}, {"b": 3, "c": 5}))
        assert decision.totals.tolist() == [3, 5]
        assert names(decision, decision.best) == ["c"]

    def test_scores_must_be_within_bounds(self):
        with pytest.raises(PluginError, match="returns an invalid score 101"):
            decide(Judge(scores={"a": 101}))

    def test_a_failure_ends_the_attempt(self):
        with pytest.raises(PluginError, match='running Score plugins: plugin "Judge" failed with: boom'):
            decide(Judge(scores={"a": PluginError("boom")}))


class TestNodeInfoView:
    def view(self):
        cluster = state([node("a").capacity({"example.com/gpu": "4"}, cpu="2", memory="1Gi").label(x="y")])
        cluster.set_node(
            node("a")
            .capacity({"example.com/gpu": "4"}, cpu="2", memory="1Gi")
            .label(x="y")
            .set("metadata.annotations", {"k": "v"})
            .build()
        )
        cluster.set_pod(info(pod("q").on("a").cpu("500m").requests({"example.com/gpu": "1"}), cluster))
        return NodeInfoView(cluster, cluster.nodes.rows["a"])

    def test_it_knows_the_node(self):
        view = self.view()
        assert (view.name, view.labels["x"], view.annotations) == ("a", "y", {"k": "v"})
        assert view.node.metadata.name == "a"
        assert view.allowed_pods == 110

    def test_it_knows_what_is_there_and_what_is_taken(self):
        view = self.view()
        assert (view.allocatable("cpu"), view.requested("cpu")) == (2000, 500)
        assert (view.allocatable("example.com/gpu"), view.requested("example.com/gpu")) == (4, 1)
        assert (view.allocatable("example.com/none"), view.requested("example.com/none")) == (0, 0)

    def test_it_knows_the_pods(self):
        assert [placed.name for placed in self.view().pods] == ["q"]


def test_what_a_plugin_says_of_a_node_is_asked_anew_for_each_pod():
    cluster = state([node("a"), node("b")])
    judge = Judge(scores={"a": 10})
    algorithm, profile = Algorithm(cluster), profile_of(judge)
    first = algorithm.decide(profile, info(pod("p"), cluster))
    judge.scores = {"b": 10}
    second = algorithm.decide(profile, info(pod("q"), cluster))
    assert (names(first, first.best), names(second, second.best)) == (["a"], ["b"])
