"""Skew, by domain."""

from __future__ import annotations

import pytest

from scheduler.plugins.podtopologyspread.constraints import DO_NOT_SCHEDULE, compile_constraints
from scheduler.plugins.podtopologyspread.counts import SpreadCounts
from scheduler.plugins.podtopologyspread.filtering import MISSING_LABEL, TOO_SKEWED, global_minimum, verdict_by_domain
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
