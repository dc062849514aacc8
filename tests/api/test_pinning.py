"""Pods that are pinned to one node."""

from __future__ import annotations

import pytest

from scheduler.api.pinning import pin_of, pinned_to, without_pin
from tests.builders import expression, pod, pod_term, term

SSD = expression("disk", "In", "ssd")


def on(*names, operator="In", key="metadata.name"):
    return expression(key, operator, *names)


@pytest.mark.parametrize(
    ("terms", "node"),
    [
        ([term(fields=[on("n1")])], "n1"),
        ([term(SSD, fields=[on("n1")])], "n1"),
        ([term(SSD, fields=[on("n1")]), term(fields=[on("n1")])], "n1"),
        ([], ""),
        ([term(SSD)], ""),
        ([term(fields=[on("n1")]), term(SSD)], ""),
        ([term(fields=[on("n1")]), term(fields=[on("n2")])], ""),
        ([term(fields=[on("n1", "n2")])], ""),
        ([term(fields=[on("n1", operator="NotIn")])], ""),
        ([term(fields=[on("n1", key="metadata.uid")])], ""),
        ([term(fields=[on("n1"), on("n1")])], ""),
        ([term(fields=[on("")])], ""),
    ],
)
def test_a_pin_is_one_name_in_every_term(terms, node):
    assert pin_of(pod("p").requires_node(*terms).build().spec.affinity) == node


def test_without_required_node_affinity_there_is_no_pin():
    assert pin_of(None) == ""
    assert pin_of(pod("p").prefers_node(5, term(fields=[on("n1")])).build().spec.affinity) == ""
    assert pin_of(pod("p").requires_pods(pod_term("zone", {"app": "web"})).build().spec.affinity) == ""


@pytest.mark.parametrize(
    "builder",
    [
        pod("p").requires_node(term(fields=[on("n1")])),
        pod("p").requires_node(term(SSD, fields=[on("n1")]), term(fields=[on("n1")])),
        pod("p").requires_node(term(fields=[on("n1")])).prefers_node(5, term(SSD)),
        pod("p").requires_node(term(fields=[on("n1")])).requires_pods(pod_term("zone", {"app": "web"}), anti=True),
    ],
)
def test_what_is_unpinned_can_be_pinned_again(builder):
    pinned = builder.build()
    bare = without_pin(pinned)
    assert pin_of(bare.spec.affinity) == ""
    assert pinned_to(bare, "n1") == pinned
    assert pin_of(pinned_to(bare, "n2").spec.affinity) == "n2"


def test_a_pod_without_affinity_gets_a_term():
    pinned = pinned_to(pod("agent").build(), "n1")
    assert pin_of(pinned.spec.affinity) == "n1"


def test_a_daemon_sets_pod_keeps_its_own_requirements():
    made = pinned_to(pod("agent").requires_node(term(SSD, fields=[on("n2"), on("n3")])).build(), "n1")
    required = made.spec.affinity.node_affinity.required_during_scheduling_ignored_during_execution
    (found,) = required.node_selector_terms
    assert [each.key for each in found.match_expressions] == ["disk"]
    assert [(each.key, each.values) for each in found.match_fields] == [("metadata.name", ("n1",))]
