"""Which nodes a pod may go to and which are the best, for plugins put together in many ways."""

from __future__ import annotations

import pytest

from scheduler.cycle.algorithm import Algorithm, FitError
from scheduler.framework.arithmetic import normalize
from scheduler.framework.interface import NodeNames
from scheduler.framework.status import SKIP, PluginError, error, unresolvable, unschedulable
from scheduler.plugins.podtopologyspread.plugin import make as make_spread
from tests.builders import info, node, pod, state
from tests.cycle.rig import profile_of
from tests.framework.stubs import Filter, PreFilter, PreScore, Score
from tests.plugins.clusters import HOST
from tests.plugins.harness import handle

NO, NEVER = unschedulable("no"), unresolvable("never")
BY_NUMBER = {"1": 1, "2": 2, "3": 3}


def all_but(*names: str, of: str) -> dict:
    return {name: NO for name in of if name not in names}


def names(*nodes: str) -> NodeNames:
    return NodeNames(frozenset(nodes))


class Reverse(Score):
    """The lower the number of a node, the better."""

    normalizes = True

    def normalize(self, cycle, scores):
        return scores.max() + scores.min() - scores


class Share(Score):
    normalizes = True

    def normalize(self, cycle, scores):
        return normalize(scores)


class Bench:
    def __init__(self, *plugins, nodes="321", pods=(), wanted=None, **profile):
        self.cluster = state([node(name) for name in nodes], pods)
        self.profile = profile_of(*plugins, **profile)
        self.algorithm = Algorithm(self.cluster, percentage_of_nodes_to_score=100)
        self.wanted = wanted or pod("p")

    def decide(self):
        return self.algorithm.decide(self.profile, info(self.wanted, self.cluster), observe=lambda _: None)

    def best(self) -> str:
        return "".join(sorted(self.cluster.nodes.name(row) for row in self.decide().best))

    def misfit(self):
        with pytest.raises(FitError) as failure:
            self.decide()
        return failure.value


@pytest.mark.parametrize(
    ("plugins", "weights", "best"),
    [
        ([Filter("A"), Score("S")], {}, "123"),
        ([Filter("A", all_but("2", of="123"))], {}, "2"),
        ([Filter("A"), Score("S", BY_NUMBER)], {}, "3"),
        ([Filter("A", all_but("2", of="123")), Score("S", BY_NUMBER)], {}, "2"),
        ([Filter("A"), Score("S", BY_NUMBER), Reverse("R", BY_NUMBER)], {"R": 2}, "1"),
        ([Filter("A", {"1": NO}), Score("S")], {}, "23"),
        ([Filter("A"), PreScore("P", SKIP), Score("S", SKIP)], {}, "123"),
    ],
    ids=[
        "no preference",
        "one fits",
        "the highest score",
        "one fits whatever its score",
        "a heavier plugin outweighs another",
        "one does not fit",
        "all plugins skip scoring",
    ],
)
def test_the_best_of_those_that_fit(plugins, weights, best):
    assert Bench(*plugins, weights=weights).best() == best


@pytest.mark.parametrize(
    ("plugins", "text", "rejecting"),
    [
        ([Filter("A", all_but(of="123"))], "0/3 nodes are available: 3 no.", {"A"}),
        ([Filter("A"), Filter("B", all_but(of="123")), Score("S", BY_NUMBER)], "0/3 nodes are available: 3 no.", {"B"}),
        (
            [Filter("A", {"3": unschedulable("taken")}), Filter("B", all_but("3", of="123"))],
            "0/3 nodes are available: 1 taken, 2 no.",
            {"A", "B"},
        ),
        (
            [Filter("A", {"1": NO, "2": NEVER, "3": NEVER})],
            "0/3 nodes are available: 1 no, 2 never.",
            {"A"},
        ),
    ],
    ids=["the only filter", "the second filter", "each by another", "some for good"],
)
def test_where_none_fits_the_reasons_are_counted(plugins, text, rejecting):
    misfit = Bench(*plugins).misfit()
    assert str(misfit) == text
    assert misfit.rejections.rejecting_plugins() == rejecting


@pytest.mark.parametrize("status", [NO, NEVER])
def test_the_only_node_that_does_not_fit_is_told_by_its_status(status):
    misfit = Bench(Filter("A", {"3": status}), Score("S", BY_NUMBER), nodes="3").misfit()
    assert list(misfit.rejections.statuses().values()) == [status.by("A")]


def test_a_plugin_that_fails_to_score_fails_the_attempt():
    text = 'running Score plugins: plugin "S" failed with: boom'
    with pytest.raises(PluginError, match=text):
        Bench(Filter("A"), Score("S", PluginError(text)), Score("T"), weights={"T": 2}).decide()


class TestNamedNodes:
    @pytest.mark.parametrize(
        ("answers", "best", "evaluated"),
        [
            ([None, names("2"), names("1", "2")], "2", 1),
            ([names("1", "2")], "1", 1),
        ],
        ids=["two that meet in one", "two nodes of which one is enough where nothing is scored"],
    )
    def test_are_the_only_ones_that_are_looked_at(self, answers, best, evaluated):
        plugins = [PreFilter(name, answer) for name, answer in zip("ABC", answers, strict=False)]
        bench = Bench(*plugins, nodes="123")
        assert bench.best() == best
        bench.algorithm.next_start = 0
        assert bench.decide().evaluated == evaluated

    @pytest.mark.parametrize(
        ("answers", "text", "rejecting"),
        [
            (
                [None, names("2"), names("1")],
                "0/3 nodes are available: node(s) didn't satisfy plugin(s) [B C] simultaneously.",
                {"B", "C"},
            ),
            ([None, names()], "0/3 nodes are available: node(s) didn't satisfy plugin B.", {"B"}),
            ([names("unknown")], "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [A].", {"A"}),
            ([NEVER], "0/3 nodes are available: never.", {"A"}),
        ],
        ids=["that do not meet", "none", "unknown", "a refusal instead"],
    )
    def test_may_leave_none(self, answers, text, rejecting):
        plugins = [PreFilter(name, answer) for name, answer in zip("ABC", answers, strict=False)]
        misfit = Bench(*plugins).misfit()
        assert str(misfit) == text
        assert misfit.rejections.rejecting_plugins() == rejecting

    def test_that_do_not_fit_leave_the_others_with_the_name_of_the_plugin(self):
        misfit = Bench(PreFilter("P", names("2")), Filter("A", {"2": NO}), nodes="12").misfit()
        assert str(misfit) == "0/2 nodes are available: 1 no, 1 node(s) didn't satisfy plugin(s) [P]."
        assert misfit.rejections.rejecting_plugins() == {"P", "A"}

    def test_a_failing_plugin_fails_the_attempt(self):
        with pytest.raises(PluginError, match='running PreFilter plugin "A": boom'):
            Bench(PreFilter("A", error("boom"))).decide()


def test_a_filter_whose_pre_filter_skips_is_not_asked():
    class Both(PreFilter, Filter):
        def filter(self, cycle, nodes):
            raise AssertionError("not to be asked")

    bench = Bench(PreFilter("A"), Filter("B", {"1": NO}), Both("C", SKIP), Score("S"), nodes="123")
    assert bench.best() == "23"
    assert bench.decide().evaluated == 3


def test_without_scores_no_more_nodes_are_looked_at_than_one():
    assert Bench(Filter("A")).decide().evaluated == 1


@pytest.mark.parametrize(("nodes", "there", "skew", "best"), [("12", "1", 1, "2"), ("123", "112", 2, "23")])
def test_spreading_leaves_out_nodes_that_are_ahead(nodes, there, skew, best):
    web = {"matchLabels": {"app": "web"}}
    wanted = pod("p").label(app="web").spreads(HOST, skew, labelSelector=web)
    pods = [pod(f"q{number}").label(app="web").on(name) for number, name in enumerate(there)]
    bench = Bench(nodes=nodes, pods=pods, wanted=wanted)
    bench.profile = profile_of(make_spread(None, handle(bench.cluster)), Score("S"))
    assert bench.best() == best


class TestStart:
    def test_moves_on_by_as_many_nodes_as_were_looked_at_and_round(self):
        many = [f"n{number:03}" for number in range(500)]
        bench = Bench(Filter("A"), Score("S"), nodes=many)
        bench.algorithm = Algorithm(bench.cluster, percentage_of_nodes_to_score=30)
        starts = []
        for _ in range(8):
            decision = bench.decide()
            assert len(decision.feasible) == 150
            starts.append(bench.algorithm.next_start)
        assert starts == [(turn * 150) % 500 for turn in range(1, 9)]

    @pytest.mark.parametrize(
        ("nominated", "refused", "evaluated"),
        [("1", {}, 1), ("", {}, 3), ("1", {"1": NO}, 3)],
        ids=["the node in prospect fits", "no node in prospect", "it does not fit"],
    )
    def test_nodes_that_are_looked_at_with_a_node_in_prospect(self, nominated, refused, evaluated):
        wanted = pod("p").priority(9)
        bench = Bench(Filter("A", refused), Score("S"), wanted=wanted.nominated(nominated) if nominated else wanted)
        assert bench.decide().evaluated == evaluated


def test_scores_are_kept_plugin_by_plugin_where_details_are_asked_for():
    bench = Bench(Score("S", BY_NUMBER), Share("T", BY_NUMBER), Score("U", SKIP), nodes="123", weights={"T": 2})
    decision = bench.algorithm.decide(
        bench.profile, info(bench.wanted, bench.cluster), observe=lambda _: None, details=True
    )
    found = {each.name: (each.raw.tolist(), each.weighted.tolist()) for each in decision.scores}
    assert found == {"S": ([1, 2, 3], [1, 2, 3]), "T": ([1, 2, 3], [66, 132, 200])}
    assert decision.totals.tolist() == [67, 134, 203]
