"""One more node like one of each kind there is."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.explain.whynot.helps.nodes import ANOTHER, pool_of, zone_text
from tests.builders import PodBuilder, node, pod
from tests.explain.whynot.cluster import Cluster
from tests.plugins.storage import affinity, claim, csi_node, volume

ZONE = "topology.kubernetes.io/zone"
NEW = pod("new").cpu("2")


def small(name: str, zone: str = "") -> Any:
    made = node(name).capacity(cpu="2", memory="8Gi", pods="10")
    return made.zone(zone) if zone else made


def full(name: str) -> PodBuilder:
    return pod(f"on-{name}").uid(f"on-{name}").on(name).cpu("2")


def found(waits: PodBuilder, nodes: list[Any], *pods: PodBuilder, objects: tuple[Any, ...] = ()) -> list[Any]:
    return [one for one in Cluster(nodes, pods, objects).found(waits) if one.change.kind == "addNode"]


def sentences(waits: PodBuilder, nodes: list[Any], *pods: PodBuilder, objects: tuple[Any, ...] = ()) -> list[str]:
    return [one.change.what(one.nodes) for one in found(waits, nodes, *pods, objects=objects)]


class TestTheNewNode:
    def made(self, like: Any) -> Any:
        (one, *_) = found(NEW, [like], full("a"))
        (new,) = one.change.new
        return new

    def test_it_is_like_the_other_but_for_its_name(self) -> None:
        new = self.made(small("a", "z1").label(disk="ssd"))
        assert new.metadata.name != "a"
        assert new.metadata.labels["kubernetes.io/hostname"] == new.metadata.name
        assert (new.metadata.labels[ZONE], new.metadata.labels["disk"]) == ("z1", "ssd")
        assert new.status.allocatable == small("a").build().status.allocatable

    def test_nobody_has_cordoned_it_and_nothing_is_wrong_with_it(self) -> None:
        new = self.made(small("a").unschedulable().taint("node.kubernetes.io/not-ready"))
        assert not new.spec.unschedulable
        assert new.spec.taints == ()

    def test_it_has_no_images_yet(self) -> None:
        assert self.made(small("a").image("x:1", size=9)).status.images == ()

    def test_it_runs_what_every_such_node_runs(self) -> None:
        daemon = pod("daemon").uid("d").on("a").cpu("100m").owned_by("DaemonSet", "logs")
        assert sentences(NEW, [small("a")], full("a"), daemon) == ["one more node like a but with 2100m CPU"]

    def test_its_drivers_take_as_many_volumes(self) -> None:
        (one, *_) = found(NEW, [small("a")], full("a"), objects=(csi_node("a", {"d": 5}),))
        ((kind, item),) = one.change.objects
        assert (kind, item.metadata.name) == ("CSINode", one.change.new[0].metadata.name)


class TestKinds:
    def test_one_of_each_is_tried(self) -> None:
        nodes = [small("a"), small("g").taint("gpu")]
        pods = full("a"), full("g")
        assert sentences(NEW, nodes, *pods) == ["one more node like a"]
        assert sentences(NEW.tolerates("gpu", operator="Exists"), nodes, *pods) == [
            "one more node like a",
            "one more node like g",
        ]

    def test_those_that_something_is_wrong_with_are_not_gone_by_if_there_are_others(self) -> None:
        nodes = [small("a").label(agentpool="old").unschedulable(), small("b").label(agentpool="new")]
        assert sentences(NEW, nodes, full("b")) == ["one more node like new (such as b)"]

    def test_those_that_differ_in_the_zone_only_are_told_as_one(self) -> None:
        assert sentences(NEW, [small("a", "zone-a"), small("b", "zone-b")], full("a"), full("b")) == [
            "one more node like a in zone-a or zone-b"
        ]

    def test_a_pool_is_called_by_its_name(self) -> None:
        nodes = [small(name).label(agentpool="blue") for name in "ab"]
        assert sentences(NEW, nodes, full("a"), full("b")) == ["one more node like blue (such as a)"]

    def test_a_larger_one_where_none_is_large_enough(self) -> None:
        assert sentences(pod("new").cpu("3"), [small("a")]) == ["one more node like a but with 3 CPU"]

    def test_in_the_zone_of_the_pods_volume(self) -> None:
        bound = claim("c", volume="v"), volume("v", nodeAffinity=affinity(ZONE, "zone-b"))
        waits = pod("new").volume("v", persistentVolumeClaim={"claimName": "c"})
        assert sentences(waits, [small("a", "zone-a")], objects=bound) == ["one more node like a but in zone-b"]

    def test_none_where_no_node_is_to_go_by(self) -> None:
        assert found(NEW, []) == []


@pytest.mark.parametrize(
    ("labels", "pool"),
    [
        ({}, ""),
        ({"agentpool": "blue"}, "blue"),
        ({"cloud.google.com/gke-nodepool": "p", "agentpool": "blue"}, "p"),
        ({"node.kubernetes.io/instance-type": "m5"}, "m5"),
        ({"agentpool": "blue", "node.kubernetes.io/instance-type": "m5"}, "blue"),
    ],
)
def test_the_pool_of_a_node_or_else_its_type(labels: dict[str, str], pool: str) -> None:
    assert pool_of(node("a").label(labels).build()) == pool


@pytest.mark.parametrize(
    ("zone", "text"), [("zone-a", "zone-a"), ("europe-west1-b", "zone europe-west1-b"), (ANOTHER, "another zone")]
)
def test_a_zone_in_a_sentence(zone: str, text: str) -> None:
    assert zone_text(zone) == text
