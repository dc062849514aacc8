"""The node that comes nearest to taking the pod, where one stands out."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler.explain.views import Lack, NearestMiss
from scheduler.explain.whynot.bench import Bench
from scheduler.explain.whynot.nearest import lack_text, nearest_miss, things_missing
from tests.builders import node, pod
from tests.explain.whynot.cluster import Cluster


def small(name: str, cpu: str = "4") -> Any:
    return node(name).capacity(cpu=cpu, memory="8Gi", pods="10")


def taken(name: str, cpu: str) -> Any:
    return pod(f"on-{name}").on(name).cpu(cpu).memory("1Gi")


def survey(waits: Any, nodes: list[Any], *pods: Any) -> Any:
    cluster = Cluster(nodes, pods)
    return Bench(cluster.state, cluster.profile, cluster.info(waits)).survey()


def nearest(waits: Any, nodes: list[Any], *pods: Any) -> NearestMiss | None:
    return nearest_miss(survey(waits, nodes, *pods))


def test_of_nodes_that_lack_one_resource_the_one_that_lacks_least() -> None:
    pods = taken("a", "2"), taken("b", "1500m"), taken("c", "3")
    found = nearest(pod("new").cpu("3"), [small("a"), small("b"), small("c")], *pods)
    assert found is not None
    assert found.sentence == "b comes nearest: it lacks 500m CPU (wants 3, has 2500m free)"
    assert found.lacks == (Lack(resource="cpu", wanted="3", free="2500m", short="500m"),)


def test_one_thing_is_nearer_than_two_whatever_the_amounts() -> None:
    nodes = [small("a").taint("gpu"), small("b")]
    found = nearest(pod("new").cpu("3"), nodes, taken("a", "1100m"), taken("b", "4"))
    assert found is not None
    assert found.node == "b"


def test_each_resource_that_is_short_is_a_thing_of_its_own() -> None:
    waits = pod("new").cpu("3").memory("4Gi")
    both = pod("x").on("a").cpu("1100m").memory("5Gi")
    found = nearest(waits, [small("a"), small("b")], both, taken("b", "4"))
    assert found is not None
    assert found.node == "b"


def test_all_that_stands_in_the_way_is_said() -> None:
    found = nearest(
        pod("new").cpu("3"), [small("a").taint("gpu"), small("b").taint("gpu").unschedulable()], taken("a", "2")
    )
    assert found is not None
    assert found.node == "a"
    assert "is tainted gpu:NoSchedule" in found.sentence
    assert "lacks 1 CPU (wants 3, has 2 free)" in found.sentence


def test_of_equally_near_ones_the_first_by_name() -> None:
    found = nearest(pod("new").cpu("3"), [small("b"), small("a")], taken("a", "2"), taken("b", "2"))
    assert found is not None
    assert found.node == "a"


def test_the_only_node_is_not_compared_with_others() -> None:
    found = nearest(pod("new").cpu("3"), [small("a")], taken("a", "2"))
    assert found is not None
    assert found.sentence == "a lacks 1 CPU (wants 3, has 2 free)"


def test_nodes_that_are_all_turned_down_alike_and_lack_no_amounts_are_no_news() -> None:
    assert nearest(pod("new"), [small("a").taint("gpu"), small("b").taint("gpu")]) is None


def test_nor_is_one_of_many() -> None:
    nodes = [*(small(f"n{number}").taint("gpu") for number in range(4)), small("z").taint("gpu").unschedulable()]
    assert nearest(pod("new"), nodes) is None
    assert nearest(pod("new"), nodes[1:]) is not None


def test_there_is_none_without_nodes_or_where_the_pod_is_refused_beforehand() -> None:
    assert nearest(pod("new"), []) is None
    assert nearest(pod("new").volume("v", persistentVolumeClaim={"claimName": "missing"}), [small("a")]) is None


class TestThingsMissing:
    def test_a_node_that_fits_is_out_of_the_question(self) -> None:
        assert np.isinf(things_missing(survey(pod("new").cpu("1"), [small("a")]))).all()

    def test_the_whole_part_counts_things_and_the_fraction_how_much_is_missing(self) -> None:
        looked = survey(
            pod("new").cpu("3"),
            [small("a"), small("b"), small("c").taint("gpu")],
            taken("a", "2"),
            taken("b", "3"),
            taken("c", "2"),
        )
        a, b, c = (things_missing(looked)[looked.state.nodes.rows[name]] for name in "abc")
        assert 1 < a < b < 2 < c < 3


def test_pods_are_told_of_as_room() -> None:
    assert lack_text(Lack(resource="pods", wanted="1", free="0", short="1")) == "room for one more pod"
    assert (
        lack_text(Lack(resource="memory", wanted="2Gi", free="1Gi", short="1Gi"))
        == "1Gi memory (wants 2Gi, has 1Gi free)"
    )
