"""The numbers of the score."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.cache.nodes import NodeView
from scheduler.plugins.interpodaffinity.scoring import normalized, raw_scores, topology_scores
from scheduler.plugins.interpodaffinity.terms import own_terms
from tests.builders import info, node, pod, pod_term, state
from tests.plugins.clusters import HOST, ZONE

WEB, DB = {"app": "web"}, {"app": "db"}
NODES = [node("a").zone("z1"), node("b").zone("z1"), node("c").zone("z2"), node("d")]


def scores(built, *pods, hard_weight=1) -> list[int]:
    cluster = state(NODES, pods)
    shape = info(built, cluster).shape
    found = topology_scores(own_terms(cluster, shape), cluster, shape.label_class, hard_weight)
    return raw_scores(found, NodeView(cluster.nodes)).tolist()


@pytest.mark.parametrize(
    ("what", "built", "pods", "expected"),
    [
        ("own preference", pod("p").prefers_pods(5, pod_term(ZONE, WEB)), [pod("q").label(WEB).on("a")], [5, 5, 0, 0]),
        (
            "each pod counts",
            pod("p").prefers_pods(5, pod_term(ZONE, WEB)),
            [pod(n).label(WEB).on(n) for n in "ab"],
            [10, 10, 0, 0],
        ),
        (
            "own dislike",
            pod("p").prefers_pods(5, pod_term(HOST, WEB), anti=True),
            [pod("q").label(WEB).on("c")],
            [0, 0, -5, 0],
        ),
        (
            "preference of others",
            pod("p").label(DB),
            [pod("q").prefers_pods(7, pod_term(ZONE, DB)).on("c")],
            [0, 0, 7, 0],
        ),
        (
            "dislike of others",
            pod("p").label(DB),
            [pod("q").prefers_pods(7, pod_term(HOST, DB), anti=True).on("d")],
            [0, 0, 0, -7],
        ),
        (
            "required affinity of others",
            pod("p").label(DB),
            [pod("q").requires_pods(pod_term(ZONE, DB)).on("a")],
            [3, 3, 0, 0],
        ),
        ("no domain", pod("p").prefers_pods(5, pod_term(ZONE, WEB)), [pod("q").label(WEB).on("d")], [0, 0, 0, 0]),
    ],
)
def test_weights_are_summed_over_the_pods_of_a_domain(what, built, pods, expected):
    assert scores(built, *pods, hard_weight=3) == expected


def test_required_affinity_of_others_counts_nothing_with_weight_zero():
    assert scores(pod("p").label(DB), pod("q").requires_pods(pod_term(ZONE, DB)).on("a"), hard_weight=0) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [([-20, 0, 30], [0, 40, 100]), ([0, 29, 100], [0, 28, 100]), ([7, 7], [0, 0]), ([-3], [0]), ([], [])],
)
def test_normalizing_divides_first_and_truncates(raw, expected):
    assert normalized(np.array(raw, np.int64)).tolist() == expected
