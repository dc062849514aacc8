"""Host ports given up."""

from __future__ import annotations

from typing import Any

from scheduler.explain.whynot.bench import Bench
from scheduler.explain.whynot.helps.ports import options
from tests.builders import PodBuilder, node, pod
from tests.explain.whynot.cluster import Cluster


def found(waits: PodBuilder, *pods: PodBuilder) -> list[Any]:
    cluster = Cluster([node("a")], pods)
    return [change for (change,) in options(Bench(cluster.state, cluster.profile, cluster.info(waits)).survey())]


def sentences(waits: PodBuilder, *pods: PodBuilder) -> list[str]:
    return [help_.sentence for help_ in Cluster([node("a")], pods).why_not(waits).helps if help_.kind == "dropHostPort"]


NEW = pod("new").host_port(80).host_port(443)


def test_each_port_is_one_that_could_be_given_up() -> None:
    assert [change.details["hostPort"] for change in found(NEW, pod("x").on("a").host_port(80))] == [
        "80/TCP",
        "443/TCP",
    ]


def test_only_those_are_told_that_help() -> None:
    assert sentences(NEW, pod("x").on("a").host_port(80)) == ["giving up host port 80/TCP (for a Service, say) opens a"]
    assert sentences(NEW, pod("x").on("a").host_port(80).host_port(443)) == []


def test_the_pod_keeps_its_other_ports_and_the_port_itself_stays_open_in_it() -> None:
    made = NEW.build()
    (first, _) = found(NEW, pod("x").on("a").host_port(80))
    before, after = (
        [(port.container_port, port.host_port) for container in each.spec.containers for port in container.ports]
        for each in (made, first.edited(made))
    )
    assert [host for _, host in after] == [0, 443]
    assert [inside for inside, _ in after] == [inside for inside, _ in before]


def test_of_ports_that_differ_in_the_address_only_one_is_given_up() -> None:
    waits = pod("new").host_port(80, address="10.0.0.1").host_port(80, address="10.0.0.2")
    holder = pod("x").on("a").host_port(80, address="10.0.0.1")
    assert sentences(waits, holder) == ["giving up host port 10.0.0.1:80/TCP (for a Service, say) opens a"]
    change = next(each for each in found(waits, holder) if each.details["hostPort"] == "10.0.0.1:80/TCP")
    containers = change.edited(waits.build()).spec.containers
    assert [port.host_port for container in containers for port in container.ports] == [0, 80]


def test_so_with_protocols() -> None:
    waits = pod("new").host_port(53, "UDP").host_port(53)
    assert sentences(waits, pod("x").on("a").host_port(53, "UDP")) == [
        "giving up host port 53/UDP (for a Service, say) opens a"
    ]


def test_a_pod_in_the_hosts_network_can_give_none_up() -> None:
    waits = NEW.set("spec.hostNetwork", True)
    assert found(waits, pod("x").on("a").host_port(80)) == []


def test_nobody_need_give_up_what_nobody_holds() -> None:
    assert found(NEW.node_selector(disk="ssd")) == []
