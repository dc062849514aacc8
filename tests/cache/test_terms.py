"""Pod affinity terms, compiled."""

from __future__ import annotations

import pytest

from scheduler.cache.terms import NO_TERMS, compile_terms
from tests.builders import expression, pod, pod_term

WEB = {"app": "web"}
BLUE = {"matchLabels": {"team": "blue"}}


def terms_of(built):
    affinity = built.build().spec.affinity
    return compile_terms(affinity, "home")


def required(**fields):
    return terms_of(pod("p").requires_pods(pod_term("zone", WEB, **fields)))[0].required[0]


@pytest.mark.parametrize(
    ("what", "fields", "namespace", "namespace_labels", "matches"),
    [
        ("by default its own namespace", {}, "home", {}, True),
        ("by default no other namespace", {}, "away", {}, False),
        ("a listed namespace", {"namespaces": ["away"]}, "away", {}, True),
        ("its own namespace if others are listed", {"namespaces": ["away"]}, "home", {}, False),
        ("a selected namespace", {"namespaceSelector": BLUE}, "away", {"team": "blue"}, True),
        ("a namespace that is not selected", {"namespaceSelector": BLUE}, "away", {"team": "red"}, False),
        ("its own namespace if others are selected", {"namespaceSelector": BLUE}, "home", {}, False),
        ("any namespace under an empty selector", {"namespaceSelector": {}}, "away", {}, True),
        ("listed or selected", {"namespaces": ["away"], "namespaceSelector": BLUE}, "away", {}, True),
    ],
)
def test_namespaces(what, fields, namespace, namespace_labels, matches):
    assert required(**fields).matches(namespace, namespace_labels, WEB) is matches


@pytest.mark.parametrize(("selector", "matches"), [(None, False), ({}, True), ({"matchLabels": {"app": "db"}}, False)])
def test_label_selectors(selector, matches):
    assert required(labelSelector=selector).matches("home", {}, WEB) is matches


def test_equal_terms_of_different_pods_are_equal():
    one, other = required(namespaces=["a", "b"]), required(namespaces=["b", "a"])
    assert one == other
    assert hash(one) == hash(other)


def test_terms_are_sorted_by_what_they_ask_for():
    wanted = pod("p").prefers_pods(3, pod_term("a", WEB)).prefers_pods(5, pod_term("b", WEB), anti=True)
    wanted = wanted.requires_pods(pod_term("c", WEB)).requires_pods(pod_term("d", WEB), anti=True)
    terms, _ = terms_of(wanted)
    assert [term.topology_key for term in terms.required] == ["c"]
    assert [term.topology_key for term in terms.required_anti] == ["d"]
    assert [(term.topology_key, weight) for term, weight in terms.preferred] == [("a", 3), ("b", -5)]


def test_a_pod_without_pod_affinity_has_no_terms():
    assert terms_of(pod("p").requires_node({"matchExpressions": []})) == (NO_TERMS, "")
    assert not NO_TERMS


BAD = {"topologyKey": "zone", "labelSelector": {"matchExpressions": [expression("app", "Near")]}}
NEAR = '"Near" is not a valid label selector operator'


def test_a_list_that_does_not_parse_is_left_out_and_the_others_stay():
    terms, problem = terms_of(pod("p").requires_pods(BAD, pod_term("c", WEB)).prefers_pods(1, pod_term("a", WEB)))
    assert problem == f"requiredAffinityTerms: {NEAR}"
    assert terms.required == ()
    assert len(terms.preferred) == 1


def test_all_lists_that_do_not_parse_are_named():
    broken = pod("p").requires_pods(BAD, anti=True).prefers_pods(1, BAD).prefers_pods(1, BAD, anti=True)
    assert terms_of(broken)[1] == (
        f"[requiredAntiAffinityTerms: {NEAR}, preferredAffinityTerms: {NEAR}, preferredAntiAffinityTerms: {NEAR}]"
    )
