"""Filtering all nodes: who is asked about which nodes, and nominated pods."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.cache.changes import Change
from scheduler.framework.cycle import Cycle
from scheduler.framework.filtering import (
    active_filters,
    count_evaluations,
    feasible_mask,
    filter_nodes,
    filter_row,
    in_turn,
    nominated_rivals,
    raise_for_errors,
)
from scheduler.framework.interface import FilterPlugin
from scheduler.framework.status import Code, PluginError, Status, error, unresolvable, unschedulable
from tests.builders import info, node, pod, state
from tests.cycle.rig import profile_of
from tests.framework.stubs import Filter

NO = unschedulable("no")


class Recorder:
    def __init__(self):
        self.counts = {}

    def evaluated(self, point, plugin, times=1):
        self.counts[plugin] = self.counts.get(plugin, 0) + times


class Crowd(FilterPlugin):
    """Lets a node have no more pods than `most`."""

    name = "Crowd"
    depends = Change.PODS

    def __init__(self, most=0):
        self.most = most
        self.asked = 0

    def filter(self, cycle, nodes):
        self.asked += len(nodes)
        return (nodes.pod_count > self.most).astype(np.uint8)

    def status(self, cycle, code):
        return unschedulable("crowded")


class Company(FilterPlugin):
    """Wants to be where another pod is."""

    name = "Company"
    per_cycle = True

    def filter(self, cycle, nodes):
        return (nodes.pod_count == 0).astype(np.uint8)

    def status(self, cycle, code):
        return unschedulable("lonely")


def cycle_of(cluster, wanted=None):
    return Cycle(info(wanted or pod("p"), cluster), cluster, "p")


def run(cluster, *plugins, wanted=None, allowed=None, recorder=None):
    cycle = cycle_of(cluster, wanted)
    cycle.recorder = recorder
    profile = profile_of(*plugins)
    return filter_nodes(profile, cycle, profile.filter, allowed)


def fits(cluster, rejections):
    return {cluster.nodes.name(row) for row in np.flatnonzero(feasible_mask(rejections))}


def three(pods=()):
    return state([node("a"), node("b"), node("c")], pods)


class TestWhoIsAsked:
    def test_a_node_fits_if_all_filters_let_it_pass(self):
        cluster = three()
        rejections = run(cluster, Filter("X", {"a": NO}), Filter("Y", {"b": NO}))
        assert fits(cluster, rejections) == {"c"}

    def test_rows_without_a_node_never_fit(self):
        cluster = three()
        cluster.remove_node("b")
        assert fits(cluster, run(cluster, Filter("X"))) == {"a", "c"}

    def test_only_allowed_rows_are_looked_at(self):
        cluster = three()
        allowed = np.array([True, False, True])
        rejections = run(cluster, Filter("X", {"c": NO}), allowed=allowed)
        assert fits(cluster, rejections) == {"a"}
        assert set(rejections.statuses()) == {cluster.nodes.rows["c"]}

    def test_skipped_filters_are_left_out(self):
        profile = profile_of(Filter("X"), Filter("Y"))
        assert [plugin.name for plugin in active_filters(profile, frozenset({"X"}))] == ["Y"]
        assert active_filters(profile, frozenset()) is profile.filter

    def test_verdicts_of_a_shape_are_kept_and_only_changed_rows_asked_again(self):
        cluster, plugin = three(), Crowd()
        profile = profile_of(plugin)
        filter_nodes(profile, cycle_of(cluster), profile.filter, None)
        assert plugin.asked == 3
        cluster.set_pod(info(pod("q").on("b"), cluster))
        rejections = filter_nodes(profile, cycle_of(cluster), profile.filter, None)
        assert plugin.asked == 4
        assert fits(cluster, rejections) == {"a", "c"}

    def test_a_filter_for_feasible_nodes_is_asked_about_no_others(self):
        cluster, diary = three(), []
        last = Filter("Last", {"b": NO}, diary)
        last.feasible_only = True
        rejections = run(cluster, Filter("X", {"a": NO}), last)
        assert diary == ["Last b c"]
        assert fits(cluster, rejections) == {"c"}

    def test_a_filter_for_feasible_nodes_is_not_asked_where_there_are_none(self):
        cluster, diary = three(), []
        last = Filter("Last", None, diary)
        last.feasible_only = True
        run(cluster, Filter("X", dict.fromkeys("abc", NO)), last)
        assert diary == []


class TestFewNodes:
    """Where no more than eight nodes are allowed."""

    def many(self):
        return state([node(f"n{number}") for number in range(20)])

    def allowed(self, cluster, *names):
        allowed = np.zeros(cluster.nodes.size, np.bool_)
        allowed[[cluster.nodes.rows[name] for name in names]] = True
        return allowed

    @pytest.mark.parametrize("names", [("n3",), ("n3", "n4"), tuple(f"n{number}" for number in range(8))])
    def test_no_others_are_looked_at(self, names):
        cluster, plugin = self.many(), Crowd()
        rejections = run(cluster, plugin, allowed=self.allowed(cluster, *names))
        assert plugin.asked == len(names)
        assert fits(cluster, rejections) == set(names)

    def test_beyond_that_all_are_and_the_verdicts_are_kept(self):
        cluster, plugin = self.many(), Crowd()
        profile = profile_of(plugin)
        allowed = self.allowed(cluster, *(f"n{number}" for number in range(9)))
        for _ in range(2):
            filter_nodes(profile, cycle_of(cluster), profile.filter, allowed)
        assert plugin.asked == 20

    def test_one_that_was_turned_down_is_not_asked_about_again(self):
        cluster, diary = self.many(), []
        first, last = Filter("First", {"n3": NO}, diary), Filter("Last", {"n4": NO}, diary)
        rejections = run(cluster, first, last, allowed=self.allowed(cluster, "n3", "n4", "n5"))
        assert diary == ["First n3 n4 n5", "Last n4 n5"]
        assert fits(cluster, rejections) == {"n5"}
        statuses = {cluster.nodes.name(row): status for row, status in rejections.statuses().items()}
        assert {name: status.plugin for name, status in statuses.items()} == {"n3": "First", "n4": "Last"}

    def test_where_none_is_left_nobody_is_asked(self):
        cluster, diary = self.many(), []
        first, last = Filter("First", {"n3": NO}, diary), Filter("Last", None, diary)
        rejections = run(cluster, first, last, allowed=self.allowed(cluster, "n3"))
        assert diary == ["First n3"]
        assert in_turn([first, last], rejections)[0] == [1, 0]

    def test_one_that_looks_at_all_nodes_each_time_is_asked_about_these(self):
        cluster = self.many()
        cluster.set_pod(info(pod("q").on("n4"), cluster))
        assert fits(cluster, run(cluster, Company(), allowed=self.allowed(cluster, "n3", "n4"))) == {"n4"}


class TestCounting:
    def test_each_filter_counts_the_nodes_that_come_to_it(self):
        cluster, recorder = three(), Recorder()
        cycle = cycle_of(cluster)
        cycle.recorder = recorder
        profile = profile_of(Filter("X", {"a": NO}), Crowd(most=9), Filter("Y", {"b": NO}), Filter("Z"))
        rejections = filter_nodes(profile, cycle, profile.filter, None)
        count_evaluations(cycle, profile.filter, in_turn(profile.filter, rejections)[0])
        assert recorder.counts == {"X": 3, "Crowd": 2, "Y": 2, "Z": 1}


class TestErrors:
    def test_an_error_on_any_node_that_was_looked_at_ends_the_attempt(self):
        rejections = run(three(), Filter("X", {"b": error("boom")}))
        with pytest.raises(PluginError, match='running "X" filter plugin: boom'):
            raise_for_errors(rejections, rejections.evaluated)

    @pytest.mark.parametrize(
        ("first", "second", "message"),
        [
            (error("boom"), None, 'running "X" filter plugin: boom'),
            (error("boom"), error("bang"), 'running "X" filter plugin: boom'),
            (None, error("boom"), 'running "Y" filter plugin: boom'),
            (Status(Code.WAIT, ("odd",)), None, 'running "X" filter plugin: odd'),
            (Status(Code.SKIP, ("odd",)), NO, 'running "X" filter plugin: odd'),
        ],
        ids=["the first", "both", "the second", "a wait is one", "a skip is one"],
    )
    def test_it_is_the_first_that_a_node_meets(self, first, second, message):
        filters = [Filter(name, {"a": answer} if answer else {}) for name, answer in (("X", first), ("Y", second))]
        rejections = run(three(), *filters)
        with pytest.raises(PluginError) as failure:
            raise_for_errors(rejections, rejections.evaluated)
        assert str(failure.value) == message

    def test_errors_elsewhere_do_not_matter(self):
        cluster = three()
        rejections = run(cluster, Filter("X", {"b": error("boom")}))
        looked_at = rejections.evaluated.copy()
        looked_at[cluster.nodes.rows["b"]] = False
        raise_for_errors(rejections, looked_at)

    def test_refusals_are_no_errors(self):
        rejections = run(three(), Filter("X", {"b": NO}))
        raise_for_errors(rejections, rejections.evaluated)


class TestOneRow:
    def test_the_first_refusal_of_one_node_as_it_is_now(self):
        cluster = three()
        filters = [Filter("X", {"a": NO}), Filter("Y", {"a": unschedulable("neither")})]
        assert filter_row(cycle_of(cluster), filters, cluster.nodes.rows["a"]) == NO.by("X")
        assert filter_row(cycle_of(cluster), filters, cluster.nodes.rows["b"]) is None

    @pytest.mark.parametrize(
        ("first", "second", "expected"),
        [
            (None, None, None),
            (NO, None, NO.by("X")),
            (NO, unschedulable("neither"), NO.by("X")),
            (unresolvable("never"), NO, unresolvable("never").by("X")),
            (None, NO, NO.by("Y")),
        ],
        ids=["both", "first", "both refuse", "for good", "second"],
    )
    def test_the_first_that_does_not_let_the_pod_pass_decides(self, first, second, expected):
        cluster = three()
        filters = [Filter(name, {"a": answer} if answer else {}) for name, answer in (("X", first), ("Y", second))]
        assert filter_row(cycle_of(cluster), filters, cluster.nodes.rows["a"]) == expected


class TestNominatedPods:
    @pytest.mark.parametrize(("priority", "asked"), [(1, 1), (0, 1), (-1, 0)], ids=["more", "as much", "less"])
    def test_a_node_is_filtered_twice_for_one_that_matters_as_much_or_more(self, priority, asked):
        cluster, diary = three(), []
        self.nominate(cluster, priority=priority)
        run(cluster, Filter("X", None, diary))
        assert len(diary) == 1 + asked

    def test_an_error_with_them_is_told_as_one_without(self):
        cluster = three()
        self.nominate(cluster)
        rejections = run(cluster, Filter("X", {"a": error("boom")}))
        with pytest.raises(PluginError, match='running "X" filter plugin: boom'):
            raise_for_errors(rejections, rejections.evaluated)

    def nominate(self, cluster, name="other", priority=0, where="a"):
        other = info(pod(name).priority(priority), cluster)
        cluster.nominations.add(other, where)
        return other

    def test_one_that_matters_as_much_counts_as_if_it_were_there(self):
        cluster = three()
        self.nominate(cluster)
        assert fits(cluster, run(cluster, Crowd())) == {"b", "c"}

    def test_the_attempt_leaves_no_trace(self):
        cluster = three()
        self.nominate(cluster)
        run(cluster, Crowd())
        assert cluster.nodes.pod_count.sum() == 0
        assert len(cluster.pods) == 0

    def test_one_that_matters_less_does_not_count(self):
        cluster = three()
        self.nominate(cluster, priority=1)
        assert fits(cluster, run(cluster, Crowd(), wanted=pod("p").priority(2))) == {"a", "b", "c"}

    def test_the_pods_own_nomination_does_not_count(self):
        cluster = three()
        self.nominate(cluster, name="p")
        assert fits(cluster, run(cluster, Crowd(), wanted=pod("p"))) == {"a", "b", "c"}

    def test_a_pod_must_fit_without_them_as_well(self):
        cluster = three()
        self.nominate(cluster)
        assert fits(cluster, run(cluster, Company())) == set()

    def test_a_nominated_pod_that_is_on_a_node_by_now_is_no_rival(self):
        cluster = three()
        other = self.nominate(cluster)
        cluster.assume(other, "a")
        assert nominated_rivals(cycle_of(cluster), "a") == []

    def test_a_nomination_to_a_node_that_is_gone_does_not_matter(self):
        cluster = three()
        self.nominate(cluster, where="gone")
        assert fits(cluster, run(cluster, Crowd())) == {"a", "b", "c"}

    def test_the_reason_is_that_of_the_attempt_with_them(self):
        cluster = three()
        self.nominate(cluster)
        rejections = run(cluster, Crowd())
        assert rejections.status_of(cluster.nodes.rows["a"]) == unschedulable("crowded").by("Crowd")
