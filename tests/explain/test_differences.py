"""What stands behind the points of two nodes, in words."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.explain.differences import Differences
from tests.builders import node, pod, pod_term
from tests.explain.whynot.cluster import Cluster

ZONE = "topology.kubernetes.io/zone"


def told(cluster: Cluster, waiting: Any, plugin: str, raw: tuple[int, int] = (0, 0)) -> str:
    """The difference between nodes a and b."""
    return Differences(cluster.state, cluster.profile, cluster.info(waiting))(plugin, "a", "b", raw)


def sized(name: str) -> Any:
    return node(name).capacity(cpu="4", memory="8Gi")


def test_requests() -> None:
    cluster = Cluster([sized("a"), sized("b")], [pod("p").cpu("2").memory("2Gi").on("b")])
    waiting = pod("w").cpu("1").memory("1Gi")
    assert (
        told(cluster, waiting, "NodeResourcesFit") == "25% against 75% of CPU and 12% against 38% of memory requested"
    )
    assert told(cluster, waiting, "NodeResourcesBalancedAllocation") == (
        "CPU and memory are requested 13 against 37 percent points apart"
    )


def test_a_pod_that_is_there_by_now_counts_once() -> None:
    placed = pod("w").cpu("1").memory("1Gi").on("a")
    cluster = Cluster([sized("a"), sized("b")], [placed])
    assert told(cluster, placed, "NodeResourcesFit") == "25% against 25% of CPU and 12% against 12% of memory requested"


def test_taints() -> None:
    cluster = Cluster([sized("a"), sized("b").taint("x", effect="PreferNoSchedule")])
    assert told(cluster, pod("w"), "TaintToleration") == "0 against 1 taint that it would rather not tolerate"


def test_images() -> None:
    cluster = Cluster([sized("a").image("app:1", size=100 << 20), sized("b")])
    assert told(cluster, pod("w").image("app:1"), "ImageLocality") == "100 against 0 MiB of its images are there"


def test_spread() -> None:
    there = [pod(f"p{i}").label(app="web").on("b") for i in range(3)]
    cluster = Cluster([sized("a").zone("z"), sized("b").zone("y")], there)
    waiting = pod("w").label(app="web").spreads(ZONE, soft=True, labelSelector={"matchLabels": {"app": "web"}})
    assert told(cluster, waiting, "PodTopologySpread") == "0 against 3 pods with app=web in its zone"


@pytest.mark.parametrize(
    ("plugin", "words"),
    [
        ("NodeAffinity", "preferred node affinity of weight 80 against 20 is met"),
        ("InterPodAffinity", "affinity to the pods nearby weighs 80 against 20"),
        ("SomebodyElses", ""),
    ],
)
def test_what_the_plugin_gave(plugin: str, words: str) -> None:
    waiting = pod("w").prefers_pods(10, pod_term(ZONE, {"app": "db"}))
    assert told(Cluster([sized("a"), sized("b")]), waiting, plugin, (80, 20)) == words


def test_nothing_is_told_of_nodes_that_are_gone() -> None:
    assert told(Cluster([sized("a")]), pod("w"), "NodeAffinity", (1, 2)) == ""
