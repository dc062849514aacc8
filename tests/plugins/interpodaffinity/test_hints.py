"""Which events wake a pod that an affinity rule kept off."""

from __future__ import annotations

import pytest

from scheduler.framework.events import ActionType, EventResource, QueueingHint
from scheduler.plugins.interpodaffinity.hints import EVENTS
from tests.builders import expression, info, node, pod, pod_term
from tests.plugins.clusters import HOST, ZONE

WEB, DB = {"app": "web"}, {"app": "db"}
NEAR = pod("p").label(DB).requires_pods(pod_term(ZONE, WEB))
NEAR_TWICE = NEAR.requires_pods(pod_term(HOST, {"tier": "front"}))
APART = pod("p").label(DB).requires_pods(pod_term(ZONE, WEB), anti=True)
ANYWHERE = pod("p").label(DB)
UNWEB = pod_term(ZONE, WEB)
NEAR_ANY = pod("p").requires_pods(
    {"topologyKey": ZONE, "labelSelector": {"matchExpressions": [expression("app", "In", "web", "db")]}}
)
APART_TWICE = APART.requires_pods(pod_term(ZONE, {"tier": "front"}), anti=True)
BAD = pod("p").requires_pods({"topologyKey": ZONE, "labelSelector": {"matchExpressions": [expression("a", "Near")]}})

W, D = pod("q").label(WEB).on("n"), pod("q").label(DB).on("n")
HATES_DB = pod("q").requires_pods(pod_term(ZONE, DB), anti=True).on("n")


def event(resource: EventResource):
    return next(found for found in EVENTS if found.resource is resource)


def ask(resource, waiting, old, new) -> bool:
    def record(item):
        if item is None or resource is EventResource.NODE:
            return item and item.build()
        return info(item)

    return event(resource).hint(info(waiting), record(old), record(new)) is QueueingHint.QUEUE


def test_registers_the_events_that_kube_scheduler_registers():
    assert event(EventResource.ASSIGNED_POD).actions == ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.DELETE
    assert event(EventResource.TARGET_POD).actions == ActionType.UPDATE_POD_LABEL
    assert event(EventResource.NODE).actions == ActionType.ADD | ActionType.UPDATE_NODE_LABEL


def test_any_change_of_the_pods_own_labels_wakes_it():
    assert event(EventResource.TARGET_POD).hint is None


@pytest.mark.parametrize(
    ("what", "waiting", "old", "new", "queue"),
    [
        ("a wanted pod comes", NEAR, None, W, True),
        ("another pod comes", NEAR, None, D, False),
        ("a pod that meets one of two terms comes", NEAR_TWICE, None, W, False),
        ("a pod that meets both terms comes", NEAR_TWICE, None, W.label(tier="front"), True),
        ("an unwanted pod goes", APART, W, None, True),
        ("another pod goes", APART, D, None, False),
        ("a wanted pod goes", NEAR, W, None, False),
        ("an unwanted pod comes", APART, None, W, False),
        ("a pod that does not want it goes", ANYWHERE, HATES_DB, None, True),
        ("a pod becomes wanted", NEAR, D, W, True),
        ("a pod is wanted no longer", NEAR, W, D, False),
        ("a pod is unwanted no longer", APART, W, D, True),
        ("a pod becomes unwanted", APART, D, W, False),
        ("a wanted pod of another namespace comes", NEAR, None, W.namespace("other"), False),
        ("a wanted pod without a node comes", NEAR, None, pod("q").label(WEB), False),
        ("a wanted pod that is nominated comes", NEAR, None, pod("q").label(WEB).nominated("n"), True),
        ("a wanted pod stays so with another label", NEAR_ANY, W, D, False),
        ("a pod without a node becomes wanted", NEAR, pod("q").label(DB), pod("q").label(WEB), False),
        ("a pod that met one of two terms meets none", NEAR_TWICE, W, D, False),
        ("a pod that met one of two terms meets both", NEAR_TWICE, W, W.label(tier="front"), True),
        ("a pod that does not want another goes", pod("p").label(app="x"), HATES_DB, None, False),
        (
            "neither wants the other away",
            APART.label(app="x"),
            W.label(app="x").requires_pods(UNWEB, anti=True),
            None,
            False,
        ),
        ("an unwanted pod that is nominated goes", APART, pod("q").label(WEB).nominated("n"), None, True),
        ("another pod that is nominated goes", APART, pod("q").label(DB).nominated("n"), None, False),
        ("a pod that met one of two unwanted terms meets none", APART_TWICE, W, D, True),
        ("a pod meets the other of two unwanted terms", APART_TWICE, W, D.label(tier="front"), False),
        ("a pod that met one of two unwanted terms goes", APART_TWICE, W, None, True),
        (
            "a pod that does not want it by one of two terms goes",
            ANYWHERE,
            HATES_DB.requires_pods(UNWEB, anti=True),
            None,
            True,
        ),
    ],
)
def test_assigned_pods(what, waiting, old, new, queue):
    assert ask(EventResource.ASSIGNED_POD, waiting, old, new) is queue


@pytest.mark.parametrize(("operator", "queue"), [("Exists", False), ("DoesNotExist", True)])
def test_namespace_selectors_see_no_labels(operator, queue):
    selector = {"matchExpressions": [expression("team", operator)]}
    waiting = pod("p").requires_pods(pod_term(ZONE, WEB, namespaceSelector=selector))
    assert ask(EventResource.ASSIGNED_POD, waiting, None, W) is queue


N, Z1, Z2 = node("n"), node("n").zone("z1"), node("n").zone("z2")


@pytest.mark.parametrize(
    ("what", "waiting", "old", "new", "queue"),
    [
        ("affinity: a node with the key comes", NEAR, None, Z1, True),
        ("affinity: a node without the key comes", NEAR, None, N, False),
        ("affinity: a node gets the key", NEAR, N, Z1, True),
        ("affinity: a node loses the key", NEAR, Z1, N, False),
        ("affinity: a node moves", NEAR, Z1, Z2, True),
        ("affinity: nothing of interest changes", NEAR, Z1, Z1.label(x="y"), False),
        ("anti-affinity: any node comes", APART, None, N, True),
        ("affinity: another label changes on a node without the key", NEAR, N.label(x="y"), N.label(x="z"), False),
        ("anti-affinity: a node with the key comes", APART, None, Z1, True),
        ("anti-affinity: nothing of interest changes", APART, Z1, Z1.label(x="y"), False),
        ("anti-affinity: a node gets the key", APART, N, Z1, False),
        ("anti-affinity: a node loses the key", APART, Z1, N, True),
        ("anti-affinity: a node moves", APART, Z1, Z2, True),
        ("no terms: a node comes", ANYWHERE, None, Z1, False),
    ],
)
def test_nodes(what, waiting, old, new, queue):
    assert ask(EventResource.NODE, waiting, old, new) is queue


@pytest.mark.parametrize(("resource", "new"), [(EventResource.ASSIGNED_POD, D), (EventResource.NODE, N)])
def test_terms_that_do_not_parse_are_tried_again(resource, new):
    assert ask(resource, BAD, None, new)
