"""Which events wake a pod that broke a spread constraint."""

from __future__ import annotations

import pytest

from scheduler.cache.state import ClusterState
from scheduler.config.args.pod_topology_spread import PodTopologySpreadArgs
from scheduler.framework.events import ActionType, EventResource, QueueingHint
from scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from tests.builders import info, node, pod
from tests.plugins.clusters import ZONE, handle

APP_A = {"matchLabels": {"app": "a"}}
BAD = {"matchExpressions": [{"key": "app", "operator": "Near"}]}
PLAIN = pod("p").label(app="a").spreads(ZONE, labelSelector=APP_A)
TWO_KEYS = PLAIN.spreads("rack", labelSelector=APP_A)
HONORS_TAINTS = pod("p").spreads(ZONE, labelSelector=APP_A, nodeTaintsPolicy="Honor")

A, B = pod("q").label(app="a").on("n"), pod("q").label(app="b").on("n")


def hint_for(resource: EventResource):
    plugin = PodTopologySpread(PodTopologySpreadArgs(), handle(ClusterState()))
    return next(event for event in plugin.events_to_register() if event.resource is resource)


def ask(resource, waiting, old, new) -> bool:
    def record(item):
        if item is None or resource is EventResource.NODE:
            return item and item.build()
        return info(item)

    return hint_for(resource).hint(info(waiting), record(old), record(new)) is QueueingHint.QUEUE


def test_registers_the_events_that_kube_scheduler_registers():
    assert (
        hint_for(EventResource.ASSIGNED_POD).actions == ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.DELETE
    )
    assert hint_for(EventResource.TARGET_POD).actions == ActionType.UPDATE_POD_TOLERATION | ActionType.UPDATE_POD_LABEL
    assert hint_for(EventResource.NODE).actions == (
        ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_TAINT
    )


@pytest.mark.parametrize(
    ("what", "old", "new", "queue"),
    [
        ("a pod that counts comes", None, A, True),
        ("a pod that does not count comes", None, B, False),
        ("a pod that counts goes", A, None, True),
        ("a pod that does not count goes", B, None, False),
        ("a pod counts from now on", B, A, True),
        ("a pod counts no longer", A, B, True),
        ("other labels change", A, A.label(x="y"), False),
        ("nothing changes", A, A, False),
        ("a pod of another namespace comes", None, A.namespace("other"), False),
        ("a pod without a node goes", pod("q").label(app="a"), None, False),
        ("a nominated pod comes", None, pod("q").label(app="a").nominated("n"), True),
        ("a pod without a node comes", None, pod("q").label(app="a"), False),
        ("a pod without a node changes", pod("q").label(app="b"), pod("q").label(app="a"), False),
        ("a nominated pod goes", pod("q").label(app="a").nominated("n"), None, True),
        ("a nominated pod that does not count goes", pod("q").label(app="b").nominated("n"), None, False),
        ("a label comes that makes it count", pod("q").on("n"), A, True),
        ("the label goes that made it count", A, pod("q").on("n"), True),
        ("another label changes its value", A.label(x="y"), A.label(x="z"), False),
    ],
)
def test_assigned_pods(what, old, new, queue):
    assert ask(EventResource.ASSIGNED_POD, PLAIN, old, new) is queue


HAS_APP, HAS_TIER = ({"matchExpressions": [{"key": key, "operator": "Exists"}]} for key in ("app", "tier"))
TWO_SELECTORS = pod("p").label(app="a").spreads(ZONE, labelSelector=HAS_APP).spreads("rack", labelSelector=HAS_TIER)


@pytest.mark.parametrize(
    ("what", "old", "new", "queue"),
    [
        ("one value for another that is selected too", A, B, False),
        ("a label that the second constraint selects", A, A.label(tier="x"), True),
        ("a label that neither selects", A, A.label(color="x"), False),
        ("one value for another that the second selects too", A.label(tier="x"), A.label(tier="y"), False),
    ],
)
def test_labels_of_assigned_pods_matter_if_a_constraint_selects_anew(what, old, new, queue):
    assert ask(EventResource.ASSIGNED_POD, TWO_SELECTORS, old, new) is queue


@pytest.mark.parametrize(
    ("what", "waiting", "old", "new", "queue"),
    [
        ("its labels match now", PLAIN, PLAIN.label(app="b"), PLAIN, True),
        ("its labels change without effect", PLAIN, PLAIN, PLAIN.label(x="y"), False),
        ("a toleration where taints matter", HONORS_TAINTS, HONORS_TAINTS, HONORS_TAINTS.tolerates("x"), True),
        ("a toleration where taints do not matter", PLAIN, PLAIN, PLAIN.tolerates("x"), False),
        ("a label comes that matches", PLAIN, PLAIN.set("metadata.labels", {}), PLAIN, True),
        ("a label comes that does not", PLAIN, PLAIN.set("metadata.labels", {}), pod("p").label(x="y"), False),
    ],
)
def test_the_pod_itself(what, waiting, old, new, queue):
    assert ask(EventResource.TARGET_POD, waiting, old, new) is queue


FULL = node("n").zone("z1").label(rack="r1")


@pytest.mark.parametrize(
    ("what", "old", "new", "queue"),
    [
        ("a node with all keys comes", None, FULL, True),
        ("a node without a key comes", None, node("n").zone("z1"), False),
        ("a node with all keys goes", FULL, None, True),
        ("a node without a key goes", node("n").zone("z1"), None, False),
        ("a node gets its last key", node("n").zone("z1"), FULL, True),
        ("a node loses a key", FULL, node("n").zone("z1"), True),
        ("a node moves to another domain", FULL, FULL.zone("z2"), True),
        ("a node gets another label", FULL, FULL.label(x="y"), False),
        ("a node with all keys gets a taint", FULL, FULL.taint("x"), True),
        ("a node without a key gets a taint", node("n"), node("n").taint("x"), False),
        ("a taint becomes another", FULL.taint("x"), FULL.taint("y"), True),
        (
            "on a node without one of the keys too",
            node("n").zone("z1").taint("x"),
            node("n").zone("z1").taint("y"),
            False,
        ),
        ("a node without any key comes", None, node("n").label(x="y"), False),
        ("a node without any key goes", node("n").label(x="y"), None, False),
        ("a node without any key changes", node("n").label(x="y"), node("n").label(x="z"), False),
        ("nothing changes on a node without a key", node("n").zone("z1"), node("n").zone("z1"), False),
        ("a node loses another label", FULL.label(x="y"), FULL, False),
    ],
)
def test_nodes(what, old, new, queue):
    assert ask(EventResource.NODE, TWO_KEYS, old, new) is queue


@pytest.mark.parametrize(
    ("resource", "old", "new"),
    [(EventResource.ASSIGNED_POD, None, B), (EventResource.TARGET_POD, A, A), (EventResource.NODE, None, node("n"))],
)
def test_a_selector_that_does_not_parse_is_tried_again(resource, old, new):
    assert ask(resource, pod("p").spreads(ZONE, labelSelector=BAD), old, new)
