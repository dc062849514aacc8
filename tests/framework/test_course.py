"""The course that one decision takes, and the next ones on pods of its shape take as well."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.cache.changes import Change
from scheduler.cycle.algorithm import Algorithm, FitError
from scheduler.cycle.self_check import check
from scheduler.framework.arithmetic import normalize
from scheduler.framework.course import Course
from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import FilterPlugin, NodeNames, PreScorePlugin, ScorePlugin
from scheduler.framework.recorder import PluginRecorder
from scheduler.framework.status import SKIP, PluginError, Status, error, unresolvable, unschedulable
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from tests.builders import info, node, pod, state
from tests.cycle.rig import profile_of
from tests.framework.stubs import Filter, PreFilter, PreScore, Score

NO = unschedulable("no")


class Room(FilterPlugin):
    """Lets `most` pods on a node; notes the rows that it is asked about, one alone by itself."""

    name = "Room"
    depends = Change.PODS
    most = 3

    def __init__(self, diary):
        self.note = diary

    def filter(self, cycle, nodes):
        self.note(cycle, nodes.indices.tolist())
        return (nodes.pod_count >= self.most).astype(np.uint8)

    def code_at(self, cycle, row):
        self.note(cycle, row)
        return int(cycle.state.nodes.pod_count[row] >= self.most)

    def status(self, cycle, code):
        return NO

    def epoch(self, cycle):
        return self.most


class Fewest(PreScorePlugin, ScorePlugin):
    """Prefers nodes with few pods."""

    name = "Fewest"
    depends = Change.PODS
    bounded = True

    def __init__(self, diary):
        self.note = diary

    def pre_score(self, cycle, feasible):
        return None

    def pre_score_settled(self, cycle):
        return True

    def score(self, cycle, nodes):
        self.note(cycle, nodes.indices.tolist())
        return 100 - nodes.pod_count

    def score_at(self, cycle, row):
        self.note(cycle, row)
        return 100 - int(cycle.state.nodes.pod_count[row])


class Bench:
    """Nodes a to f, and pods of one shape that come to them. Each decision is compared with one from scratch.

    `asked` notes about what the plugins are asked, but for that comparison.
    """

    def __init__(self, *plugins, weights=None, nodes="abcdef"):
        self.cluster = state([node(name) for name in nodes])
        self.asked = []
        self.room = Room(lambda cycle, rows: self._note("Room", cycle, rows))
        self.fewest = Fewest(lambda cycle, rows: self._note("Fewest", cycle, rows))
        self.profile = profile_of(*plugins, self.room, self.fewest, weights=weights)
        self.metrics = SchedulerMetrics()
        self.algorithm = Algorithm(self.cluster, percentage_of_nodes_to_score=100)
        self.number = 0

    def _note(self, plugin, cycle, rows):
        if cycle.state is self.cluster:
            self.asked.append((plugin, rows))

    @property
    def course(self):
        shape = info(pod("p"), self.cluster).shape
        return self.profile.caches.of(shape).memo.get(Course)

    def decide(self, *, wanted=None, sampled=False, **how):
        pending = info(wanted or pod("p"), self.cluster)
        recorder = PluginRecorder(self.metrics, "p")
        cycle = Cycle(pending, self.cluster, "p", recorder=recorder, sampled=sampled)
        begun = []
        try:
            decision = self.algorithm.decide(self.profile, pending, cycle=cycle, observe=begun.append, **how)
        except FitError:
            decision = begun[0]
        check(self.profile, pending, decision)
        return decision

    def place(self, name="", **how):
        """Decide on a pod and count it on the node, the first of the best ones if none is named."""
        decision = self.decide(**how)
        self.number += 1
        best = name or (self.cluster.nodes.name(decision.leaders[0]) if len(decision.leaders) else "")
        if best:
            self.cluster.assume(info(pod(f"p{self.number}"), self.cluster), best)
        return best

    def misfit(self):
        """The message of a decision that no node fits."""
        self.decide()
        with pytest.raises(FitError) as failure:
            self.algorithm.decide(self.profile, info(pod("p"), self.cluster))
        return str(failure.value)

    def warm(self):
        """As many decisions as it takes until there is a course, and what was asked meanwhile forgotten."""
        for _ in range(3):
            self.place()
        assert self.course is not None
        self.decide()
        self.asked.clear()

    def timed(self):
        """How often which plugin has a time, by point and status."""
        return {labels: series.count for labels, series in self.metrics.plugin_execution_duration._series.items()}

    def evaluations(self):
        series = self.metrics.plugin_evaluation._series
        return {labels[:2]: counter.value for labels, counter in series.items()}


class Reminded(Bench):
    """Forgets the course before each decision."""

    def decide(self, **how):
        for cache in self.profile.caches._by_shape.values():
            cache.memo.pop(Course, None)
        return super().decide(**how)


class Told(Filter):
    may_fail = False


class Shares(Fewest):
    """Normalizes by row."""

    by_highest = True
    normalizes = True

    def __init__(self, name):
        self.name = name
        self.note = lambda cycle, rows: None

    def normalize(self, cycle, scores):
        return normalize(scores)

    def normalizer(self, cycle):
        return normalize


class TestWhatIsAsked:
    def test_only_the_row_that_changed_and_about_that_in_plain_numbers(self):
        bench = Bench()
        bench.warm()
        bench.place("b")
        bench.decide()
        assert bench.asked == [("Room", 1), ("Fewest", 1)]

    def test_several_rows_at_a_time_where_several_changed(self):
        bench = Bench()
        bench.warm()
        for number, name in enumerate("ab"):
            bench.cluster.set_pod(info(pod(f"other{number}").on(name), bench.cluster))
        bench.decide()
        assert bench.asked == [("Room", [0, 1]), ("Fewest", [0, 1])]

    def test_nothing_about_changes_that_do_not_matter_to_it(self):
        bench = Bench()
        bench.warm()
        bench.cluster.set_node(node("a").label(x="y").build())
        bench.decide()
        assert bench.asked == []

    def test_all_rows_in_another_epoch(self):
        bench = Bench()
        bench.warm()
        bench.room.most = 4
        bench.decide()
        assert bench.asked == [("Room", [0, 1, 2, 3, 4, 5])]

    def test_plugins_that_have_not_settled_are_asked_each_time(self):
        asked = PreFilter("A", SKIP)
        bench = Bench(asked)
        bench.warm()
        asked.diary.clear()
        bench.place()
        assert asked.diary.count("A") >= 1

    def test_the_pods_fill_the_nodes_up_evenly(self):
        bench = Bench()
        assert [bench.place() for _ in range(12)] == [*"abcdef"] * 2


class TestWhatItComesTo:
    @pytest.mark.parametrize(
        "plugins", [(), (Filter("A", {"b": NO}),), (Score("S", {"c": 50}),), (PreFilter("A", SKIP),)]
    )
    def test_metrics_count_as_if_everyone_were_asked(self, plugins):
        benches = Bench(*plugins), Reminded(*plugins)
        for bench in benches:
            for _ in range(3 * 6 + 2):  # the last ones fit on one node only, or on none
                bench.place()
        assert benches[0].evaluations() == benches[1].evaluations()

    def test_no_node_or_only_one_that_fits(self):
        bench = Bench()
        bench.warm()
        for _ in range(3 * 6 - 3):
            bench.place()
        assert bench.misfit() == "0/6 nodes are available: 6 no."
        bench.cluster.remove_pod(info(pod("p2"), bench.cluster).uid)
        decision = bench.decide()
        assert (decision.leaders, decision.scored) == ([1], False)
        assert [point for point, _, _ in decision.timings] == ["PreFilter", "Filter"]

    def test_each_extension_point_has_its_time(self):
        bench = Bench()
        bench.warm()
        timings = bench.decide().timings
        assert [point for point, _, _ in timings] == ["PreFilter", "Filter", "PreScore", "Score"]
        assert all(seconds > 0 for _, _, seconds in timings)

    @pytest.mark.parametrize(
        "plugins",
        [
            (),
            (Told("A", {"b": NO, "d": unresolvable("x")}),),
            (Score("S", {"c": 50}),),
            (PreFilter("A", SKIP), PreScore("B", SKIP)),
            (Shares("N"),),
        ],
    )
    def test_in_a_cycle_that_is_timed_everyone_has_a_time_as_if_everyone_were_asked(self, plugins):
        benches = Bench(*plugins), Reminded(*plugins)
        for bench in benches:
            for number in range(3 * 6 + 2):
                bench.place(sampled=number > 3)
        assert benches[0].timed() == benches[1].timed()

    def test_a_score_that_is_asked_in_each_cycle_counts(self):
        told = Score("S", {"c": 50})
        bench = Bench(told)
        bench.warm()
        for name in "de":
            told.answer = {name: 50}
            assert bench.decide().totals.max() == 150
            assert bench.place() == name

    def test_a_filter_that_is_asked_in_each_cycle_counts(self):
        told = Told("A")
        bench = Bench(told)
        bench.warm()
        told.answer = dict.fromkeys("def", NO)
        assert bench.cluster.nodes.names.vector[bench.decide().feasible].tolist() == ["a", "b", "c"]


class TestWhatEndsIt:
    """Deciding in general takes over; `Bench.decide` compares what comes of it with a decision from scratch."""

    @pytest.mark.parametrize("answer", [unresolvable("no"), NodeNames(frozenset("b")), None])
    def test_another_answer_at_pre_filter(self, answer):
        told = PreFilter("A", SKIP)
        bench = Bench(told)
        bench.warm()
        told.answer = answer
        decision = bench.decide()
        assert isinstance(answer, Status) == (not len(decision.feasible))
        assert decision.pre_filter.skipped == frozenset()

    def test_another_answer_at_pre_score(self):
        told = PreScore("A", SKIP)
        bench = Bench(told)
        bench.warm()
        told.answer = None
        assert bench.decide().pre_score_skipped == frozenset()

    def test_a_filter_that_fails_on_a_node(self):
        class Failing(Filter):
            may_fail = False

            def can_fail(self, cycle):
                return bool(self.answer)

        told = Failing("A")
        bench = Bench(told)
        bench.warm()
        told.answer = {"b": error("boom")}
        with pytest.raises(PluginError, match=r'^running "A" filter plugin: boom$'):
            bench.algorithm.decide(bench.profile, info(pod("p"), bench.cluster))

    def test_a_plugin_that_fails(self):
        told = Score("S", {"c": 50})
        bench = Bench(told)
        bench.warm()
        told.answer = PluginError("boom")
        with pytest.raises(PluginError, match="boom"):
            bench.algorithm.decide(bench.profile, info(pod("p"), bench.cluster))

    def test_details_that_are_asked_for(self):
        bench = Bench()
        bench.warm()
        assert [scores.name for scores in bench.decide(details=True).scores] == ["Fewest"]

    def test_a_node_in_prospect(self):
        bench = Bench()
        bench.warm()
        assert bench.decide(wanted=pod("p").nominated("e")).nominated

    def test_pods_that_are_nominated_to_a_node(self):
        bench = Bench()
        bench.warm()
        for number in range(2):
            bench.cluster.set_pod(info(pod(f"other{number}").on("f"), bench.cluster))
        bench.cluster.nominations.add(info(pod("other").nominated("f"), bench.cluster), "f")
        assert bench.cluster.nodes.rows["f"] not in bench.decide().feasible

    def test_nodes_that_come_and_go(self):
        bench = Bench()
        bench.warm()
        bench.cluster.set_node(node("g").build())
        assert bench.place() == "d"
        bench.cluster.remove_node("e")
        assert [bench.place() for _ in range(2)] == ["f", "g"]


class TestWhoHasNone:
    @pytest.mark.parametrize(
        "plugin",
        [
            PreFilter("A", NodeNames(frozenset("ab"))),
            type("Last", (Filter,), {"feasible_only": True, "per_cycle": False})("A"),
            type("Failing", (Filter,), {"may_fail": True})("A"),
        ],
    )
    def test_shapes_whose_decisions_may_come_out_in_another_way_each_time(self, plugin):
        bench = Bench(plugin)
        for _ in range(4):
            bench.place()
        assert bench.course is None


MANY = [f"n{number:03}" for number in range(130)]


class TestSamples:
    """Where no more than 100 of the nodes are wanted."""

    def bench(self, *plugins, kind=Bench):
        bench = kind(*plugins, nodes=MANY)
        bench.algorithm.percentage_of_nodes_to_score = 10
        return bench

    def test_each_search_goes_on_where_the_one_before_has_ended(self):
        bench = self.bench()
        assert [bench.place() for _ in range(4)] == ["n000", "n100", "n070", "n040"]
        assert bench.course is not None
        assert [bench.place() for _ in range(4)] == ["n010", "n110", "n080", "n050"]

    def test_only_the_row_that_changed_is_asked_about(self):
        bench = self.bench()
        bench.warm()
        bench.place("n005")
        decision = bench.decide()
        assert bench.asked == [("Room", 5), ("Fewest", 5)]
        assert (len(decision.feasible), decision.evaluated) == (100, 100)

    @pytest.mark.parametrize(
        "plugins",
        [
            (),
            (Told("A", dict.fromkeys(MANY[::7], NO)),),
            (Told("A", dict.fromkeys(MANY[:80], NO)),),
            (Score("S", {"n033": 50}),),
            (PreFilter("A", SKIP), PreScore("B", SKIP)),
            (Shares("N"),),
        ],
        ids=["all fit", "gaps", "too few", "score", "skips", "normalized"],
    )
    def test_it_comes_to_what_deciding_in_general_does(self, plugins):
        benches = self.bench(*plugins), self.bench(*plugins, kind=Reminded)
        for number in range(12):
            came_to = [
                (bench.place(sampled=number > 8), bench.algorithm.next_start, bench.evaluations(), bench.timed())
                for bench in benches
            ]
            assert came_to[0] == came_to[1]
        assert benches[0].course is not None

    def test_a_pod_that_fits_nowhere_has_had_all_nodes_looked_at(self):
        bench = self.bench()
        bench.warm()
        bench.room.most = 0
        assert bench.decide().evaluated == len(MANY)
        assert bench.misfit() == "0/130 nodes are available: 130 no."

    def test_the_sample_ends_as_soon_as_all_are_to_be_scored(self):
        bench = self.bench()
        bench.warm()
        bench.algorithm.percentage_of_nodes_to_score = 100
        assert bench.decide().evaluated == len(MANY)
