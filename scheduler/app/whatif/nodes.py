"""Nodes that come, go, or take no more pods."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from scheduler.api.objects import CSINode, Node, NodeStatus, Pod, Taint, VolumeAttachment
from scheduler.api.topology_labels import HOSTNAME_LABEL
from scheduler.app.whatif.pods import belongs_to_node, pods_by_node, take_off
from scheduler.app.whatif.selection import matches
from scheduler.app.whatif.world import ChangeError, find_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scheduler.app.whatif.world import World

UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"
_CONDITION_TAINTS: Final = "node.kubernetes.io/"
_AUTOSCALER_TAINTS: Final = ("ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler")


class AddNodes(msgspec.Struct, frozen=True):
    """So many nodes like one that there is, with the pods of its DaemonSets and its static pods on them.

    They come empty otherwise: not cordoned, without taints about their condition, and with no image on them.
    """

    count: int
    like: str

    def apply(self, world: World) -> str:
        """Make the nodes, behind those that there are."""
        if self.count < 1:
            raise ChangeError(f"{self.count} nodes can't be added")
        node = _one(world, self.like)
        own = [pod for pod in pods_by_node(world).get(node.metadata.name, ()) if belongs_to_node(pod)]
        csi = world.of(CSINode).get(("", node.metadata.name))
        for _ in range(self.count):
            name = world.free_name(Node, "", f"{node.metadata.name}-new")
            world.put(_fresh(node, name, world.uid()))
            if csi is not None:
                world.put(replace(csi, metadata=replace(csi.metadata, name=name, uid=world.uid())))
            for pod in own:
                world.put(_moved(pod, name, world))
        kept = f" with {len(own)} daemon or static pod{_s(len(own))} each" if own else ""
        return f"added {self.count} node{_s(self.count)} like {node.metadata.name}{kept}"


class Cordon(msgspec.Struct, frozen=True):
    """Nodes that take no more pods."""

    nodes: str

    def apply(self, world: World) -> str:
        """Mark the nodes as kubectl and the node controller do."""
        found = find_nodes(world, self.nodes)
        for node in found:
            world.put(_cordoned(node))
        return f"cordoned {_named(found)}"


class Uncordon(msgspec.Struct, frozen=True):
    """Nodes that take pods again."""

    nodes: str

    def apply(self, world: World) -> str:
        """Take the marks away."""
        found = find_nodes(world, self.nodes)
        for node in found:
            taints = tuple(taint for taint in node.spec.taints if taint.key != UNSCHEDULABLE)
            world.put(replace(node, spec=replace(node.spec, unschedulable=False, taints=taints)))
        return f"uncordoned {_named(found)}"


class Drain(msgspec.Struct, frozen=True):
    """Nodes that are cordoned and lose their pods, but for daemon and static ones. Budgets are not asked."""

    nodes: str

    def apply(self, world: World) -> str:
        """Make the pods pending again."""
        found = find_nodes(world, self.nodes)
        there = pods_by_node(world)
        leaving = [p for node in found for p in there.get(node.metadata.name, ()) if not belongs_to_node(p)]
        for node in found:
            world.put(_cordoned(node))
        count = take_off(world, leaving)
        return f"drained {_named(found)}: {count} pod{_s(count)} to place again"


class WithoutNode(msgspec.Struct, frozen=True):
    """Nodes that are gone, with their daemon and static pods; the other pods become pending again."""

    nodes: str

    def apply(self, world: World) -> str:
        """Remove the nodes and what belongs to them."""
        found = find_nodes(world, self.nodes)
        there = pods_by_node(world)
        gone = {node.metadata.name for node in found}
        pods = [pod for name in gone for pod in there.get(name, ())]
        for pod in pods:
            if belongs_to_node(pod):
                world.drop(pod)
        order = {key: place for place, key in enumerate(world.pods)}
        leaving = [pod for pod in pods if not belongs_to_node(pod)]
        leaving.sort(key=lambda pod: order[pod.metadata.namespace or "default", pod.metadata.name])
        count = take_off(world, leaving)
        for node in found:
            world.drop(node)
            if (csi := world.of(CSINode).get(("", node.metadata.name))) is not None:
                world.drop(csi)
        for attachment in [a for a in world.of(VolumeAttachment).values() if a.spec.node_name in gone]:
            world.drop(attachment)
        return f"without {_named(found)}: {count} pod{_s(count)} to place again"


class RemoveTaint(msgspec.Struct, frozen=True):
    """A taint of nodes, by key and, unless it is "", effect; the nodes by name, glob or label selector."""

    nodes: str
    key: str
    effect: str = ""

    def apply(self, world: World) -> str:
        """Remove it from each of the nodes that has it."""
        found = matches(world, self.nodes)
        tainted = [node for node in found if any(map(self._is_it, node.spec.taints))]
        shown = f"{self.key}:{self.effect}" if self.effect else self.key
        if not tainted:
            keys = sorted({taint.key for node in found for taint in node.spec.taints})
            there = f"; their taints are {', '.join(keys)}" if keys else "; they have no taints"
            raise ChangeError(
                f"none of the {len(found)} node{_s(len(found))} {self.nodes!r} has a taint {shown}{there}"
            )
        for node in tainted:
            taints = tuple(taint for taint in node.spec.taints if not self._is_it(taint))
            world.put(replace(node, spec=replace(node.spec, taints=taints)))
        return f"removed the taint {shown} from {_named(tainted)}"

    def _is_it(self, taint: Taint) -> bool:
        return taint.key == self.key and self.effect in ("", taint.effect)


class Reschedule(msgspec.Struct, frozen=True):
    """Running pods, by a glob over namespace/name, to be placed anew: where would they go today?"""

    pods: str = "*"

    def apply(self, world: World) -> str:
        """Take the pods off their nodes, in the order of their coming."""
        pattern = self.pods if "/" in self.pods or self.pods == "*" else f"{self.pods}/*"
        running = [pod for pods in pods_by_node(world).values() for pod in pods if not belongs_to_node(pod)]
        chosen = {id(p) for p in running if fnmatchcase(f"{p.metadata.namespace}/{p.metadata.name}", pattern)}
        if not chosen:
            raise ChangeError(f"no running pod matches {pattern!r}, which stands for namespace/name")
        count = take_off(world, [pod for pod in world.pods.values() if id(pod) in chosen])
        return f"{count} running pod{_s(count)} to place anew"


def _one(world: World, name: str) -> Node:
    found = find_nodes(world, name)
    if len(found) > 1:
        raise ChangeError(f"{name!r} matches {len(found)} nodes; name one for the new ones to be like")
    return found[0]


def _fresh(like: Node, name: str, uid: str) -> Node:
    before = like.metadata.name
    # Whatever label repeats the name (the hostname does) repeats the new one.
    labels = {key: name if value == before else value for key, value in like.metadata.labels.items()}
    if HOSTNAME_LABEL in labels:
        labels[HOSTNAME_LABEL] = name
    metadata = replace(like.metadata, name=name, uid=uid, labels=labels, creation_timestamp=None)
    taints = tuple(taint for taint in like.spec.taints if not _of_condition(taint))
    status = NodeStatus(
        capacity=like.status.capacity,
        allocatable=like.status.allocatable,
        declared_features=like.status.declared_features,
    )
    return Node(metadata=metadata, spec=replace(like.spec, unschedulable=False, taints=taints), status=status)


def _of_condition(taint: Taint) -> bool:
    """Whether the taint tells of the state that one node is in, rather than of its kind."""
    return taint.key.startswith(_CONDITION_TAINTS) or taint.key in _AUTOSCALER_TAINTS


def _moved(pod: Pod, node: str, world: World) -> Pod:
    metadata = replace(pod.metadata, uid=world.uid())
    metadata = replace(metadata, name=world.free_name(Pod, metadata.namespace or "default", metadata.name))
    return replace(pod, metadata=metadata, spec=replace(pod.spec, node_name=node))


def _cordoned(node: Node) -> Node:
    taints = node.spec.taints
    if all(taint.key != UNSCHEDULABLE for taint in taints):
        taints = (*taints, Taint(key=UNSCHEDULABLE, effect="NoSchedule"))
    return replace(node, spec=replace(node.spec, unschedulable=True, taints=taints))


def _named(nodes: Iterable[Node]) -> str:
    names = [node.metadata.name for node in nodes]
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} nodes"


def _s(count: int) -> str:
    return "" if count == 1 else "s"
