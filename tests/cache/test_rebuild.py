"""A state from scratch equals the one that it was made from."""

from __future__ import annotations

import msgspec

from scheduler.api.objects import ObjectMeta, Service, ServiceSpec
from scheduler.cache.rebuild import copy_pod, rebuild
from tests.builders import info, node, pod, state


def busy():
    """A cluster with a bit of everything, whose rows were used twice."""
    cluster = state(
        [node("gone"), node("b").zone("y").image("i:1", size=7), node("a").zone("x").taint("t")],
        [pod("p").on("a").cpu("1").host_port(80), pod("q").on("b").terminating(), pod("lost").on("missing")],
        {"default": {"team": "a"}},
    )
    cluster.remove_node("gone")
    cluster.set_node(node("c").zone("x").image("i:1", size=9).build())
    cluster.assume(info(pod("on-its-way").cpu("2"), cluster), "c")
    cluster.nominations.add(info(pod("hopeful"), cluster), "c")
    cluster.set_object("Service", Service(metadata=ObjectMeta(name="s", namespace="default")))
    return cluster


def by_node(cluster, column):
    return {cluster.nodes.name(row): column[..., row].tolist() for row in cluster.nodes.rows.values()}


def test_columns_are_equal_by_the_names_of_nodes():
    cluster = busy()
    twin = rebuild(cluster)
    assert set(twin.nodes.rows) == {"a", "b", "c"}
    for name in ("allocatable", "requested", "nonzero", "allowed_pods", "pod_count", "unschedulable"):
        assert by_node(cluster, getattr(cluster.nodes, name)) == by_node(twin, getattr(twin.nodes, name)), name


def test_the_order_of_the_pods_of_a_node_is_kept():
    cluster = state([node("n")], [pod(name).on("n") for name in "pqrst"])
    cluster.remove_pod(info(pod("q")).uid)
    cluster.set_pod(info(pod("p").on("n").label(x="y"), cluster))
    names = [record.name for record in cluster.pods.on_node("n")]
    assert names == ["s", "t", "r", "p"]
    assert [record.name for record in rebuild(cluster).pods.on_node("n")] == names


def test_the_order_of_nodes_is_kept():
    cluster = busy()
    twin = rebuild(cluster)
    names = [[c.nodes.name(row) for row in c.nodes.order.rows()] for c in (cluster, twin)]
    assert names[0] == names[1]


def test_pods_are_where_they_were_and_assumed_ones_still_are():
    cluster = busy()
    twin = rebuild(cluster)
    assert {p.uid: p.node_name for p in twin.pods} == {p.uid: p.node_name for p in cluster.pods}
    assert set(twin.assumed) == set(cluster.assumed)
    assert [p.name for p in twin.nominations.on_node("c")] == ["hopeful"]


def test_ports_are_taken_on_the_same_nodes():
    cluster = busy()
    twin = rebuild(cluster)

    def used(c):
        return {(port, c.nodes.name(row)): count for (port, row), count in c.nodes.ports.used().items()}

    assert used(cluster) == used(twin) != {}


def test_images_keep_the_size_that_was_seen_first():
    cluster = busy()
    cluster.set_node(node("b").zone("y").image("i:1", size=8).build())
    twin = rebuild(cluster)
    assert twin.nodes.images.states["i:1"].size == cluster.nodes.images.states["i:1"].size
    assert len(twin.nodes.images.states["i:1"].rows) == 2


def test_namespaces_and_objects_are_known():
    twin = rebuild(busy())
    assert twin.namespaces == {"default": {"team": "a"}}
    assert twin.objects.get("Service", "default", "s") is not None


def test_nothing_is_shared_that_could_be_changed():
    cluster = busy()
    twin = rebuild(cluster)
    placed = next(iter(cluster.pods))
    copied = twin.pods.get(placed.uid)
    assert copied is not placed
    assert copied.shape is not placed.shape
    twin.remove_pod(placed.uid)
    assert cluster.pods.get(placed.uid) is placed


def test_what_a_pod_takes_beyond_its_shape_is_kept():
    cluster = state([node("a")])
    status = {"name": "main", "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "2"}}}
    resized = info(pod("p").on("a").cpu("1").set("status.containerStatuses", [status]), cluster)
    copied = copy_pod(resized, state().shapes)
    assert copied.usage == resized.usage
    assert copied.usage != copied.shape.usage


def test_what_is_assumed_of_objects_is_taken_over():
    cluster = busy()
    cluster.set_object("Service", Service(metadata=ObjectMeta(name="old", namespace="default", resource_version="1")))
    stored = cluster.objects.get("Service", "default", "s")
    assumed = msgspec.structs.replace(stored, spec=ServiceSpec(selector={"a": "b"}))
    cluster.assumed_objects.assume("Service", assumed)
    cluster.assumed_objects.assume("Service", cluster.objects.get("Service", "default", "old"))
    cluster.set_object("Service", Service(metadata=ObjectMeta(name="old", namespace="default", resource_version="2")))
    twin = rebuild(cluster)
    assert [*twin.assumed_objects] == [("Service", assumed)]
    assert twin.assumed_objects.get("Service", "default", "s") == assumed
