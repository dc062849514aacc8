"""A pod's own terms, and what they count."""

from __future__ import annotations

import pytest

from scheduler.cache.terms import PodTerm, compile_terms
from scheduler.plugins.interpodaffinity.terms import (
    add_up,
    all_match,
    any_matches,
    depends_on_namespaces,
    own_terms,
    resolve,
)
from tests.builders import expression, info, node, pod, pod_term, state
from tests.plugins.clusters import HOST, ZONE

WEB = {"app": "web"}
NAMESPACES = {"red": {"team": "red"}, "blue": {"team": "blue"}, "plain": {}}


def term(**fields) -> PodTerm:
    affinity = pod("p").requires_pods(pod_term(ZONE, WEB, **fields)).build().spec.affinity
    return compile_terms(affinity, "default")[0].required[0]


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ({"matchLabels": {"team": "blue"}}, {"blue"}),
        ({"matchExpressions": [expression("team", "NotIn", "blue")]}, {"red", "plain"}),
        ({"matchLabels": {"team": "green"}}, set()),
    ],
)
def test_a_namespace_selector_becomes_the_names_that_it_selects(selector, names):
    resolved = resolve(term(namespaces=["listed"], namespaceSelector=selector), NAMESPACES)
    assert (resolved.namespaces, resolved.namespace_selector) == ({"listed"} | names, None)


@pytest.mark.parametrize("fields", [{}, {"namespaceSelector": {}}, {"namespaces": ["x"]}])
def test_other_terms_stay_as_they_are(fields):
    asked = term(**fields)
    assert resolve(asked, NAMESPACES) is asked


@pytest.mark.parametrize(
    ("selector", "depends"), [(None, False), ({}, False), ({"matchLabels": {"team": "blue"}}, True)]
)
def test_only_selectors_by_label_depend_on_namespaces(selector, depends):
    preferring = pod("p").prefers_pods(1, pod_term(ZONE, WEB, namespaceSelector=selector), anti=True)
    assert depends_on_namespaces(info(preferring).shape) is depends


def test_no_terms_are_matched_by_no_pod():
    assert not all_match([], "default", WEB)
    assert not any_matches([], "default", WEB)
    assert all_match([term()], "default", WEB)
    assert not all_match([term(), term(namespaces=["x"])], "default", WEB)
    assert any_matches([term(namespaces=["x"]), term()], "default", WEB)


def sums(tally, cluster) -> dict[str, int]:
    counts = tally.sums(cluster.nodes.size)
    return {tally.column.values[i]: int(count) for i, count in enumerate(counts) if count}


def test_a_pod_counts_for_affinity_only_if_it_matches_all_terms():
    pods = [pod("q").label(app="web").on("a"), pod("r").label(app="web", tier="front").terminating().on("b")]
    cluster = state([node("a").zone("z1"), node("b").zone("z2")], pods)
    wanting = pod("p").requires_pods(pod_term(ZONE, WEB), pod_term(HOST, {"tier": "front"}))
    own = own_terms(cluster, info(wanting, cluster).shape)
    assert [sums(tally, cluster) for tally in own.affinity] == [{"z2": 1}, {"b": 1}]
    assert not own.self_match


def test_anti_affinity_and_preferences_count_each_term_by_itself():
    pods = [pod("q").label(app="web").on("a"), pod("r").label(app="db").on("b")]
    cluster = state([node("a").zone("z1"), node("b").zone("z2")], pods)
    torn = pod("p").requires_pods(pod_term(ZONE, WEB), pod_term(HOST, {"app": "db"}), anti=True)
    torn = torn.prefers_pods(3, pod_term(ZONE, WEB)).prefers_pods(4, pod_term(ZONE, {"app": "db"}), anti=True)
    own = own_terms(cluster, info(torn, cluster).shape)
    assert [sums(tally, cluster) for tally in own.anti_affinity] == [{"z1": 1}, {"b": 1}]
    assert [(sums(tally, cluster), weight) for tally, weight in own.preferred] == [({"z1": 1}, 3), ({"z2": 1}, -4)]
    ((column, totals),) = add_up(own.preferred, cluster.nodes.size).items()
    assert {column.values[i]: int(total) for i, total in enumerate(totals) if total} == {"z1": 3, "z2": -4}


def test_what_counts_nothing_is_not_added_up():
    cluster = state([node("a")], [pod("q").label(app="web").on("a")])
    wanting = pod("p").prefers_pods(1, pod_term(ZONE, WEB)).prefers_pods(1, pod_term(HOST, {"app": "db"}))
    assert add_up(own_terms(cluster, info(wanting, cluster).shape).preferred, cluster.nodes.size) == {}
