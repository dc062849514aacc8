"""Profiles: plugins at their extension points."""

from __future__ import annotations

import pytest

from scheduler.framework.profile import Profile
from tests.builders import info, pod, state
from tests.framework.stubs import Filter, PreFilter, Reserve, Score


def make(*plugins, points, weights=None):
    return Profile("p", plugins={p.name: p for p in plugins}, points=points, weights=weights or {})


def test_plugins_stand_in_the_order_of_the_configuration():
    a, b = Filter("A"), Filter("B")
    assert make(a, b, points={"filter": ["B", "A"]}).filter == [b, a]


def test_points_that_are_not_named_have_no_plugins():
    profile = make(Filter("A"), points={})
    assert (profile.filter, profile.score, profile.bind) == ([], [], [])


def test_score_plugins_come_with_their_weights():
    a = Score("A")
    assert make(a, points={"score": ["A"]}, weights={"A": 7}).score == [(a, 7)]


def test_a_name_without_a_plugin_is_refused():
    with pytest.raises(ValueError, match='profile "p": filter plugin "A" does not exist'):
        make(points={"filter": ["A"]})


def test_a_plugin_that_does_not_implement_its_point_is_refused():
    with pytest.raises(ValueError, match='profile "p": plugin "A" does not extend filter plugin'):
        make(PreFilter("A"), points={"filter": ["A"]})


def test_for_another_state_there_are_the_same_plugins_and_no_caches():
    profile = make(Filter("A"), points={"filter": ["A"]})
    twin = profile.on(state())
    assert twin.filter is profile.filter
    assert twin.caches is not profile.caches


def test_the_plugins_are_made_anew_where_it_is_known_how():
    profile, other, cluster = make(points={}), make(points={}), state()
    made = []

    def remake(wanted):
        made.append(wanted)
        return other

    profile.remake = remake
    assert profile.on(cluster) is other
    assert made == [cluster]


@pytest.mark.parametrize(
    ("sees_labels", "shared"),
    [([False, False], True), ([False, True], False), ([True, False], False)],
    ids=["none", "the score", "the filter"],
)
def test_pods_that_differ_in_labels_only_share_what_is_kept_unless_a_plugin_sees_labels(sees_labels, shared):
    plugins = Filter("A"), Score("B")
    for plugin, sees in zip(plugins, sees_labels, strict=True):
        plugin.sees_labels, plugin.per_cycle = sees, False
    profile = make(*plugins, points={"filter": ["A"], "score": ["B"]}, weights={"B": 1})
    cluster = state()
    one, other = (info(pod("p").label(index=index), cluster).shape for index in "12")
    assert (profile.caches.of(one) is profile.caches.of(other)) is shared
    twin = profile.aside()
    assert (twin.caches.of(one) is twin.caches.of(other)) is shared


class Settled(PreFilter):
    """What it says may be kept."""

    def pre_filter_settled(self, cycle):
        return True


class SettledScore(Score):
    """The same before scoring."""

    def pre_score_settled(self, cycle):
        return True


@pytest.mark.parametrize(
    ("plugin", "point", "shared"),
    [
        (Reserve("A"), "reserve", True),
        (Filter("A"), "filter", True),
        (Score("A"), "preScore", True),
        (PreFilter("A"), "preFilter", True),
        (Settled("A"), "preFilter", False),
        (SettledScore("A"), "preScore", False),
    ],
)
def test_plugins_of_which_nothing_is_kept_may_see_labels(plugin, point, shared):
    assert plugin.sees_labels
    profile = make(plugin, points={point: ["A"]})
    cluster = state()
    one, other = (info(pod("p").label(index=index), cluster).shape for index in "12")
    assert (profile.caches.of(one) is profile.caches.of(other)) is shared
