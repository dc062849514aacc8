"""The objects of a cluster while changes are made to them."""

from __future__ import annotations

import pytest

from scheduler.api.objects import Node, Pod
from scheduler.app.whatif.world import ChangeError, find_nodes, near
from tests.app.whatif.worlds import world
from tests.builders import node, pod


def test_objects_keep_their_order_by_kind() -> None:
    changed = world(pod("b"), node("n2"), pod("a"), node("n1"))
    names = [item.metadata.name for item in changed.objects() if isinstance(item, Node | Pod)]
    assert names == ["b", "a", "n2", "n1"]


def test_putting_replaces_in_place_and_putting_last_does_not() -> None:
    changed = world(pod("a"), pod("b"))
    changed.put(pod("a").on("n1").build())
    assert list(changed.pods) == [("default", "a"), ("default", "b")]
    changed.put_last(pod("a").build())
    assert list(changed.pods) == [("default", "b"), ("default", "a")]


def test_a_pod_without_a_namespace_is_in_default() -> None:
    changed = world(pod("a").namespace(""))
    assert list(changed.pods) == [("default", "a")]


def test_free_names_go_on() -> None:
    changed = world(pod("web-2"))
    assert [changed.free_name(Pod, "default", "web") for _ in range(3)] == ["web-1", "web-3", "web-4"]
    assert changed.free_name(Pod, "shop", "web") == "web-1"


def test_uids_differ() -> None:
    changed = world()
    assert changed.uid() != changed.uid()


def test_an_exact_name_goes_before_a_glob() -> None:
    changed = world(node("n[1]"), node("n1"))
    assert [found.metadata.name for found in find_nodes(changed, "n[1]")] == ["n[1]"]
    assert [found.metadata.name for found in find_nodes(changed, "n?")] == ["n1"]


def test_no_node_at_all() -> None:
    with pytest.raises(ChangeError, match="there is no node 'n1'; there is none at all"):
        find_nodes(world(), "n1")


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("web", ["web-1", "wep", "other"], "; did you mean web-1 or wep?"),
        ("gpu", ["pool-gpu-1", "x"], "; did you mean pool-gpu-1?"),
        ("q", ["a", "b"], "; there is a, b"),
        ("q", list("abcdefgh"), "; there is a, b, c, d, e, and 3 more"),
        ("q", [], "; there is none at all"),
    ],
)
def test_names_that_come_near(name: str, known: list[str], hint: str) -> None:
    assert near(name, known) == hint
