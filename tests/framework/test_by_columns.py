"""Nominated pods considered on many nodes at once: the same verdicts as node by node."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.cache.changes import Change
from scheduler.framework import filtering
from scheduler.framework.by_columns import Bearing, bearing, by_amounts_only
from scheduler.framework.filtering import filter_nodes
from scheduler.framework.interface import FilterPlugin
from scheduler.framework.status import unschedulable
from tests.builders import info, node, pod, state
from tests.cycle.rig import profile_of
from tests.framework.stubs import Filter
from tests.framework.test_filtering import cycle_of


class Room(FilterPlugin):
    """Lets a node have no more pods than `most`; its code is how many there are."""

    name = "Room"
    depends = Change.REQUESTED

    def __init__(self, most=1):
        self.most = most
        self.views = []

    def filter(self, cycle, nodes):
        self.views.append(len(nodes))
        count = nodes.pod_count
        return None if (count <= self.most).all() else np.where(count > self.most, count, 0).astype(np.uint8)

    def status(self, cycle, code):
        return unschedulable(f"{code} pods")


class Lonely(Room):
    """Wants another pod to be there, but not for its name or terms."""

    name = "Lonely"

    def filter(self, cycle, nodes):
        return (nodes.pod_count == 0).astype(np.uint8)

    def status(self, cycle, code):
        return unschedulable("lonely")


@pytest.mark.parametrize(
    ("depends", "per_cycle", "feasible_only", "expected"),
    [
        (Change.TAINTS | Change.ALLOCATABLE, False, False, Bearing.NONE),
        (Change.REQUESTED | Change.ALLOCATABLE, False, False, Bearing.BY_AMOUNTS),
        (Change.PODS, False, False, Bearing.ANY),
        (Change.PORTS | Change.REQUESTED, False, False, Bearing.ANY),
        (Change.NONE, True, False, Bearing.ANY),
        (Change.NONE, False, True, Bearing.ANY),
    ],
)
def test_a_filter_says_how_pods_bear_on_it(depends, per_cycle, feasible_only, expected):
    plugin = Filter("X")
    plugin.depends, plugin.per_cycle, plugin.feasible_only = depends, per_cycle, feasible_only
    assert bearing(plugin) is expected
    assert by_amounts_only([plugin]) is (expected is not Bearing.ANY)


def test_all_nodes_with_nominated_pods_are_asked_about_in_one_go():
    cluster = state([node(name) for name in "abcd"], [])
    for name in "abc":
        cluster.nominations.add(info(pod(f"to-{name}"), cluster), name)
    room = Room(0)
    profile = profile_of(room)
    rejections = filter_nodes(profile, cycle_of(cluster), profile.filter, None)
    assert room.views == [4, 3]
    assert sorted(rejections.statuses()) == [cluster.nodes.rows[name] for name in "abc"]
    assert cluster.nodes.pod_count.sum() == 0


def test_nodes_that_are_not_looked_at_are_left_out():
    cluster = state([node(name) for name in "ab"], [])
    for name in "ab":
        cluster.nominations.add(info(pod(f"to-{name}"), cluster), name)
    room = Room(0)
    profile = profile_of(room)
    filter_nodes(profile, cycle_of(cluster), profile.filter, np.array([True, False]))
    assert room.views == [1, 1]


NAMES = ("a", "b", "c", "d")
PLACES = st.lists(st.sampled_from(NAMES), max_size=6)


@given(
    there=PLACES,
    nominated=st.lists(st.tuples(st.sampled_from((*NAMES, "gone")), st.integers(-1, 1)), max_size=6),
    tainted=st.sets(st.sampled_from(NAMES)),
    plugins=st.permutations(["Taint", "Room", "Lonely"]).flatmap(
        lambda order: st.integers(1, 3).map(lambda count: order[:count])
    ),
)
def test_verdicts_are_those_of_one_node_after_the_other(there, nominated, tainted, plugins):
    cluster = state([node(name) for name in NAMES], [pod(f"p{i}").on(name) for i, name in enumerate(there)])
    for i, (name, priority) in enumerate(nominated):
        cluster.nominations.add(info(pod(f"q{i}").priority(priority), cluster), name)
    made = {
        "Taint": Filter("Taint", dict.fromkeys(tainted, unschedulable("tainted"))),
        "Room": Room(1),
        "Lonely": Lonely(),
    }
    made["Taint"].per_cycle, made["Taint"].depends = False, Change.TAINTS
    profile = profile_of(*(made[name] for name in plugins))
    at_once = filter_nodes(profile, cycle_of(cluster), profile.filter, None)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(filtering, "by_amounts_only", lambda _: False)
        in_turn = filter_nodes(profile, cycle_of(cluster), profile.filter, None)
    assert at_once.statuses() == in_turn.statuses()
    assert not at_once.overrides
