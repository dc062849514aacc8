"""Changes that are tried and taken back."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.cache.nodes import CPU
from tests.builders import info, node, pod, state


@pytest.fixture
def cluster():
    return state([node("a"), node("b")], [pod("p").cpu("1").on("a"), pod("q").cpu("2").on("a")])


def requested(cluster) -> dict[str, int]:
    return {name: int(cluster.nodes.requested[CPU, row]) for name, row in cluster.nodes.rows.items()}


def test_counts_as_if_it_were_so_and_then_as_before(cluster):
    p = cluster.pods.get(info(pod("p")).uid)
    with cluster.what_if() as trial:
        trial.remove(p)
        placed = trial.add(info(pod("r").cpu("4"), cluster), "b")
        assert requested(cluster) == {"a": 2000, "b": 4000}
        assert cluster.pods.on_node("b") == [placed]
    assert requested(cluster) == {"a": 3000, "b": 0}
    assert cluster.pods.get(p.uid) is p
    assert cluster.pods.on_node("b") == []


def test_a_removed_pod_can_be_put_back(cluster):
    p = cluster.pods.get(info(pod("p")).uid)
    with cluster.what_if() as trial:
        trial.remove(p)
        trial.restore(p)
        assert requested(cluster) == {"a": 3000, "b": 0}
    assert requested(cluster) == {"a": 3000, "b": 0}


def test_the_pods_of_a_node_are_in_the_same_order_afterwards():
    cluster = state([node("a")], [pod(name).on("a") for name in "pqrs"])
    before = cluster.pods.on_node("a")
    with cluster.what_if() as outer:
        for record in before[:2]:
            outer.remove(record)
        within = cluster.pods.on_node("a")
        with cluster.what_if() as inner:
            inner.remove(within[0])
            inner.add(info(pod("new"), cluster), "a")
        assert cluster.pods.on_node("a") == within
        outer.restore(before[0])
    assert cluster.pods.on_node("a") == before


def test_trials_nest(cluster):
    with cluster.what_if() as outer:
        outer.add(info(pod("r").cpu("4"), cluster), "b")
        with cluster.what_if() as inner:
            inner.add(info(pod("s").cpu("5"), cluster), "b")
            assert requested(cluster) == {"a": 3000, "b": 9000}
        assert requested(cluster) == {"a": 3000, "b": 4000}
    assert requested(cluster) == {"a": 3000, "b": 0}


def test_is_undone_when_it_fails(cluster):
    def attempt():
        with cluster.what_if() as trial:
            trial.add(info(pod("r").cpu("4"), cluster), "b")
            raise RuntimeError("no good")

    with pytest.raises(RuntimeError, match="no good"):
        attempt()
    assert requested(cluster) == {"a": 3000, "b": 0}


def test_its_steps_are_told(cluster):
    p = cluster.pods.get(info(pod("p")).uid)
    with cluster.what_if() as trial:
        trial.remove(p)
        trial.restore(p)
        placed = trial.add(info(pod("r"), cluster), "b")
        assert trial.steps == [(-1, p), (1, p), (1, placed)]


def test_amounts_of_many_nodes_are_tried_at_once(cluster):
    p, q = (cluster.pods.get(info(pod(name)).uid) for name in "pq")
    gpu = info(pod("g").requests({"example.com/gpu": "2"}), cluster)
    both = np.array([0, 1])
    with cluster.what_if_columns(both, [p.usage, q.usage, gpu.usage]) as trial:
        trial.move(both[:1], np.array([1]), -1)
        trial.move(both, np.array([0, 2]), 1)
        table = cluster.nodes
        assert requested(cluster) == {"a": 2000, "b": 0}
        assert table.requested[table.resource("example.com/gpu"), :2].tolist() == [0, 2]
        assert table.pod_count[:2].tolist() == [2, 1]
        assert table.nonzero[CPU, :2].tolist() == [2000, 100]
    assert requested(cluster) == {"a": 3000, "b": 0}
    assert cluster.nodes.pod_count[:2].tolist() == [2, 0]
    assert cluster.nodes.nonzero[CPU, :2].tolist() == [3000, 0]


def test_several_pods_of_one_node_are_tried_at_once(cluster):
    p, q = (cluster.pods.get(info(pod(name)).uid) for name in "pq")
    rows = np.array([0, 1, 0])
    with cluster.what_if_columns(np.array([0, 1]), [p.usage, q.usage]) as trial:
        before = requested(cluster), cluster.nodes.pod_count[:2].tolist(), cluster.nodes.nonzero[CPU, :2].tolist()
        trial.move_all(rows, np.array([0, 1, 1]), 1)
        amounts = p.usage.requests["cpu"], q.usage.requests["cpu"]
        assert requested(cluster) == {"a": before[0]["a"] + sum(amounts), "b": before[0]["b"] + amounts[1]}
        assert cluster.nodes.pod_count[:2].tolist() == [before[1][0] + 2, before[1][1] + 1]
        assert cluster.nodes.nonzero[CPU, :2].tolist() == [before[2][0] + sum(amounts), before[2][1] + amounts[1]]
        trial.move_all(rows, np.array([0, 1, 1]), -1)
        assert before[0] == requested(cluster)


class TestNodes:
    def test_are_as_changed_and_then_as_before(self, cluster):
        zone = cluster.nodes.labels("topology.kubernetes.io/zone")
        row = cluster.nodes.rows["a"]
        with cluster.what_if_nodes() as trial:
            trial.set(node("a").zone("z").taint("gpu").unschedulable().build())
            assert zone.values[zone.ids[row]] == "z"
            assert cluster.nodes.unschedulable[row]
            trial.set(node("a").zone("y").build())
            assert zone.values[zone.ids[row]] == "y"
            assert requested(cluster)["a"] == 3000
        assert zone.values[zone.ids[row]] is None
        assert not cluster.nodes.unschedulable[row]
        assert cluster.nodes.taints.values[cluster.nodes.taints.ids[row]] == ()
        assert cluster.nodes.node(row) == node("a").build()

    def test_keep_their_place_in_the_order_of_nodes(self):
        cluster = state([node(name).zone(zone) for name, zone in (("a", "x"), ("b", "x"), ("c", "y"))])
        before = cluster.nodes.order.rows().tolist()
        with cluster.what_if_nodes() as trial:
            trial.set(node("a").zone("y").build())
            trial.set(node("d").zone("z").build())
        assert cluster.nodes.order.rows().tolist() == before

    def test_that_are_added_leave_their_row_to_the_next_new_node(self, cluster):
        with cluster.what_if_nodes() as trial, cluster.what_if() as pods:
            trial.set(node("c").build())
            pods.add(info(pod("r").cpu("4"), cluster), "c")
            row = cluster.nodes.rows["c"]
            assert requested(cluster) == {"a": 3000, "b": 0, "c": 4000}
        assert "c" not in cluster.nodes
        assert not cluster.nodes.live[row]
        cluster.set_node(node("d").build())
        assert cluster.nodes.rows["d"] == row

    def test_are_as_before_after_an_error(self, cluster):
        def failing() -> None:
            with cluster.what_if_nodes() as trial:
                trial.set(node("a").taint("x").build())
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            failing()
        assert cluster.nodes.node(cluster.nodes.rows["a"]) == node("a").build()
