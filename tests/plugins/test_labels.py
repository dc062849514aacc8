"""Plugins that do not see labels: what holds for good, or by row, is the same whatever a pod's labels are.

Pods that differ in nothing else share all that is kept by shape, if that is true of every plugin of a profile.
"""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.api.objects import ObjectMeta, Service, ServiceSpec
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import ActionType, EventResource
from scheduler.framework.interface import EnqueueExtensions, FilterPlugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from scheduler.framework.status import SKIP, Status
from scheduler.plugins.registry import IN_TREE
from tests.builders import expression, info, node, pod, pod_term, state, term
from tests.plugins.harness import in_tree

ZONE = "topology.kubernetes.io/zone"
LABELS = ({"app": "web"}, {"app": "db"}, {"app": "web", "index": "1"}, {})
SELECTOR = {"labelSelector": {"matchLabels": {"app": "web"}}}

BASE = pod("p").cpu("1").memory("1Gi")
PODS = {
    "plain": BASE,
    "nothing": pod("p"),
    "image": BASE.image("app:1"),
    "port": BASE.host_port(80),
    "tolerations": BASE.tolerates("ok"),
    "node affinity": BASE.requires_node(term(expression("disk", "Exists"))).prefers_node(
        5, term(expression("a", "Exists"))
    ),
    "spread": BASE.spreads(ZONE, **SELECTOR),
    "soft": BASE.spreads(ZONE, soft=True, **SELECTOR),
    "spread by its own labels": BASE.spreads(ZONE, matchLabelKeys=["app"], **SELECTOR),
    "near": BASE.requires_pods(pod_term(ZONE, {"app": "web"})),
    "apart": BASE.requires_pods(pod_term(ZONE, {"app": "web"}), anti=True),
    "prefers": BASE.prefers_pods(5, pod_term(ZONE, {"app": "db"})),
    "volume": BASE.volume("v", persistentVolumeClaim={"claimName": "c"}),
    "host": BASE.set("spec.hostNetwork", True).set("spec.hostUsers", False),
}
NAMES = sorted(IN_TREE)


def cluster_of():
    """Two zones, with pods that keep others away or draw them near, and a service whose pods spread by default."""
    cluster = state(
        [
            node(f"n{number}").zone("ab"[number % 2]).label(disk="ssd").image("app:1", size=500 << 20)
            for number in range(4)
        ],
        [
            pod("q1").label(app="web").on("n0"),
            pod("q2").label(app="db").requires_pods(pod_term(ZONE, {"app": "web"}), anti=True).on("n1"),
            pod("q3").prefers_pods(3, pod_term(ZONE, {"app": "web"})).on("n2"),
        ],
    )
    service = Service(metadata=ObjectMeta(name="s", namespace="default"), spec=ServiceSpec(selector={"app": "web"}))
    cluster.set_object("Service", service)
    return cluster


def lasting(plugin, cluster, waiting):
    """All that the plugin says of the pod that may be kept for others."""
    cycle = Cycle(waiting, cluster, "default-scheduler")
    cycle.feasible = np.flatnonzero(cluster.nodes.live[: cluster.nodes.size])
    said = []
    if isinstance(plugin, PreFilterPlugin):
        answer = plugin.pre_filter(cycle)
        if isinstance(answer, Status) and answer is not SKIP:
            return said  # it goes no further
        settled = plugin.pre_filter_settled(cycle)
        said += [("pre-filter settled", settled), ("answer", answer if settled else None)]
        if settled:
            said.append(("left", sorted(cycle.data)))
    if isinstance(plugin, FilterPlugin) and not plugin.per_cycle:
        codes = plugin.filter(cycle, cycle.nodes)
        said += [("codes", None if codes is None else codes.tolist()), ("filter key", plugin.filter_key(cycle))]
        said.append(("filter epoch", plugin.epoch(cycle) if plugin.epoch_settled(cycle) else None))
    if isinstance(plugin, PreScorePlugin):
        answer = plugin.pre_score(cycle, cycle.nodes)
        settled = plugin.pre_score_settled(cycle)
        said += [("pre-score settled", settled), ("answer", answer if settled else None)]
        if answer is not None:
            return said
    if isinstance(plugin, ScorePlugin) and not plugin.per_cycle:
        said += [("scores", plugin.score(cycle, cycle.nodes).tolist()), ("score key", plugin.score_key(cycle))]
    return said


@pytest.mark.parametrize("kind", PODS)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_for_a_pod_holds_for_one_with_other_labels(name, kind):
    cluster = cluster_of()
    plugin = in_tree(name, cluster)
    if plugin.sees_labels:
        assert not isinstance(plugin, PreFilterPlugin | FilterPlugin | PreScorePlugin | ScorePlugin)
        return
    said = [lasting(plugin, cluster, info(PODS[kind].label(**labels), cluster)) for labels in LABELS]
    assert said == [said[0]] * len(LABELS)


def events(cluster):
    """Objects, of which there is one before or after, by what an event may be about."""
    there = [info(one, cluster) for one in (pod("q").cpu("2").on("n0"), pod("q").cpu("1").label(app="web").on("n0"))]
    far = pod("q").requires_pods(pod_term(ZONE, {"app": "web"}), anti=True).host_port(80).on("n0")
    there.append(info(far, cluster))
    nodes = [
        node("n0").zone("a").label(disk="ssd").build(),
        node("n0").zone("b").capacity(cpu="64").build(),
        node("n0").taint("ok").unschedulable().build(),
    ]
    return {EventResource.ASSIGNED_POD: there, EventResource.NODE: nodes}


def occasions(hint, objects):
    """What a hint may be told of these objects by the events that it has asked for: each as it was, and as it is."""
    for one in objects:
        if hint.actions & ActionType.ADD:
            yield None, one
        if hint.actions & ActionType.DELETE:
            yield one, None
        if hint.actions & ActionType.UPDATE:
            yield from ((one, other) for other in objects if other is not one)


@pytest.mark.parametrize("kind", PODS)
@pytest.mark.parametrize("name", NAMES)
def test_hints_for_a_pod_are_those_for_one_with_other_labels(name, kind):
    cluster = cluster_of()
    plugin = in_tree(name, cluster)
    if not isinstance(plugin, EnqueueExtensions) or plugin.hints_see_labels:
        assert name in ("InterPodAffinity", "PodTopologySpread") or not isinstance(plugin, EnqueueExtensions)
        return
    waiting = [info(PODS[kind].label(**labels), cluster) for labels in LABELS]
    for hint in plugin.events_to_register():
        if hint.hint is None:
            continue
        for old, new in occasions(hint, events(cluster).get(hint.resource, ())):
            said = [hint.hint(one, old, new) for one in waiting]
            assert said == [said[0]] * len(LABELS)
