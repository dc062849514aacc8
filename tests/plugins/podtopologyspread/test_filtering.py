"""Skew, by domain."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.cache.nodes import NodeView
from scheduler.plugins.podtopologyspread.constraints import DO_NOT_SCHEDULE, compile_constraints
from scheduler.plugins.podtopologyspread.counts import SpreadCounts
from scheduler.plugins.podtopologyspread.filtering import (
    MISSING_LABEL,
    TOO_SKEWED,
    global_minimum,
    spread_codes,
    verdict_by_domain,
)
from tests.builders import info, node, pod, state
from tests.plugins.clusters import ZONE

APP_A = {"matchLabels": {"app": "a"}}
ZONES = {"z1": 3, "z2": 1, "z3": 2}


def item_of(built, zones: dict[str, int]):
    nodes = [node(zone).zone(zone) for zone in zones]
    pods = [pod(f"{zone}-{i}").label(app="a").on(zone) for zone, count in zones.items() for i in range(count)]
    cluster = state(nodes, pods)
    shape = info(built, cluster).shape
    constraints = compile_constraints(shape.pod.spec.topology_spread_constraints, shape.labels, DO_NOT_SCHEDULE)
    counts = SpreadCounts(cluster, shape, constraints, require_all=True)
    counts.refresh(cluster.nodes)
    return counts.items[0], cluster.nodes.size


@pytest.mark.parametrize(
    ("max_skew", "label", "fits"),
    [(1, "a", {"z2"}), (2, "a", {"z2", "z3"}), (3, "a", {"z1", "z2", "z3"}), (1, "b", {"z2", "z3"})],
)
def test_a_domain_may_be_ahead_of_the_minimum_by_max_skew_with_the_pod_itself(max_skew, label, fits):
    item, size = item_of(pod("p").label(app=label).spreads(ZONE, max_skew, labelSelector=APP_A), ZONES)
    codes = verdict_by_domain(item, item.sums(size))
    assert {item.column.values[i] for i, code in enumerate(codes) if not code} == fits
    assert codes[0] == MISSING_LABEL
    assert set(codes[1:].tolist()) <= {0, TOO_SKEWED}


@pytest.mark.parametrize(("min_domains", "minimum"), [(None, 1), (3, 1), (4, 0)])
def test_the_minimum_is_zero_with_fewer_domains_than_asked_for(min_domains, minimum):
    item, size = item_of(pod("p").spreads(ZONE, labelSelector=APP_A, minDomains=min_domains), ZONES)
    assert global_minimum(item, item.sums(size)) == minimum


def test_domains_without_an_included_node_do_not_lower_the_minimum_and_count_zero():
    built = (
        pod("p")
        .label(app="a")
        .spreads(ZONE, labelSelector=APP_A)
        .requires_node({"matchExpressions": [{"key": ZONE, "operator": "NotIn", "values": ["z2"]}]})
    )
    item, size = item_of(built, ZONES)
    assert global_minimum(item, item.sums(size)) == 2
    assert verdict_by_domain(item, item.sums(size))[item.column.index["z2"]] == 0


def test_without_any_domain_the_minimum_is_zero():
    item, size = item_of(pod("p").spreads(ZONE, labelSelector=APP_A).node_selector(disk="ssd"), ZONES)
    assert global_minimum(item, item.sums(size)) == 0


class TestVerdictsOverAllRows:
    """They are the same array again, which tells that the same nodes fit."""

    def setup_method(self):
        self.cluster = state([node("a").zone("z1"), node("b").zone("z2"), node("c")])
        built = pod("p").label(app="a").spreads(ZONE, labelSelector=APP_A)
        self.shape = info(built, self.cluster).shape
        constraints = compile_constraints(
            self.shape.pod.spec.topology_spread_constraints, self.shape.labels, DO_NOT_SCHEDULE
        )
        self.counts = SpreadCounts(self.cluster, self.shape, constraints, require_all=True)

    def codes(self, rows=None):
        return spread_codes(self.counts, NodeView(self.cluster.nodes, rows))

    def put(self, name, node_name):
        self.cluster.set_pod(info(pod(name).label(app="a").on(node_name), self.cluster))

    def test_as_often_as_the_domains_come_out_alike(self):
        level = self.codes()
        self.put("p1", "a")
        skewed = self.codes()
        self.put("p2", "b")
        assert self.codes() is level
        self.put("p3", "a")
        assert self.codes() is skewed
        assert level.tolist() == [0, 0, MISSING_LABEL]
        assert skewed.tolist() == [TOO_SKEWED, 0, MISSING_LABEL]
        assert not level.flags.writeable

    def test_not_where_a_node_has_moved_to_another_domain(self):
        self.put("p1", "a")
        self.codes()
        self.cluster.set_node(node("b").zone("z1").build())
        self.cluster.set_node(node("c").zone("z2").build())
        assert self.codes().tolist() == [TOO_SKEWED, TOO_SKEWED, 0]

    def test_not_where_there_is_another_node(self):
        self.put("p1", "a")
        self.codes()
        self.cluster.set_node(node("d").build())
        assert self.codes().tolist() == [TOO_SKEWED, 0, MISSING_LABEL, MISSING_LABEL]

    def test_some_rows_are_reckoned_by_themselves(self):
        self.put("p1", "a")
        self.codes()
        assert self.codes(np.array([2, 0])).tolist() == [MISSING_LABEL, TOO_SKEWED]

    def test_no_more_are_kept_than_a_few(self):
        found = [self.codes()]
        for number in range(20):
            self.counts.codes.of((3, 0), number, lambda: np.zeros(3, np.uint8))
            found.append(self.codes())
        assert len(self.counts.codes) <= 8
