"""What the pod wants of each node, what is free there, and how much is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scheduler.explain.views import Lack
from scheduler.explain.whynot.bench import Bench
from scheduler.explain.whynot.resources import (
    fragmentation,
    free,
    full,
    kinds_short,
    lacks,
    missing_of,
    needs_of,
    rough,
    short,
    shortage,
)
from tests.builders import PodBuilder, node, pod
from tests.explain.whynot.cluster import Cluster

NEW = pod("new").cpu("3").memory("4Gi")


def small(name: str) -> Any:
    return node(name).capacity(cpu="4", memory="8Gi", pods="2")


def on(name: str, cpu: str, memory: str = "1Gi", number: int = 0) -> PodBuilder:
    return pod(f"on-{name}-{number}").uid(f"{name}{number}").on(name).cpu(cpu).memory(memory)


def survey(waits: Any, nodes: list[Any], *pods: Any) -> Any:
    cluster = Cluster(nodes, pods)
    return Bench(cluster.state, cluster.profile, cluster.info(waits)).survey()


def by_name(looked: Any, values: Any) -> dict[str, Any]:
    return {name: values[row].item() for name, row in looked.state.nodes.rows.items()}


def test_what_is_free_may_be_less_than_nothing() -> None:
    """A node may shrink under its pods."""
    looked = survey(NEW, [small("a"), small("b")], on("a", "1"), on("b", "5"))
    cpu = next(need for need in needs_of(looked) if need.name == "cpu")
    assert by_name(looked, free(looked, cpu)) == {"a": 3000, "b": -1000}
    assert by_name(looked, short(looked, cpu)) == {"a": 0, "b": 4000}


def test_a_pod_that_asks_for_nothing_needs_nothing() -> None:
    assert needs_of(survey(pod("new").no_containers(), [small("a")])) == []


def test_room_for_pods_is_told_apart_from_amounts() -> None:
    looked = survey(NEW, [small("a"), small("b")], on("a", "0"), on("a", "0", number=1), on("b", "0"))
    assert by_name(looked, full(looked)) == {"a": True, "b": False}


class TestLacks:
    def test_each_resource_that_is_short_as_quantities_pods_first(self) -> None:
        looked = survey(NEW, [small("a")], on("a", "2"), on("a", "1", "4Gi", 1))
        assert lacks(looked, 0) == (
            Lack(resource="pods", wanted="1", free="0", short="1"),
            Lack(resource="cpu", wanted="3", free="1", short="2"),
            Lack(resource="memory", wanted="4Gi", free="3Gi", short="1Gi"),
        )

    def test_nothing_where_the_pod_fits(self) -> None:
        assert lacks(survey(NEW, [small("a")]), 0) == ()

    def test_what_is_short_is_rounded_up_so_that_it_would_be_enough(self) -> None:
        odd = pod("new").memory(str(8 * 2**30 + 1))
        (lack,) = lacks(survey(odd, [small("a")]), 0)
        assert lack.resource == "memory"
        assert lack.short == "1"


def test_how_much_is_missing_is_the_sum_of_the_shares_of_the_requests() -> None:
    looked = survey(NEW, [small("a"), small("b")], on("a", "2500m"), on("b", "2500m", "6Gi"))
    assert by_name(looked, shortage(looked)) == {"a": 0.5, "b": 1.0}
    assert by_name(looked, kinds_short(looked)) == {"a": 1, "b": 2}


def test_where_the_plugin_turned_nobody_down_nothing_is_short() -> None:
    looked = survey(NEW, [small("a")])
    assert by_name(looked, kinds_short(looked)) == {"a": 0}


def test_nodes_by_which_resources_they_do_not_have_at_all() -> None:
    both = {"example.com/a": "1", "example.com/b": "1"}
    nodes = [small("x"), node("y").capacity(cpu="4", memory="8Gi", pods="2", **{"example.com/a": "1"}), small("z")]
    looked = survey(pod("new").requests(both), nodes)
    found = dict(missing_of(looked, sorted(both), np.arange(3)))
    assert {names: rows.tolist() for names, rows in found.items()} == {
        ("example.com/a", "example.com/b"): [0, 2],
        ("example.com/b",): [1],
    }


class TestFragmentation:
    """Enough in sum, but not on one node."""

    def test_it_says_how_much_there_is_and_where_most_of_it_is(self) -> None:
        looked = survey(pod("new").cpu("3"), [small("a"), small("b")], on("a", "2"), on("b", "1500m"))
        assert fragmentation(looked) == [
            "CPU is there in sum but in pieces: 2 nodes have 4500m free together, at most 2500m on one (b), "
            "and the pod wants 3"
        ]

    @pytest.mark.parametrize(
        ("waits", "nodes", "pods"),
        [
            (pod("new").cpu("3"), [small("a")], [on("a", "2")]),
            (pod("new").cpu("3"), [small("a"), small("b")], [on("a", "3"), on("b", "3")]),
            (pod("new").cpu("5"), [small("a"), small("b")], []),
            (pod("new").cpu("3"), [small("a"), small("b").taint("x")], [on("a", "2"), on("b", "2")]),
            (pod("new"), [small("a").taint("x"), small("b").taint("x")], []),
        ],
        ids=[
            "one node",
            "too little in sum",
            "no node is large enough",
            "something else is in the way too",
            "no amounts",
        ],
    )
    def test_it_is_not_said_of(self, waits: Any, nodes: list[Any], pods: list[Any]) -> None:
        assert fragmentation(survey(waits, nodes, *pods)) == []


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [("cpu", 9_999, "9999m"), ("cpu", 12_345, "12"), ("memory", 2**30, "1Gi"), ("example.com/gpu", 12_345, "12345")],
)
def test_large_amounts_of_cpu_are_told_without_their_last_digits(resource: str, amount: int, text: str) -> None:
    assert rough(resource, amount) == text
