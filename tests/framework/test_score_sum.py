"""The sum of scores that need no normalizing."""

from __future__ import annotations

from scheduler.framework.row_cache import RowCache
from scheduler.framework.score_sum import ScoreSum
from tests.builders import info, node, pod, state
from tests.framework.scored import Fixture, closed, pods


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


class TestVersions:
    """Who keeps what follows from the sum sees by these whether it still holds, and what of it does not."""

    def setup_method(self):
        self.cluster = state([node(f"n{row}") for row in range(6)])
        self.rows = RowCache(pods().depends)
        self.sum = ScoreSum([(pods(), 2)], [self.rows])
        self.look()

    def look(self):
        self.rows.refresh(self.cluster.nodes, lambda nodes: nodes.pod_count)
        return self.sum.total(6).tolist()

    def add(self, *where):
        for name in where:
            self.cluster.set_pod(info(pod(f"on-{name}").on(name), self.cluster))

    def test_nothing_has_changed(self):
        before = self.sum.version
        self.look()
        assert self.sum.version == before

    def test_one_row_has(self):
        before = self.sum.version
        self.add("n4")
        self.rows.follow(4, 1, self.cluster.nodes.log.end)
        assert self.look() == [0, 0, 0, 0, 2, 0]
        assert (self.sum.version, self.sum.row) == (before + 1, 4)

    def test_several_have(self):
        before = self.sum.version
        self.add("n1", "n2")
        assert self.look() == [0, 2, 2, 0, 0, 0]
        assert (self.sum.version, self.sum.row) == (before + 1, None)
