"""What is remembered of a shape."""

from __future__ import annotations

from scheduler.cache.changes import Change
from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import ScorePlugin
from scheduler.framework.shape_cache import ShapeCache, ShapeCaches
from tests.builders import info, node, pod, state


class Amount(ScorePlugin):
    """A score from one column."""

    bounded = True

    def __init__(self, name, depends, score):
        self.name = name
        self.depends = depends
        self.score_of = score
        self.salt = 0

    def score(self, cycle, nodes):
        return self.score_of(nodes)

    def epoch(self, cycle):
        return self.salt


def pods():
    return Amount("Pods", Change.PODS, lambda nodes: nodes.pod_count)


def closed():
    return Amount("Closed", Change.TAINTS, lambda nodes: nodes.unschedulable.astype("int64"))


class Fixture:
    def __init__(self):
        self.cluster = state([node(f"n{i}") for i in range(6)])
        self.cycle = Cycle(info(pod("p"), self.cluster), self.cluster, "p")
        self.cache = ShapeCache()

    def total(self, *plugins):
        cycle = Cycle(self.cycle.pod, self.cluster, "p")
        found = self.cache.static_total(list(plugins), cycle)
        return None if found is None else found.tolist()

    def add(self, name, where):
        self.cluster.set_pod(info(pod(name).on(where), self.cluster))


def test_no_plugins_have_no_total():
    assert Fixture().total() is None


def test_the_total_is_weighted():
    fixture = Fixture()
    fixture.add("a", "n1")
    fixture.cluster.set_node(node("n1").unschedulable().build())
    assert fixture.total((pods(), 10), (closed(), 3)) == [0, 13, 0, 0, 0, 0]


def test_it_follows_changes_of_any_of_its_parts():
    fixture, first, second = Fixture(), pods(), closed()
    fixture.total((first, 10), (second, 3))
    fixture.add("a", "n1")
    assert fixture.total((first, 10), (second, 3)) == [0, 10, 0, 0, 0, 0]
    fixture.cluster.set_node(node("n2").unschedulable().build())
    fixture.add("b", "n5")
    assert fixture.total((first, 10), (second, 3)) == [0, 10, 3, 0, 0, 10]


def test_it_grows_with_the_table():
    fixture, plugin = Fixture(), pods()
    fixture.total((plugin, 1))
    fixture.cluster.set_node(node("new").build())
    fixture.add("a", "new")
    assert fixture.total((plugin, 1)) == [0] * 6 + [1]


def test_it_follows_several_refreshes_of_a_part_by_others():
    fixture, first, second = Fixture(), pods(), closed()
    fixture.total((first, 1), (second, 1))
    for name, where in (("a", "n1"), ("b", "n2")):
        fixture.add(name, where)
        fixture.cache.raw_scores(first, fixture.cycle)
    assert fixture.total((first, 1), (second, 1)) == [0, 1, 1, 0, 0, 0]


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
