"""How evenly, and how tightly, pods lie on nodes."""

from __future__ import annotations

from scheduler.app.balance import Share, balance
from tests.app.simulating import ran
from tests.builders import node, pod

A, B = node("a").capacity(cpu="4", memory="8Gi"), node("b").capacity(cpu="4", memory="8Gi")


def test_shares_of_a_resource() -> None:
    found = balance(ran(A, B, pod("p").cpu("2").on("a"))).resources["cpu"]
    assert (found.requested, found.allocatable) == (2_000, 8_000)
    assert (found.share, found.of_nodes_in_use, found.deviation) == (0.25, 0.5, 0.25)
    assert found.most_loaded == (Share("a", 0.5), Share("b", 0.0))


def test_pods_that_were_just_placed_count() -> None:
    found = balance(ran(A, pod("p").memory("2Gi")))
    assert found.resources["memory"].requested == 2 * 2**30
    assert (found.nodes, found.in_use, found.empty) == (1, 1, 0)


def test_daemon_pods_do_not_make_a_node_one_in_use() -> None:
    found = balance(ran(A, B, pod("agent").cpu("1").on("a").owned_by("DaemonSet", "agent"), pod("p").on("b")))
    assert (found.in_use, found.empty) == (1, 1)
    assert found.resources["cpu"].share == 0.125


def test_pods_that_have_ended_do_not_either() -> None:
    assert balance(ran(A, pod("p").on("a").set("status.phase", "Succeeded"))).in_use == 0


def test_nodes_that_have_none_of_a_resource_do_not_count_in_it() -> None:
    found = balance(ran(A, node("c").capacity(memory="8Gi"), pod("p").cpu("2").on("a"))).resources["cpu"]
    assert (found.share, found.deviation) == (0.5, 0.0)


def test_no_nodes() -> None:
    found = balance(ran(pod("p")))
    assert (found.nodes, found.resources["cpu"].share, found.resources["cpu"].most_loaded) == (0, 0.0, ())
