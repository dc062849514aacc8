"""Pods with a node in prospect."""

from __future__ import annotations

import random

import numpy as np

from scheduler.cache.nominations import Nominations
from tests.builders import info, node, pod, state

P, Q = info(pod("p")), info(pod("q"))


def test_a_pod_is_nominated_to_one_node_at_a_time():
    nominations = Nominations()
    nominations.add(P, "a")
    nominations.add(Q, "a")
    nominations.add(P, "b")
    assert nominations.on_node("a") == [Q]
    assert (nominations.node_of(P.uid), nominations.nodes(), len(nominations)) == ("b", ["a", "b"], 2)


def test_an_empty_name_takes_the_nomination_back():
    nominations = Nominations()
    nominations.add(P, "a")
    nominations.add(P, "")
    assert (nominations.node_of(P.uid), nominations.nodes(), len(nominations)) == ("", [], 0)


def test_the_version_moves_with_every_change_and_no_other_call():
    nominations = Nominations()
    versions = [nominations.version]
    for change in (lambda: nominations.add(P, "a"), lambda: nominations.remove(P.uid)):
        change()
        versions.append(nominations.version)
    nominations.remove(P.uid)
    assert len(set(versions)) == 3
    assert nominations.version == versions[-1]


class TestRivals:
    def rivals(self, cluster, wanted):
        found = cluster.nominations.rivals(wanted, cluster.nodes, cluster.pods)
        names = [cluster.nodes.name(row) for row in found.rows.tolist()]
        amounts = [found.usages[index].requests["cpu"] for index in found.taken.tolist()]
        return sorted(zip(names, amounts, strict=True))

    def nominate(self, cluster, name, where, priority=0, cpu="1"):
        other = info(pod(name).priority(priority).cpu(cpu), cluster)
        cluster.nominations.add(other, where)
        return other

    def test_are_those_that_matter_as_much_or_more(self):
        cluster = state([node("a"), node("b")])
        for priority in (4, 5, 6):
            self.nominate(cluster, f"p{priority}", "a", priority, cpu=str(priority))
        self.nominate(cluster, "q", "b", 5, cpu="2")
        assert self.rivals(cluster, info(pod("x").priority(5))) == [("a", 5000), ("a", 6000), ("b", 2000)]

    def test_the_pod_is_not_its_own(self):
        cluster = state([node("a")])
        own = self.nominate(cluster, "p", "a")
        assert self.rivals(cluster, own) == []

    def test_are_on_nodes_that_are_there(self):
        cluster = state([node("a")])
        self.nominate(cluster, "p", "b")
        assert self.rivals(cluster, Q) == []
        cluster.set_node(node("b").build())
        assert self.rivals(cluster, Q) == [("b", 1000)]
        cluster.remove_node("b")
        assert self.rivals(cluster, Q) == []

    def test_do_not_count_twice_once_they_are_assigned(self):
        cluster = state([node("a")])
        other = self.nominate(cluster, "p", "a")
        cluster.assume(other, "a")
        assert self.rivals(cluster, Q) == []

    def test_follow_every_change_of_the_nominations(self):
        cluster, numbers = state([node(name) for name in "abc"]), random.Random(3)
        for step in range(400):
            name = f"p{numbers.randrange(40)}"
            if numbers.random() < 0.6:
                self.nominate(cluster, name, numbers.choice("abc"), numbers.randrange(3), cpu=str(step % 7 + 1))
            else:
                cluster.nominations.remove(info(pod(name)).uid)
            expected = [
                (where, other.usage.requests["cpu"])
                for where in cluster.nominations.nodes()
                for other in cluster.nominations.on_node(where)
                if other.priority >= 1
            ]
            assert self.rivals(cluster, info(pod("x").priority(1))) == sorted(expected)

    def test_can_be_cut_down_to_some_rows(self):
        cluster = state([node("a"), node("b")])
        self.nominate(cluster, "p", "a")
        self.nominate(cluster, "q", "b", cpu="2")
        wanted = np.array([name == "b" for name in cluster.nodes.rows])
        found = cluster.nominations.rivals(info(pod("x")), cluster.nodes, cluster.pods).on(wanted)
        assert found.rows.tolist() == [cluster.nodes.rows["b"]]
