"""Scores from one column of the node table, and their sum."""

from __future__ import annotations

from scheduler.cache.changes import Change
from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import ScorePlugin
from scheduler.framework.shape_cache import ShapeCache
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
