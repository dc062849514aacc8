"""Which images lie where."""

from __future__ import annotations

from tests.builders import node, state


def images(cluster) -> dict[str, tuple[int, list[str]]]:
    names = cluster.nodes.name
    return {
        name: (image.size, sorted(names(row) for row in image.indices().tolist()))
        for name, image in cluster.nodes.images.states.items()
    }


def test_an_image_has_the_size_that_its_first_node_gives():
    cluster = state([node("a").image("x:1", "x@sha256:1", size=10), node("b").image("x:1", size=99)])
    assert images(cluster) == {"x:1": (10, ["a", "b"]), "x@sha256:1": (10, ["a"])}


def test_follows_nodes_that_change_and_go():
    cluster = state([node("a").image("x:1", size=10), node("b").image("x:1", size=99)])
    cluster.set_node(node("a").image("y:1", size=5).build())
    assert images(cluster) == {"x:1": (10, ["b"]), "y:1": (5, ["a"])}
    cluster.remove_node("b")
    assert images(cluster) == {"y:1": (5, ["a"])}


def test_the_version_moves_with_images_only():
    cluster = state([node("a").image("x:1", size=10)])
    version = cluster.nodes.images.version
    cluster.set_node(node("a").image("x:1", size=10).taint("t").build())
    cluster.set_node(node("b").build())
    assert cluster.nodes.images.version == version
    cluster.set_node(node("b").image("x:1", size=10).build())
    assert cluster.nodes.images.version != version
