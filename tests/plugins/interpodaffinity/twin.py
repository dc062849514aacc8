"""InterPodAffinity node by node and pod by pod, straight from the formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.api.selectors import compile_label_selector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.api.objects import Node, Pod, PodAffinityTerm
    from tests.plugins.clusters import Cluster

Namespaces = "Mapping[str, Mapping[str, str]]"


def terms(pod: Pod, *, anti: bool) -> tuple[PodAffinityTerm, ...]:
    """The required terms of one kind."""
    affinity = pod.spec.affinity
    kind = affinity and (affinity.pod_anti_affinity if anti else affinity.pod_affinity)
    return kind.required_during_scheduling_ignored_during_execution if kind else ()


def preferences(pod: Pod) -> Iterator[tuple[PodAffinityTerm, int]]:
    """The preferred terms with their weights, negative for anti-affinity."""
    affinity = pod.spec.affinity
    if affinity is not None:
        for kind, sign in ((affinity.pod_affinity, 1), (affinity.pod_anti_affinity, -1)):
            for item in kind.preferred_during_scheduling_ignored_during_execution if kind else ():
                yield item.pod_affinity_term, sign * item.weight


def matches(term: PodAffinityTerm, owner: Pod, other: Pod, namespaces: Namespaces, *, incoming: bool) -> bool:
    """Whether a term of `owner` is about `other`.

    If the owner is the incoming pod, its namespace selector sees namespaces that exist; if the other one is, that one's
    namespace may be without an object, and then has no labels.
    """
    namespace = other.metadata.namespace
    if not term.namespaces and term.namespace_selector is None:
        there = namespace == owner.metadata.namespace
    else:
        selector = compile_label_selector(term.namespace_selector)
        known = selector.empty or namespace in namespaces or not incoming
        there = namespace in term.namespaces or (known and selector.matches(namespaces.get(namespace, {})))
    return there and compile_label_selector(term.label_selector).matches(other.metadata.labels)


def filter_code(pod: Pod, cluster: Cluster, node: Node, namespaces: Namespaces) -> int:
    """0 if the pod fits, else 1 affinity, 2 own anti-affinity, 3 anti-affinity of existing pods."""
    wanted, unwanted = terms(pod, anti=False), terms(pod, anti=True)

    def all_match(other: Pod) -> bool:
        return all(matches(term, pod, other, namespaces, incoming=True) for term in wanted)

    if wanted:
        company = [(there, other) for there, other in _placed(cluster) if all_match(other)]
        if any(term.topology_key not in node.metadata.labels for term in wanted):
            return 1
        near = all(any(_together(term, node, there) for there, _ in company) for term in wanted)
        anywhere = any(term.topology_key in there.metadata.labels for there, _ in company for term in wanted)
        if not near and (anywhere or not all_match(pod)):
            return 1
    for there, other in _placed(cluster):
        if any(_together(t, node, there) and matches(t, pod, other, namespaces, incoming=True) for t in unwanted):
            return 2
    for there, other in _placed(cluster):
        theirs = terms(other, anti=True)
        if any(_together(t, node, there) and matches(t, other, pod, namespaces, incoming=False) for t in theirs):
            return 3
    return 0


def has_rules(pod: Pod, cluster: Cluster, namespaces: Namespaces) -> bool:
    """Whether Filter has anything to look at: own required terms, or a domain that an existing pod keeps it off."""
    return bool(terms(pod, anti=False) or terms(pod, anti=True)) or any(
        t.topology_key in there.metadata.labels and matches(t, other, pod, namespaces, incoming=False)
        for there, other in _placed(cluster)
        for t in terms(other, anti=True)
    )


def scores(
    pod: Pod, cluster: Cluster, feasible: list[str], namespaces: Namespaces, hard_weight: int
) -> dict[str, tuple[int, int]] | None:
    """Raw and normalized score of each feasible node; None if no term matches a pod in any domain."""
    by_pair: dict[tuple[str, str], int] = {}

    def add(term: PodAffinityTerm, weight: int, there: Node) -> None:
        value = there.metadata.labels.get(term.topology_key)
        if value is not None:
            by_pair[term.topology_key, value] = by_pair.get((term.topology_key, value), 0) + weight

    for there, other in _placed(cluster):
        for term, weight in preferences(pod):
            if matches(term, pod, other, namespaces, incoming=True):
                add(term, weight, there)
        theirs = [*preferences(other), *((term, hard_weight) for term in terms(other, anti=False) if hard_weight)]
        for term, weight in theirs:
            if matches(term, other, pod, namespaces, incoming=False):
                add(term, weight, there)
    if not by_pair:
        return None
    raw = {name: sum(by_pair.get(pair, 0) for pair in cluster.nodes[name].metadata.labels.items()) for name in feasible}
    lowest, highest = min(raw.values()), max(raw.values())
    spread = highest - lowest
    return {
        name: (score, int(100.0 * (float(score - lowest) / float(spread))) if spread else 0)
        for name, score in raw.items()
    }


def _placed(cluster: Cluster) -> Iterator[tuple[Node, Pod]]:
    for pod in cluster.pods.values():
        node = cluster.nodes.get(pod.spec.node_name)
        if node is not None:
            yield node, pod


def _together(term: PodAffinityTerm, one: Node, other: Node) -> bool:
    """Whether two nodes are in the same domain of a term."""
    value = one.metadata.labels.get(term.topology_key)
    return value is not None and value == other.metadata.labels.get(term.topology_key)
