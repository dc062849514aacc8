"""Vectors that follow the change log."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.cache.changes import Change
from scheduler.framework.row_cache import RowCache
from tests.builders import info, node, pod, state


class Fixture:
    """The number of pods of each node, kept."""

    def __init__(self, nodes=6):
        self.cluster = state([node(f"n{i}") for i in range(nodes)])
        self.cache = RowCache(Change.PODS)
        self.asked = []

    def compute(self, view):
        self.asked.append(view.indices.tolist())
        return view.pod_count

    def refresh(self, epoch=None):
        return self.cache.refresh(self.cluster.nodes, self.compute, epoch).tolist()

    def add(self, name, where):
        self.cluster.set_pod(info(pod(name).on(where), self.cluster))


def test_all_rows_are_computed_once():
    fixture = Fixture()
    assert fixture.refresh() == [0] * 6
    assert fixture.refresh() == [0] * 6
    assert fixture.asked == [[0, 1, 2, 3, 4, 5]]


def test_only_changed_rows_are_computed_again():
    fixture = Fixture()
    fixture.refresh()
    fixture.add("a", "n4")
    assert fixture.refresh() == [0, 0, 0, 0, 1, 0]
    assert fixture.asked[1:] == [[4]]


def test_changes_that_it_does_not_depend_on_are_passed_over():
    fixture = Fixture()
    fixture.refresh()
    fixture.cluster.set_node(node("n1").label(x="y").build())
    fixture.refresh()
    assert len(fixture.asked) == 1


def test_new_nodes_are_computed():
    fixture = Fixture()
    fixture.refresh()
    fixture.cluster.set_node(node("new").build())
    fixture.add("a", "new")
    assert fixture.refresh() == [0] * 6 + [1]


def test_another_epoch_makes_all_stale():
    fixture = Fixture()
    fixture.refresh(epoch=1)
    fixture.refresh(epoch=2)
    assert len(fixture.asked[1]) == 6


def test_when_most_rows_changed_all_are_computed():
    fixture = Fixture()
    fixture.refresh()
    for i in range(4):
        fixture.add(f"p{i}", f"n{i}")
    fixture.refresh()
    assert len(fixture.asked[1]) == 6


def test_a_log_that_does_not_reach_back_makes_all_stale():
    fixture = Fixture()
    fixture.refresh()
    for _ in range(1 << 17):
        fixture.cluster.nodes.log.append(0, Change.LABELS)
    fixture.refresh()
    assert len(fixture.asked[1]) == 6


def test_nothing_at_all_is_remembered_as_such():
    cluster = state([node(f"n{i}") for i in range(6)])
    cache = RowCache(Change.PODS)
    assert cache.refresh(cluster.nodes, lambda view: None) is None
    cluster.set_pod(info(pod("a").on("n2"), cluster))
    vector = cache.refresh(cluster.nodes, lambda view: view.pod_count.astype(np.uint8))
    assert vector.tolist() == [0, 0, 1, 0, 0, 0]
    cluster.remove_pod(info(pod("a")).uid)
    assert cache.refresh(cluster.nodes, lambda view: None).tolist() == [0] * 6


def test_a_computation_that_failed_is_done_again():
    fixture = Fixture()
    fixture.refresh()
    fixture.add("a", "n4")

    def fail(view):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fixture.cache.refresh(fixture.cluster.nodes, fail)
    assert fixture.refresh() == [0, 0, 0, 0, 1, 0]


class OneByOne(Fixture):
    """As the other, but a single row is computed by itself, and told as such."""

    def refresh(self, epoch=None):
        return self.cache.refresh(self.cluster.nodes, self.compute, epoch, self.compute_row).tolist()

    def compute_row(self, row):
        self.asked.append(row)
        return int(self.cluster.nodes.pod_count[row])


def test_a_single_row_is_computed_by_itself_where_that_can_be():
    fixture = OneByOne()
    fixture.refresh()
    fixture.add("a", "n4")
    assert fixture.refresh() == [0, 0, 0, 0, 1, 0]
    assert (fixture.asked[1:], fixture.cache.version, fixture.cache.patched) == ([4], 2, 4)


def test_a_single_row_that_comes_out_the_same_is_no_new_version():
    fixture = OneByOne()
    fixture.refresh()
    fixture.add("a", "n4")
    fixture.cluster.remove_pod(info(pod("a")).uid)
    assert fixture.refresh() == [0] * 6
    assert (fixture.asked[1:], fixture.cache.version) == ([4], 1)


def test_a_single_row_that_is_new_is_computed_with_the_others():
    fixture = OneByOne()
    fixture.refresh()
    fixture.cluster.set_node(node("new").build())
    assert fixture.refresh() == [0] * 7


def test_a_single_row_is_left_out_of_nothing_at_all_unless_it_has_something_to_say():
    cluster = state([node(f"n{i}") for i in range(6)])
    cache = RowCache(Change.PODS)
    cache.refresh(cluster.nodes, lambda view: None)
    cluster.set_pod(info(pod("a").on("n2"), cluster))
    assert cache.refresh(cluster.nodes, lambda view: None, None, lambda row: 0) is None
    cluster.set_pod(info(pod("b").on("n2"), cluster))
    counts = lambda view: view.pod_count.astype(np.uint8)  # noqa: E731
    assert cache.refresh(cluster.nodes, counts, None, lambda row: 2).tolist() == [0, 0, 2, 0, 0, 0]


def test_a_row_about_which_plain_numbers_say_nothing_is_computed_as_usual():
    fixture = Fixture()
    fixture.refresh()
    fixture.add("a", "n4")
    fixture.cache.refresh(fixture.cluster.nodes, fixture.compute, None, lambda row: None)
    assert fixture.asked[1:] == [[4]]


def test_the_version_moves_on_with_the_entries_and_says_which_were_patched():
    fixture = Fixture()
    fixture.refresh()
    assert (fixture.cache.version, fixture.cache.patched) == (1, None)
    fixture.add("a", "n4")
    fixture.refresh()
    assert (fixture.cache.version, fixture.cache.patched.tolist()) == (2, [4])
    fixture.refresh()
    assert (fixture.cache.version, fixture.cache.patched.tolist()) == (2, [4])


def test_entries_that_come_out_the_same_are_no_new_version():
    fixture = Fixture()
    fixture.refresh()
    fixture.add("a", "n4")
    fixture.cluster.remove_pod(info(pod("a")).uid)
    assert fixture.refresh() == [0] * 6
    assert (fixture.asked[1:], fixture.cache.version) == ([[4]], 1)


def test_a_new_node_is_a_new_version_whatever_it_is_given():
    fixture = Fixture()
    fixture.refresh()
    fixture.cluster.set_node(node("new").build())
    fixture.refresh()
    assert fixture.cache.version == 2


class TestCurrent:
    def test_nothing_is_before_it_was_computed(self):
        fixture = Fixture()
        assert not fixture.cache.is_current(fixture.cluster.nodes, None)

    def test_what_it_does_not_depend_on_does_not_matter(self):
        fixture = Fixture()
        fixture.refresh()
        fixture.cluster.set_node(node("n1").label(x="y").build())
        assert fixture.cache.is_current(fixture.cluster.nodes, None)
        assert fixture.refresh() == [0] * 6

    def test_what_it_depends_on_does(self):
        fixture = Fixture()
        fixture.refresh()
        fixture.add("a", "n4")
        assert not fixture.cache.is_current(fixture.cluster.nodes, None)

    def test_so_do_nodes_that_come_and_another_epoch(self):
        fixture = Fixture()
        fixture.refresh()
        assert not fixture.cache.is_current(fixture.cluster.nodes, 1)
        fixture.cluster.set_node(node("new").build())
        assert not fixture.cache.is_current(fixture.cluster.nodes, None)


class TestUniform:
    def test_where_all_entries_are_the_same_it_is_their_value(self):
        fixture = Fixture()
        fixture.refresh()
        assert fixture.cache.uniform() == 0

    def test_with_one_that_differs_there_is_none_until_that_is_gone(self):
        fixture = Fixture()
        fixture.refresh()
        fixture.add("a", "n4")
        fixture.refresh()
        assert fixture.cache.uniform() is None
        fixture.cluster.remove_pod(info(pod("a")).uid)
        fixture.refresh()
        assert fixture.cache.uniform() == 0

    def test_before_anything_was_computed_there_is_none(self):
        assert Fixture().cache.uniform() is None
