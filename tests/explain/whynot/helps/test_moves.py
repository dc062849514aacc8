"""Pods in the way that would find a place on another node."""

from __future__ import annotations

from typing import Any

from scheduler.explain.whynot.bench import Bench
from scheduler.explain.whynot.helps.evict import victims
from scheduler.explain.whynot.helps.moves import options
from tests.builders import node, pod, pod_term
from tests.explain.whynot.cluster import Cluster

HOST = "kubernetes.io/hostname"


def moves(cluster: Cluster, waiting: Any) -> list[str]:
    return [help_.sentence for help_ in cluster.why_not(waiting).helps if help_.kind == "movePods"]


def nodes(**cpu: str) -> list[Any]:
    return [node(name).capacity(cpu=amount, memory="16Gi") for name, amount in cpu.items()]


def test_a_pod_makes_room_by_going_where_it_fits() -> None:
    there = [pod("small").cpu("1").on("n1"), pod("large").cpu("3").on("n2")]
    assert moves(Cluster(nodes(n1="4", n2="4"), there), pod("a").cpu("4")) == [
        "moving default/small from n1 to n2, where it fits, opens n1"
    ]


def test_the_place_is_looked_for_once_the_pod_has_its_own() -> None:
    # n1 would take it back if the pod were not there by then, and n2 has no room.
    there = [pod("small").cpu("2").on("n1"), pod("large").cpu("3").on("n2")]
    assert moves(Cluster(nodes(n1="4", n2="4"), there), pod("a").cpu("4")) == []


def test_each_of_several_pods_finds_its_own_place() -> None:
    there = [pod("one").cpu("2").on("n1"), pod("two").cpu("2").on("n1")]
    assert moves(Cluster(nodes(n1="4", n2="2", n3="2"), there), pod("a").cpu("4")) == [
        "moving default/one to n2 and default/two to n3 from n1, where they fit, opens n1"
    ]
    assert moves(Cluster(nodes(n1="4", n2="3"), there), pod("a").cpu("4")) == []


def test_the_other_filters_are_asked_as_well() -> None:
    there = [pod("small").cpu("1").node_selector(pool="a").on("n1")]
    first, second = nodes(n1="4", n2="2")
    assert moves(Cluster([first.label(pool="a"), second], there), pod("a").cpu("4")) == []
    assert moves(Cluster([first, second.label(pool="a")], there), pod("a").cpu("4"))


def test_the_fewest_pods_are_moved() -> None:
    there = [pod("one").cpu("1").on("n1"), pod("two").cpu("1").on("n1"), pod("three").cpu("2").on("n2")]
    assert moves(Cluster(nodes(n1="4", n2="4", n3="2"), there), pod("a").cpu("4")) == [
        "moving default/three from n2 to n1 or n3, where it fits, opens n2"
    ]


def test_pods_that_stay_with_their_node_are_not_moved() -> None:
    there = [pod("agent").cpu("1").owned_by("DaemonSet", "agent").on("n1")]
    assert moves(Cluster(nodes(n1="4", n2="2"), there), pod("a").cpu("4")) == []


def test_pods_of_its_own_kind_are_left_alone() -> None:
    def web(name: str) -> Any:
        return pod(name).label(app="web").cpu("1").requires_pods(pod_term(HOST, {"app": "web"}), anti=True)

    cluster = Cluster(nodes(n1="1", n2="1"), [web("web-1").on("n1"), web("web-2").on("n2")])
    assert moves(cluster, web("web-3")) == []


def test_machines_are_told_which_pod_goes_where() -> None:
    there = [pod("one").cpu("2").on("n1"), pod("two").cpu("2").on("n1")]
    (move,) = [
        help_
        for help_ in Cluster(nodes(n1="4", n2="2", n3="2"), there).why_not(pod("a").cpu("4")).helps
        if help_.kind == "movePods"
    ]
    assert move.change == {"pods": "default/one,default/two", "from": "n1", "to": "n2,n3"}
    assert move.nodes == ("n1",)


def test_a_pod_that_is_gone_by_then_is_not_moved() -> None:
    cluster = Cluster(nodes(n1="4", n2="4"), [pod("small").cpu("1").on("n1")])
    bench = Bench(cluster.state, cluster.profile, cluster.info(pod("a").cpu("4")))
    (found,) = victims(bench.survey(), "n1")
    assert len(list(options(bench, found))) == 1
    cluster.state.remove_pod(found.pods[0].uid)
    assert list(options(bench, found)) == []
