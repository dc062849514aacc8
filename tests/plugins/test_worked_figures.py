"""Scores worked out by hand, and an experiment with the real kube-scheduler v1.37.2, plugin by plugin."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.framework import scoring
from scheduler.framework.filtering import feasible_mask, filter_nodes
from scheduler.framework.interface import FilterPlugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from scheduler.framework.pre_filter import run_pre_filters
from scheduler.framework.profile import Profile
from scheduler.plugins.noderesources.balanced_allocation import balance
from scheduler.plugins.registry import IN_TREE
from tests.builders import expression, node, pod, state, term
from tests.plugins.harness import cycle_of, in_tree

WEIGHTS = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodeResourcesFit": 1,
    "VolumeBinding": 1,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "DynamicResources": 2,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
}
MIB = 1 << 20


def profile_for(cluster) -> Profile:
    plugins = {name: in_tree(name, cluster) for name in IN_TREE}

    def at(kind) -> list[str]:
        return [name for name, plugin in plugins.items() if isinstance(plugin, kind)]

    kinds = {"preFilter": PreFilterPlugin, "filter": FilterPlugin, "preScore": PreScorePlugin, "score": ScorePlugin}
    points = {point: at(kind) for point, kind in kinds.items()}
    return Profile("default-scheduler", plugins=plugins, points=points, weights=WEIGHTS)


def scores(cluster, incoming) -> dict[str, dict[str, int]]:
    """The weighted score of each plugin that was not skipped, by node."""
    profile = profile_for(cluster)
    cycle = cycle_of(cluster, incoming)
    outcome = run_pre_filters(profile.pre_filter, cycle)
    assert outcome.status is None
    filters = [plugin for plugin in profile.filter if plugin.name not in outcome.skipped]
    mask = feasible_mask(filter_nodes(profile, cycle, filters, None))
    cycle.feasible = np.flatnonzero(mask)
    skipped = scoring.run_pre_scores(profile, cycle)
    detailed = scoring.detailed_scores(profile, cycle, skipped)
    total = scoring.total_scores(profile, cycle, skipped)
    assert total.tolist() == sum(each.weighted for each in detailed).tolist()
    names = [cluster.nodes.name(row) for row in cycle.feasible]
    return {name: {each.name: int(each.weighted[column]) for each in detailed} for column, name in enumerate(names)}


def of_plugin(plugin: str, found: dict[str, dict[str, int]]) -> dict[str, int]:
    return {name: by_plugin[plugin] for name, by_plugin in found.items()}


def test_soft_taints_of_0_1_and_3_give_300_201_and_0():
    nodes = [node("none"), node("one"), node("three")]
    nodes[1] = nodes[1].taint("a", effect="PreferNoSchedule")
    for key in "abc":
        nodes[2] = nodes[2].taint(key, effect="PreferNoSchedule")
    found = of_plugin("TaintToleration", scores(state(nodes), pod("p")))
    assert found == {"none": 300, "one": 201, "three": 0}


def test_affinity_terms_of_80_and_30_give_200_and_74():
    nodes = [node("a").label(ssd="yes"), node("b").label(zone="near"), node("c")]
    incoming = pod("p").prefers_node(80, term(expression("ssd", "Exists")))
    incoming = incoming.prefers_node(30, term(expression("zone", "In", "near")))
    assert of_plugin("NodeAffinity", scores(state(nodes), incoming)) == {"a": 200, "b": 74, "c": 0}


def test_half_of_the_cpu_and_a_quarter_of_the_memory_left_give_37():
    cluster = state([node("n").capacity(cpu="4", memory="8Gi")])
    found = scores(cluster, pod("p").cpu("2").memory("6Gi"))
    assert of_plugin("NodeResourcesFit", found) == {"n": 37}


def test_a_better_balance_outweighs_more_room():
    nodes = [node(name).capacity(cpu="8", memory="8Gi") for name in ("a", "b")]
    running = [pod("qa").cpu("4").memory("2Gi").on("a"), pod("qb").cpu("2").memory("2Gi").on("b")]
    found = scores(state(nodes, running), pod("p").cpu("2").memory("4Gi"))
    both = ("NodeResourcesFit", "NodeResourcesBalancedAllocation")
    assert [tuple(found[name][plugin] for plugin in both) for name in ("a", "b")] == [(25, 81), (37, 68)]


@pytest.mark.parametrize(
    ("cpu", "memory", "score"), [(4, 2, 87), (6, 6, 100), (2, 2, 100), (4, 6, 87)], ids=["a", "a+p", "b", "b+p"]
)
def test_balances_on_the_way_to_it(cpu, memory, score):
    assert balance(np.array([[cpu], [memory]]), np.array([[8], [8]])).tolist() == [score]


def test_an_image_of_200_mib_on_half_of_the_nodes_gives_7():
    nodes = [node("has").image("app:1", size=200 * MIB), node("lacks")]
    found = scores(state(nodes), pod("p").image("app:1"))
    assert of_plugin("ImageLocality", found) == {"has": 7, "lacks": 0}


def test_three_interpod_scores_share_out_between_the_lowest_and_the_highest():
    """-20, 0 and 30 become 0, 40 and 100."""
    nodes = [node(name).zone(name) for name in ("low", "mid", "high")]
    running = [pod("bad").label(app="bad").on("low"), pod("good").label(app="good").on("high")]
    key = "topology.kubernetes.io/zone"

    def about(app: str) -> dict:
        return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}

    incoming = pod("p").prefers_pods(20, about("bad"), anti=True).prefers_pods(30, about("good"))
    assert of_plugin("InterPodAffinity", scores(state(nodes, running), incoming)) == {"low": 0, "mid": 80, "high": 200}


def test_1_and_4_matching_pods_on_two_hosts_give_100_and_16():
    running = [pod(f"q{number}").label(app="x").on("a" if number == 0 else "b") for number in range(5)]
    wanted = {"labelSelector": {"matchLabels": {"app": "x"}}}
    incoming = pod("p").label(app="x").spreads("kubernetes.io/hostname", soft=True, **wanted)
    found = scores(state([node("a"), node("b")], running), incoming)
    assert of_plugin("PodTopologySpread", found) == {"a": 200, "b": 32}


class TestSoftTaintAgainstSoftAffinity:
    """Two alike nodes, of which only A has a soft taint; both pods prefer A, and only the first tolerates the taint."""

    a = node("a").capacity(cpu="4", memory="16Gi").label(disk="ssd").taint("k", effect="PreferNoSchedule")
    b = node("b").capacity(cpu="4", memory="16Gi")
    second = pod("second").prefers_node(50, term(expression("disk", "In", "ssd")))
    first = second.set("metadata.name", "first").uid("first").tolerates("k")

    def test_the_pod_that_tolerates_it_goes_to_a(self):
        found = scores(state([self.a, self.b]), self.first)
        assert {name: sum(by_plugin.values()) for name, by_plugin in found.items()} == {"a": 597, "b": 397}

    def test_the_pod_that_does_not_goes_to_b(self):
        found = scores(state([self.a, self.b], [self.first.on("a")]), self.second)
        nothing = {"VolumeBinding": 0, "DynamicResources": 0, "ImageLocality": 0}
        assert found == {
            "a": {"TaintToleration": 0, "NodeAffinity": 200, "NodeResourcesFit": 96, **nothing},
            "b": {"TaintToleration": 300, "NodeAffinity": 0, "NodeResourcesFit": 97, **nothing},
        }
        assert {name: sum(by_plugin.values()) for name, by_plugin in found.items()} == {"a": 296, "b": 397}

    def test_a_stronger_preference_changes_nothing(self):
        stronger = self.second.set("spec.affinity", None).prefers_node(100, term(expression("disk", "In", "ssd")))
        cluster = state([self.a, self.b])
        assert of_plugin("NodeAffinity", scores(cluster, stronger)) == {"a": 200, "b": 0}
