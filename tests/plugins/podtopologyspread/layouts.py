"""Small clusters in a line of text, for tables of spread situations.

Nodes are words such as "a/z1" (node a in zone z1) or "a" (no zone). After the name may come "*" for the label disk=ssd,
"!" for a taint, and "-" for no hostname label. Pods are the letters of the nodes that they run on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.builders import node, pod
from tests.plugins.clusters import HOST, Cluster

if TYPE_CHECKING:
    from tests.builders import NodeBuilder, PodBuilder

FOUR = "a/z1 b/z1 x/z2 y/z2"
SLOT = "slot"
"""A label that each node has a value of its own for, and that is not the hostname."""
WEB = {"matchLabels": {"app": "web"}}
DATA = {"matchLabels": {"role": "data"}}
IS_WEB, IS_DATA = {"app": "web"}, {"role": "data"}


def nodes_of(text: str) -> list[NodeBuilder]:
    """The nodes of a line."""
    built = []
    for word in text.split():
        name, _, zone = word.partition("/")
        letter, marks = name[0], name[1:]
        each = node(letter).label({SLOT: letter})
        if "-" in marks:
            labels = {key: value for key, value in each.get("metadata.labels", {}).items() if key not in (HOST, SLOT)}
            each = each.set("metadata.labels", labels)
        if "*" in marks:
            each = each.label(disk="ssd")
        if "!" in marks:
            each = each.taint("reserved")
        built.append(each.zone(zone) if zone else each)
    return built


def pods_of(web: str = "", data: str = "", both: str = "") -> list[PodBuilder]:
    """Pods labelled app=web, role=data, or both, one for each letter of a node."""
    kinds = ((web, IS_WEB), (data, IS_DATA), (both, {**IS_WEB, **IS_DATA}))
    built = []
    for letters, labels in kinds:
        for letter in letters:
            built.append(pod(f"q{len(built)}").label(labels).on(letter))
    return built


def cluster_of(nodes: str, pods: list[PodBuilder], state) -> Cluster:
    """A cluster of these nodes and pods, in an empty state."""
    cluster = Cluster(state)
    cluster.apply([each.build() for each in (*nodes_of(nodes), *pods)])
    return cluster
