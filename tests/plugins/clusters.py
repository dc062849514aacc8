"""Random clusters for properties: the same events applied to a `ClusterState` and to plain dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from scheduler.api.objects import Node, Pod
from scheduler.cache.nodes import NodeView
from scheduler.config.args.inter_pod_affinity import InterPodAffinityArgs
from scheduler.config.features import FeatureGates
from scheduler.framework.cycle import Cycle
from scheduler.framework.handle import Handle
from tests.builders import NodeBuilder, PodBuilder, expression, node, pod, pod_term

if TYPE_CHECKING:
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.state import ClusterState

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
RACK = "rack"
NAMESPACES = {"default": {"team": "red"}, "other": {"team": "blue"}, "third": {}}
"""All but "ghost", which pods live in without an object for it."""


class NoBinder:
    """Stands in where nothing is bound."""

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        raise AssertionError("nothing is bound here")


def handle(state: ClusterState) -> Handle:
    """What plugins are built with; all feature gates are at their defaults."""
    return Handle(state, NoBinder(), FeatureGates().enabled)


class Cluster:
    """A state, and next to it what it was told."""

    def __init__(self, state: ClusterState) -> None:
        self.state = state
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, Pod] = {}
        self.waiting: list[PodInfo] = []
        """Keeps the shapes of waiting pods alive, and with them what plugins compiled."""

    def apply(self, events: list[Node | Pod | str]) -> None:
        """Add or replace nodes and pods; a text removes the node or pod of that name, if it is there."""
        for event in events:
            if isinstance(event, Node):
                self.nodes[event.metadata.name] = event
                self.state.set_node(event)
            elif isinstance(event, Pod):
                self.pods[event.metadata.name] = event
                self.state.set_pod(self.state.info(event))
            elif event in self.pods:
                self.state.remove_pod(self.pods.pop(event).metadata.uid)
            else:
                self.nodes.pop(event, None)
                self.state.remove_node(event)

    def pods_on(self, name: str) -> list[Pod]:
        """The pods assigned to a node."""
        return [pod for pod in self.pods.values() if pod.spec.node_name == name]

    def by_name(self, vector, view: NodeView) -> dict[str, int]:
        """A plugin's answer by the names of the nodes that are there."""
        rows = view.indices.tolist()
        live = self.state.nodes.live
        return {self.state.nodes.name(row): int(vector[i]) for i, row in enumerate(rows) if live[row]}


def filter_codes(plugin, cluster: Cluster, cycle: Cycle) -> dict[str, int] | None:
    """The plugin's verdict on each node, None if it skips the pod."""
    status = plugin.pre_filter(cycle)
    if status is not None:
        return None
    codes = plugin.filter(cycle, cycle.nodes)
    return cluster.by_name([0] * len(cycle.nodes) if codes is None else codes, cycle.nodes)


def node_scores(plugin, cluster: Cluster, cycle: Cycle, feasible: list[str]) -> dict[str, tuple[int, int]] | None:
    """The plugin's raw and normalized score of each feasible node, None if it skips the pod."""
    cycle.feasible = np.array([cluster.state.nodes.rows[name] for name in feasible], np.intp)
    view = NodeView(cluster.state.nodes, cycle.feasible)
    if plugin.pre_score(cycle, view) is not None:
        return None
    raw = plugin.score(cycle, view)
    final = plugin.normalize(cycle, raw)
    return {name: (int(raw[i]), int(final[i])) for i, name in enumerate(feasible)}


def cycle_for(cluster: Cluster, incoming: Pod) -> Cycle:
    """An attempt to place a pod."""
    info = cluster.state.info(incoming)
    cluster.waiting.append(info)
    return Cycle(info, cluster.state, "default-scheduler")


# strategies

_names = st.sampled_from([f"n{i}" for i in range(6)])
_maybe = st.sampled_from


@st.composite
def nodes(draw) -> Node:
    """A node with or without each of the topology labels."""
    built: NodeBuilder = node(draw(_names))
    host = draw(_maybe(["own", "own", "own", "shared", None]))
    if host != "own":
        labels = {k: v for k, v in built.get("metadata.labels", {}).items() if k != HOST}
        built = built.set("metadata.labels", labels if host is None else {**labels, HOST: host})
    for key, values in ((ZONE, ["z0", "z1", "z2", "", None]), (RACK, ["r0", "r1", None]), ("disk", ["ssd", None])):
        value = draw(_maybe(values))
        if value is not None:
            built = built.label({key: value})
    if draw(st.booleans()):
        built = built.taint("gpu", effect=draw(_maybe(["NoSchedule", "NoExecute", "PreferNoSchedule"])))
    return built.build()


_labels = st.fixed_dictionaries({"app": _maybe(["a", "a", "b"])}, optional={"version": _maybe(["1", "2"])})
_namespaces = _maybe([*NAMESPACES, "ghost", *["default"] * 6])


@st.composite
def selectors(draw) -> dict | None:
    """A label selector: none, empty, or on the labels that pods have."""
    return draw(
        _maybe(
            [
                None,
                {},
                {"matchLabels": {"app": "a"}},
                {"matchLabels": {"app": "a"}},
                {"matchLabels": {"app": "b", "version": "1"}},
                {"matchExpressions": [expression("version", "NotIn", "1")]},
                {"matchExpressions": [expression("app", "Exists")]},
            ]
        )
    )


@st.composite
def affinity_terms(draw) -> dict:
    """A pod affinity term."""
    fields: dict = {"labelSelector": draw(selectors())}
    fields["namespaces"] = draw(_maybe([[], [], ["other"], ["ghost", "default"]]))
    fields["namespaceSelector"] = draw(
        _maybe(
            [
                None,
                None,
                {},
                {"matchLabels": {"team": "blue"}},
                {"matchExpressions": [expression("team", "DoesNotExist")]},
            ]
        )
    )
    return pod_term(draw(_maybe([HOST, ZONE, ZONE, RACK])), **fields)


def _pod(draw, name: str) -> PodBuilder:
    return pod(name).namespace(draw(_namespaces)).label(draw(_labels))


@st.composite
def affine(draw, built: PodBuilder) -> PodBuilder:
    """The pod with affinity terms of all sorts, or none."""
    for anti in (False, True):
        required = draw(st.lists(affinity_terms(), max_size=2))
        if required:
            built = built.requires_pods(*required, anti=anti)
        for wanted in draw(st.lists(affinity_terms(), max_size=2)):
            built = built.prefers_pods(draw(st.integers(1, 100)), wanted, anti=anti)
    return built


@st.composite
def assigned_pods(draw, *, with_affinity: bool = False) -> Pod:
    """A pod on a node that may not be there."""
    built = _pod(draw, draw(_maybe([f"p{i}" for i in range(9)]))).on(draw(_names))
    if draw(st.integers(0, 4)) == 0:
        built = built.terminating()
    return (draw(affine(built)) if with_affinity and draw(st.booleans()) else built).build()


@st.composite
def spreading_pods(draw, *, soft: bool) -> Pod:
    """A waiting pod with hard or soft spread constraints (and maybe one of the other sort), a picky one or not."""
    built = _pod(draw, "incoming")
    for index in range(draw(st.integers(1, 3))):
        fields: dict = {"labelSelector": draw(selectors())}
        fields["matchLabelKeys"] = draw(_maybe([[], [], ["version"], ["absent"]]))
        fields["nodeAffinityPolicy"] = draw(_maybe([None, "Honor", "Ignore"]))
        fields["nodeTaintsPolicy"] = draw(_maybe([None, "Honor", "Ignore"]))
        other = index == 2 and draw(st.booleans())
        if soft is other:
            fields["minDomains"] = draw(_maybe([None, 1, 2, 3]))
        built = built.spreads(
            draw(_maybe([HOST, ZONE, RACK])), draw(_maybe([1, 1, 2, 3])), soft=soft is not other, **fields
        )
    return draw(picky(built)).build()


@st.composite
def picky(draw, built: PodBuilder) -> PodBuilder:
    """The pod with a node selector, node affinity or toleration, or none."""
    if draw(st.booleans()):
        built = built.node_selector(disk="ssd")
    if draw(st.booleans()):
        wanted = draw(_maybe([expression(ZONE, "In", "z0", "z1"), expression(RACK, "DoesNotExist")]))
        named = {"key": "metadata.name", "operator": draw(_maybe(["In", "NotIn"])), "values": ["n0"]}
        built = built.requires_node({"matchExpressions": [wanted]}, {"matchFields": [named]})
    if draw(st.booleans()):
        built = built.tolerates("gpu", effect=draw(_maybe(["", "NoSchedule"])))
    return built


@st.composite
def affine_pods(draw) -> Pod:
    """A waiting pod with or without affinity terms."""
    return draw(affine(_pod(draw, "incoming"))).build()


@st.composite
def plain_pods(draw) -> Pod:
    """A waiting pod of app "a" without constraints on other pods."""
    return draw(picky(_pod(draw, "incoming").label(app="a"))).build()


def events(*, with_affinity: bool = False) -> st.SearchStrategy[list[Node | Pod | str]]:
    """What happens to a cluster: nodes and pods come, change and go."""
    gone = st.one_of(_names, _maybe([f"p{i}" for i in range(9)]))
    pods = assigned_pods(with_affinity=with_affinity)
    parts = st.tuples(
        st.lists(nodes(), min_size=3, max_size=8),
        st.lists(pods, min_size=2, max_size=9),
        st.lists(st.one_of(nodes(), pods, gone), max_size=6),
    )
    return parts.map(lambda found: [event for part in found for event in part])


def affinity_args() -> st.SearchStrategy[InterPodAffinityArgs]:
    """Arguments of InterPodAffinity."""
    return st.builds(
        InterPodAffinityArgs,
        hard_pod_affinity_weight=_maybe([0, 1, 7]),
        ignore_preferred_terms_of_existing_pods=st.booleans(),
    )
