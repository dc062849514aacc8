"""Affinity and anti-affinity, node by node."""

from __future__ import annotations

import pytest

from scheduler.cache.nodes import NodeView
from scheduler.plugins.interpodaffinity.filtering import (
    EXISTING_ANTI_AFFINITY,
    NO_AFFINITY,
    OWN_ANTI_AFFINITY,
    affinity_codes,
)
from scheduler.plugins.interpodaffinity.terms import own_terms
from tests.builders import info, node, pod, pod_term, state
from tests.plugins.clusters import ZONE

WEB, DB = {"app": "web"}, {"app": "db"}
NODES = [node("a").zone("z1"), node("b").zone("z1"), node("c").zone("z2"), node("d")]
WEB_ON_A = pod("q").label(WEB).on("a")
HATES_DB_ON_A = WEB_ON_A.requires_pods(pod_term(ZONE, DB), anti=True)
NEAR, APART = pod("p").requires_pods(pod_term(ZONE, WEB)), pod("p").requires_pods(pod_term(ZONE, WEB), anti=True)


def codes(built, *pods) -> list[int] | None:
    cluster = state(NODES, pods)
    shape = info(built, cluster).shape
    found = affinity_codes(own_terms(cluster, shape), cluster, shape.label_class, NodeView(cluster.nodes))
    return None if found is None else found.tolist()


FAR, OWN, OTHERS = NO_AFFINITY, OWN_ANTI_AFFINITY, EXISTING_ANTI_AFFINITY


@pytest.mark.parametrize(
    ("what", "built", "pods", "expected"),
    [
        ("near to a pod of the zone", NEAR, [WEB_ON_A], [0, 0, FAR, FAR]),
        ("near to a pod that is nowhere", NEAR, [], [FAR, FAR, FAR, FAR]),
        ("the first of its group", NEAR.label(WEB), [], [0, 0, 0, FAR]),
        ("not the first of its group", NEAR.label(WEB), [WEB_ON_A], [0, 0, FAR, FAR]),
        ("the group is on a node without the label only", NEAR.label(WEB), [WEB_ON_A.on("d")], [0, 0, 0, FAR]),
        ("away from a pod of the zone", APART, [WEB_ON_A], [OWN, OWN, 0, 0]),
        ("away from a pod on a node without the label", APART, [WEB_ON_A.on("d")], None),
        ("avoided by a pod of the zone", pod("p").label(DB), [HATES_DB_ON_A], [OTHERS, OTHERS, 0, 0]),
        ("avoided by a pod of another namespace", pod("p").label(DB), [HATES_DB_ON_A.namespace("x")], None),
        ("both ways at once: its own rule first", APART.label(DB), [HATES_DB_ON_A], [OWN, OWN, 0, 0]),
        ("affinity comes first of all", APART.requires_pods(pod_term(ZONE, DB)), [WEB_ON_A], [FAR, FAR, FAR, FAR]),
        ("no rules", pod("p"), [WEB_ON_A], None),
    ],
)
def test_the_first_broken_rule(what, built, pods, expected):
    assert codes(built, *pods) == expected
