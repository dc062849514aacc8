"""PodTopologySpread node by node and pod by pod, straight from the formulas."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scheduler.api.nodeaffinity import required_node_affinity
from scheduler.api.selectors import compile_label_selector, selector_from_set
from scheduler.api.tolerations import find_untolerated
from tests.plugins.clusters import HOST, Cluster

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scheduler.api.objects import Node, Pod, TopologySpreadConstraint


class Rule:
    """One constraint of a pod."""

    def __init__(self, constraint: TopologySpreadConstraint, pod: Pod) -> None:
        self.constraint = constraint
        self.key = constraint.topology_key
        self.pod = pod
        self.selector = compile_label_selector(constraint.label_selector)
        labels = pod.metadata.labels
        same = {key: labels[key] for key in constraint.match_label_keys if key in labels}
        self.selector = self.selector.with_requirements(selector_from_set(same).requirements)

    def includes(self, node: Node) -> bool:
        """Whether the inclusion policies let a node count."""
        spec = self.pod.spec
        if self.constraint.node_affinity_policy in (None, "Honor"):
            affinity = required_node_affinity(spec.node_selector, spec.affinity)
            if not affinity.matches(node.metadata.labels, node.metadata.name):
                return False
        return self.constraint.node_taints_policy != "Honor" or not find_untolerated(node.spec.taints, spec.tolerations)

    def count(self, pods: Iterable[Pod]) -> int:
        """How many of the pods count."""
        if self.selector.empty:
            return 0
        namespace = self.pod.metadata.namespace
        return sum(
            pod.metadata.deletion_timestamp is None
            and pod.metadata.namespace == namespace
            and self.selector.matches(pod.metadata.labels)
            for pod in pods
        )


def rules(pod: Pod, constraints: Iterable[TopologySpreadConstraint], action: str) -> list[Rule]:
    """The constraints with one whenUnsatisfiable."""
    return [Rule(constraint, pod) for constraint in constraints if constraint.when_unsatisfiable == action]


def has_all_keys(node: Node, hard: list[Rule]) -> bool:
    return all(rule.key in node.metadata.labels for rule in hard)


def filter_code(hard: list[Rule], cluster: Cluster, node: Node) -> int:
    """0 if the pod fits on the node, 1 if the skew would be too large, 2 if a label is missing."""
    for rule in hard:
        if rule.key not in node.metadata.labels:
            return 2
        counts: dict[str, int] = {}
        for other in cluster.nodes.values():
            if has_all_keys(other, hard) and rule.includes(other):
                value = other.metadata.labels[rule.key]
                counts[value] = counts.get(value, 0) + rule.count(cluster.pods_on(other.metadata.name))
        wanted = rule.constraint.min_domains
        minimum = 0 if len(counts) < (1 if wanted is None else wanted) else min(counts.values())
        itself = 1 if rule.selector.matches(rule.pod.metadata.labels) else 0
        if counts.get(node.metadata.labels[rule.key], 0) + itself - minimum > rule.constraint.max_skew:
            return 1
    return 0


def scores(soft: list[Rule], cluster: Cluster, feasible: list[str], *, require_all: bool) -> dict[str, tuple[int, int]]:
    """Raw and normalized score of each feasible node."""
    scored = [name for name in feasible if not require_all or has_all_keys(cluster.nodes[name], soft)]
    raw = {name: _raw(soft, cluster, name, scored, require_all=require_all) for name in scored}
    lowest, highest = min(raw.values(), default=0), max(raw.values(), default=0)
    final = {name: 100 if highest == 0 else 100 * (highest + lowest - score) // highest for name, score in raw.items()}
    return {name: (raw.get(name, 0), final.get(name, 0)) for name in feasible}


def _raw(soft: list[Rule], cluster: Cluster, name: str, scored: list[str], *, require_all: bool) -> int:
    total = 0.0
    labels = cluster.nodes[name].metadata.labels
    for rule in soft:
        if rule.key not in labels:
            continue
        if rule.key == HOST:
            domains = len(scored)
            count = rule.count(cluster.pods_on(name))
        else:
            values = {cluster.nodes[other].metadata.labels.get(rule.key, "") for other in scored}
            domains = len(values)
            count = sum(
                rule.count(cluster.pods_on(other.metadata.name))
                for other in cluster.nodes.values()
                if rule.includes(other)
                and (not require_all or has_all_keys(other, soft))
                and other.metadata.labels.get(rule.key, "") == labels[rule.key]
            )
        total += count * math.log(domains + 2) + (rule.constraint.max_skew - 1)
    return math.floor(total + 0.5)
