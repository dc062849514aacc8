"""PreScore, Score, NormalizeScore and weights."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.cache.changes import Change
from scheduler.framework.arithmetic import normalize
from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import ScorePlugin
from scheduler.framework.recorder import PluginRecorder
from scheduler.framework.scoring import detailed_scores, run_pre_scores, total_scores
from scheduler.framework.status import SKIP, PluginError, error, unschedulable
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from tests.builders import info, node, pod, state
from tests.cycle.rig import profile_of
from tests.framework.stubs import PreScore, Score


class Pods(ScorePlugin):
    """Ten points for each pod; kept by shape."""

    name = "Pods"
    depends = Change.PODS
    bounded = True

    def score(self, cycle, nodes):
        return nodes.pod_count * 10


class Share(Score):
    normalizes = True

    def normalize(self, cycle, scores):
        return normalize(scores)


class Fixture:
    def __init__(self, *plugins, feasible="abc", weights=None):
        self.cluster = state([node("a"), node("b"), node("c")])
        self.profile = profile_of(*plugins, weights=weights)
        self.feasible = feasible
        self.cycle = self.another()

    def another(self):
        cycle = Cycle(info(pod("p"), self.cluster), self.cluster, "p")
        cycle.feasible = np.array([self.cluster.nodes.rows[name] for name in self.feasible])
        return cycle

    def totals(self, skipped=frozenset()):
        totals = total_scores(self.profile, self.cycle, skipped)
        return dict(zip(self.feasible, totals.tolist(), strict=True))


class TestPreScore:
    def test_skipping_plugins_are_named(self):
        fixture = Fixture(PreScore("A"), PreScore("B", SKIP))
        assert run_pre_scores(fixture.profile, fixture.cycle) == {"B"}

    @pytest.mark.parametrize("answer", [error("boom"), unschedulable("boom")])
    def test_anything_else_fails_the_attempt(self, answer):
        fixture = Fixture(PreScore("A", answer))
        with pytest.raises(PluginError, match='running PreScore plugin "A": boom'):
            run_pre_scores(fixture.profile, fixture.cycle)

    @pytest.mark.parametrize(
        ("answers", "skipped"),
        [
            ([None, None], ""),
            ([SKIP, SKIP, SKIP], "ABC"),
            ([SKIP, None, SKIP, None], "AC"),
        ],
        ids=["none skips", "all skip", "some skip"],
    )
    def test_each_says_for_itself(self, answers, skipped):
        fixture = Fixture(*(PreScore(name, answer) for name, answer in zip("ABCD", answers, strict=False)))
        assert run_pre_scores(fixture.profile, fixture.cycle) == set(skipped)

    @pytest.mark.parametrize("first", [None, SKIP])
    def test_a_failure_of_a_later_one_fails_the_attempt_as_well(self, first):
        fixture = Fixture(PreScore("A", first), PreScore("B", error("boom")))
        with pytest.raises(PluginError, match='running PreScore plugin "B": boom'):
            run_pre_scores(fixture.profile, fixture.cycle)


class Constant(Score):
    """Normalizes every score to the same."""

    normalizes = True
    normalized = 0

    def normalize(self, cycle, scores):
        if isinstance(self.normalized, Exception):
            raise self.normalized
        return np.full_like(scores, self.normalized)


def constant(name, normalized, raw=0):
    plugin = Constant(name, dict.fromkeys("abc", raw))
    plugin.normalized = normalized
    return plugin


class TestTotals:
    def test_without_plugins_every_total_is_0(self):
        assert Fixture().totals() == {"a": 0, "b": 0, "c": 0}

    @pytest.mark.parametrize("skipped", [{"A"}, {"A", "unknown"}])
    def test_so_it_is_if_all_are_skipped(self, skipped):
        fixture = Fixture(Score("A", PluginError("not to be asked")))
        assert fixture.totals(frozenset(skipped)) == {"a": 0, "b": 0, "c": 0}

    def test_normalized_scores_take_the_place_of_raw_ones_before_the_weight(self):
        plugins = Score("A", dict.fromkeys("abc", 1)), constant("B", 4, raw=3), constant("C", 5, raw=4)
        assert Fixture(*plugins, weights={"C": 2}).totals() == dict.fromkeys("abc", 1 + 4 + 10)

    def test_plugins_that_normalize_stand_beside_those_that_do_not(self):
        fixture = Fixture(Score("A", {"a": 3, "b": 5}), constant("B", 8, raw=7))
        assert fixture.totals() == {"a": 11, "b": 13, "c": 8}

    @pytest.mark.parametrize("normalized", [101, -1])
    def test_a_normalized_score_out_of_bounds_fails_the_attempt(self, normalized):
        with pytest.raises(PluginError, match=f'plugin "A" returns an invalid score {normalized}, it should'):
            Fixture(constant("A", normalized)).totals()

    @pytest.mark.parametrize("plugin", [Score("B", PluginError("boom")), constant("B", PluginError("boom"))])
    def test_what_a_plugin_raises_fails_the_attempt(self, plugin):
        with pytest.raises(PluginError, match="boom"):
            Fixture(Score("A", {"a": 1}), plugin).totals()

    def test_weighted_scores_are_added_up(self):
        fixture = Fixture(Score("A", {"a": 10, "b": 20}), Score("B", {"b": 1, "c": 2}), weights={"B": 3})
        assert fixture.totals() == {"a": 10, "b": 23, "c": 6}

    def test_a_skipped_plugin_adds_nothing(self):
        fixture = Fixture(Score("A", {"a": 10}), Score("B", {"a": 5}))
        assert fixture.totals(frozenset({"A"})) == {"a": 5, "b": 0, "c": 0}

    def test_scores_are_normalized_over_the_feasible_nodes_only(self):
        fixture = Fixture(Share("A", {"a": 1000, "b": 2, "c": 1}), feasible="bc")
        assert fixture.totals() == {"b": 100, "c": 50}

    def test_scores_come_in_the_order_of_the_feasible_nodes(self):
        fixture = Fixture(Score("A", {"a": 1, "b": 2, "c": 3}), Pods(), feasible="ca")
        assert total_scores(fixture.profile, fixture.cycle, frozenset()).tolist() == [3, 1]

    @pytest.mark.parametrize("wrong", [101, -1])
    def test_a_score_out_of_bounds_fails_the_attempt(self, wrong):
        fixture = Fixture(Score("A", {"b": wrong}))
        with pytest.raises(PluginError) as failure:
            fixture.totals()
        assert str(failure.value) == (
            f'applying score defaultWeights on Score plugins: plugin "A" returns an invalid score {wrong}, '
            "it should in the range of [0, 100] after normalizing"
        )

    def test_raw_scores_may_be_anything_if_they_are_normalized(self):
        assert Fixture(Share("A", {"a": 5000})).totals() == {"a": 100, "b": 0, "c": 0}

    def test_kept_sums_follow_the_cluster(self):
        fixture = Fixture(Pods(), Score("A", {"a": 1}), weights={"Pods": 2})
        assert fixture.totals() == {"a": 1, "b": 0, "c": 0}
        fixture.cluster.set_pod(info(pod("q").on("b"), fixture.cluster))
        assert fixture.totals() == {"a": 1, "b": 20, "c": 0}

    def test_kept_sums_survive_that_somebody_else_looked_at_the_scores_first(self):
        fixture = Fixture(Pods())
        fixture.totals()
        fixture.cluster.set_pod(info(pod("q").on("b"), fixture.cluster))
        detailed_scores(fixture.profile, fixture.cycle, frozenset())
        assert fixture.totals() == {"a": 0, "b": 10, "c": 0}

    def test_timing_each_plugin_changes_no_total(self):
        fixture = Fixture(Pods(), Share("A", {"a": 7}))
        fixture.totals()
        fixture.cluster.set_pod(info(pod("q").on("c"), fixture.cluster))
        fixture.cycle = fixture.another()
        fixture.cycle.recorder = PluginRecorder(SchedulerMetrics(), "p")
        fixture.cycle.sampled = True
        assert fixture.totals() == {"a": 100, "b": 0, "c": 10}


class TestDetails:
    def test_raw_and_weighted_scores_plugin_by_plugin(self):
        fixture = Fixture(Share("A", {"a": 1, "b": 2}), Score("B", {"c": 9}), weights={"A": 2})
        details = detailed_scores(fixture.profile, fixture.cycle, frozenset())
        assert [(s.name, s.raw.tolist(), s.weighted.tolist()) for s in details] == [
            ("A", [1, 2, 0], [100, 200, 0]),
            ("B", [0, 0, 9], [0, 0, 9]),
        ]

    def test_they_add_up_to_the_totals(self):
        fixture = Fixture(Share("A", {"a": 3, "b": 2}), Pods(), Score("B", {"c": 9}))
        details = detailed_scores(fixture.profile, fixture.cycle, frozenset({"B"}))
        total = total_scores(fixture.profile, fixture.cycle, frozenset({"B"}))
        assert sum(s.weighted for s in details).tolist() == total.tolist()


class Kept(ScorePlugin):
    """Ten points for each pod, in proportion to the highest; counts how often it normalizes."""

    name = "Kept"
    depends = Change.PODS
    normalizes = True
    bounded = True

    def __init__(self, *, by_highest):
        self.by_highest = by_highest
        self.normalized = 0

    def score(self, cycle, nodes):
        return nodes.pod_count * 10

    def normalize(self, cycle, scores):
        self.normalized += 1
        return normalize(scores, reverse=True)

    def normalizer(self, cycle):
        return normalize


class TestWhatIsKeptOfNormalizedScores:
    def fixture(self, *, by_highest=False):
        plugin = Kept(by_highest=by_highest)
        fixture = Fixture(plugin, weights={"Kept": 3})
        return fixture, plugin

    def test_the_same_nodes_with_the_same_scores_are_not_normalized_again(self):
        fixture, plugin = self.fixture()
        feasible = fixture.cycle.feasible
        for _ in range(3):
            fixture.cycle = fixture.another()
            fixture.cycle.feasible = feasible
            assert fixture.totals() == {"a": 300, "b": 300, "c": 300}
        assert plugin.normalized == 1

    def test_other_nodes_are(self):
        fixture, plugin = self.fixture()
        fixture.totals()
        fixture.feasible = "ac"
        fixture.cycle = fixture.another()
        assert fixture.totals() == {"a": 300, "c": 300}
        assert plugin.normalized == 2

    def test_other_scores_are(self):
        fixture, _ = self.fixture()
        fixture.totals()
        fixture.cluster.set_pod(info(pod("q").on("b"), fixture.cluster))
        assert fixture.totals() == {"a": 300, "b": 0, "c": 300}

    def test_scores_that_are_all_the_same_are_normalized_once_for_all_nodes(self):
        fixture, plugin = self.fixture(by_highest=True)
        for feasible in ("abc", "ac", "b"):
            fixture.feasible = feasible
            fixture.cycle = fixture.another()
            assert fixture.totals() == dict.fromkeys(feasible, 300)
        assert plugin.normalized == 1

    def test_until_one_differs(self):
        fixture, _ = self.fixture(by_highest=True)
        fixture.totals()
        fixture.cluster.set_pod(info(pod("q").on("b"), fixture.cluster))
        assert fixture.totals() == {"a": 300, "b": 0, "c": 300}
        fixture.feasible = "b"
        fixture.cycle = fixture.another()
        assert fixture.totals() == {"b": 0}
