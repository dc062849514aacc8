"""Nodes without what runs on them."""

import numpy as np

from scheduler.cache.bare import BareNodeView
from scheduler.cache.nodes import CPU, NodeView
from tests.builders import node, pod, state


def test_pods_and_images_are_gone_and_all_else_is_there():
    cluster = state([node("a").capacity(cpu="4").label(zone="x").image("app:v1", size=1)], [pod("p").cpu("1").on("a")])
    rows = np.array([0], np.intp)
    full, bare = NodeView(cluster.nodes, rows), BareNodeView(cluster.nodes, rows)
    assert (full.requested(CPU).tolist(), bare.requested(CPU).tolist()) == ([1000], [0])
    assert (full.nonzero(CPU).tolist(), bare.nonzero(CPU).tolist()) == ([1000], [0])
    assert (full.pod_count.tolist(), bare.pod_count.tolist()) == ([1], [0])
    assert cluster.nodes.images.states
    assert not bare.table.images.states
    assert bare.allocatable(CPU).tolist() == [4000]
    allocatable, requested, nonzero, allowed, pods = bare.table.columns
    assert (allocatable[CPU, 0], allowed[0]) == (4000, 110)
    assert not any(column.any() for column in (requested, nonzero, pods))
    assert bare.label_ids("zone").tolist() == full.label_ids("zone").tolist()
    assert bare.table.name(0) == "a"
    assert (full.bare, bare.bare) == (False, True)


def test_resources_that_a_bare_view_is_asked_for_first_are_known_to_the_table():
    cluster = state([node("a").capacity({"example.com/gpu": "2"})])
    bare = BareNodeView(cluster.nodes, np.array([0], np.intp))
    index = bare.table.resource("example.com/new")
    assert bare.requested(index).tolist() == [0]
    assert cluster.nodes.resource("example.com/new") == index
