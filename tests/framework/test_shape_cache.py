"""What is remembered of a shape."""

from __future__ import annotations

import gc
import weakref

from scheduler.cache.changes import Change
from scheduler.cache.versions import Ledger
from scheduler.framework.cycle import Cycle
from scheduler.framework.recorder import PRE_FILTER
from scheduler.framework.shape_cache import ShapeCaches
from tests.builders import expression, info, node, pod, state, term
from tests.framework.scored import Amount, Fixture, closed, pods


def test_no_plugins_have_no_total():
    assert Fixture().total() is None


def test_another_set_of_plugins_has_another_total():
    fixture, first, second = Fixture(), pods(), closed()
    fixture.add("a", "n1")
    fixture.total((first, 1), (second, 1))
    fixture.cluster.set_node(node("n2").unschedulable().build())
    assert fixture.total((second, 5)) == [0, 0, 5, 0, 0, 0]


def test_the_least_recently_used_shape_is_dropped():
    cluster = state()
    shapes = [info(pod("p").label(n=str(i)), cluster).shape for i in range(3)]
    caches = ShapeCaches(2)
    first, second = caches.of(shapes[0]), caches.of(shapes[1])
    assert caches.of(shapes[0]) is first
    caches.of(shapes[2])
    assert caches.of(shapes[0]) is first
    assert caches.of(shapes[1]) is not second


def test_shapes_of_one_body_have_one_cache_if_nobody_sees_labels():
    cluster = state()
    one, other = (info(pod("p").label(index=index), cluster).shape for index in "12")
    another = info(pod("p").cpu("1"), cluster).shape
    seen, unseen = ShapeCaches(2), ShapeCaches(2, sees_labels=False)
    assert seen.of(one) is not seen.of(other)
    assert unseen.of(one) is unseen.of(other)
    assert unseen.of(one) is not unseen.of(another)


def test_a_shape_stays_as_long_as_its_cache_whether_a_pod_has_it_or_not():
    """Pods that wait are seldom there for long, and what plugins have compiled from a shape is worth keeping."""
    for sees_labels in (True, False):
        cluster, caches = state(), ShapeCaches(1, sees_labels=sees_labels)
        shape = info(pod("p").label(app="a"), cluster).shape
        shape.memo["x"] = 1
        caches.of(shape)
        del shape
        assert info(pod("p").label(app="a"), cluster).shape.memo == {"x": 1}
        caches.of(info(pod("p").label(app="b"), cluster).shape)
        assert info(pod("p").label(app="a"), cluster).shape.memo == {}


def test_what_shapes_of_one_body_have_in_common_goes_with_the_last_of_them():
    cluster, caches = state(), ShapeCaches(2, sees_labels=False)
    shapes = [info(pod("p").label(index=str(index)), cluster).shape for index in range(5)]
    first = caches.of(shapes[0])
    assert [caches.of(shape) for shape in shapes[1:]] == [first] * 4
    others = [info(pod("p").cpu(cpu), cluster).shape for cpu in "12"]
    for shape in others:
        caches.of(shape)
    assert caches.of(shapes[4]) is not first


def daemon(cluster, name):
    """The shape of a pod that is pinned to a node."""
    return info(pod("p").requires_node(term(fields=[expression("metadata.name", "In", name)])), cluster).shape


def test_pods_that_are_pinned_do_not_drive_out_other_shapes():
    cluster, caches = state(), ShapeCaches(2)
    plain = info(pod("p"), cluster).shape
    first = caches.of(plain)
    pinned = [daemon(cluster, f"n{number}") for number in range(100)]
    for shape in pinned:
        assert caches.of(shape) is caches.of(shape)
    assert caches.of(plain) is first


def test_what_is_answered_of_one_that_is_pinned_holds_for_its_like_and_nobody_else():
    cluster, caches = state(), ShapeCaches(2)
    anywhere, one, other = info(pod("p"), cluster).shape, daemon(cluster, "n1"), daemon(cluster, "n2")
    assert not caches.of(one).seen_before(PRE_FILTER)
    assert caches.of(other).seen_before(PRE_FILTER)
    assert not caches.of(one.template).seen_before(PRE_FILTER)
    assert not caches.of(anywhere).seen_before(PRE_FILTER)


class ByApp(Amount):
    """A score that depends on nothing of the pod but a label."""

    def score_key(self, cycle):
        return cycle.shape.labels.get("app")


class TestSharing:
    def setup_method(self):
        self.cluster = state([node(f"n{row}") for row in range(6)])
        self.asked = []
        self.plugin = ByApp("A", Change.PODS, self.score)
        self.caches = ShapeCaches(8)

    def score(self, nodes):
        self.asked.append(len(nodes))
        return nodes.pod_count

    def rows(self, plugin=None, **labels):
        waiting = info(pod("p").label(labels), self.cluster)
        cache = self.caches.of(waiting.shape)
        cache.raw_scores(plugin or self.plugin, Cycle(waiting, self.cluster, "p"))
        return cache.score_cache("A")

    def test_shapes_with_equal_keys_share_what_is_kept_by_row(self):
        rows = self.rows(app="a", hash="1")
        assert self.rows(app="a", hash="2") is rows
        assert self.asked == [6]

    def test_those_with_other_keys_do_not(self):
        rows = self.rows(app="a")
        assert self.rows(app="b") is not rows
        assert self.asked == [6, 6]

    def test_nor_do_other_plugins_with_the_same_key(self):
        other = ByApp("A", Change.PODS, self.score)
        rows = self.rows(app="a", hash="1")
        assert self.rows(other, app="a", hash="2") is not rows

    def test_nor_do_shapes_of_which_a_plugin_can_not_tell_what_it_depends_on(self):
        plugin = Amount("A", Change.PODS, self.score)
        rows = self.rows(plugin, app="a", hash="1")
        assert self.rows(plugin, app="a", hash="2") is not rows

    def test_versions_of_what_another_shape_still_has_are_no_copies(self):
        rows = self.rows(app="a", hash="1")
        other = self.rows(app="a", hash="2")
        assert other is rows
        ledger = Ledger()
        held = rows.hold(ledger)
        for number in range(7):  # the one of the two that was asked for first is dropped
            self.rows(app=str(number))
        assert (rows.users, ledger.bytes) == (1, 0)
        self.rows(app="last")
        assert rows.users == 0
        assert ledger.bytes > 0
        assert held.restore().tolist() == [0] * 6

    def test_what_nobody_has_any_more_is_gone(self):
        rows = weakref.ref(self.rows(app="a"))
        self.caches.close()
        gc.collect()
        assert rows() is None
