"""A change that may help, as data: what of the pod, the nodes, other pods and objects would be different."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from scheduler.api.objects import Node, Pod
from scheduler.cache.pods import PodInfo  # noqa: TC001 - msgspec resolves annotations at run time
from scheduler.explain.whynot.wording import open_, opens

EditPod = Callable[[Pod], Pod]
EditNode = Callable[[Node], Node]
Text = Callable[[Sequence[str]], str]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change that may let a pod be placed.

    - `kind`, `details`: what it is, for machines (see `views.Help`); `cost` orders: the lower, the smaller the change.
    - `what`: what it is in words, given the nodes that take the pod then, and `effect` what follows in the sentence.
    - `solves`: the plugins whose verdict it is meant to change.
    - `pod`, `nodes`: edits of the pod, and of nodes by name; `new`: nodes that come.
    - `gone`, `come`: pods that go, and pods that come with new nodes (those of daemon sets).
    - `objects`: other objects, by kind, that take the place of those of their name, or come.
    - `merge`: how several changes that would do, of one option, are told as one; without it the first speaks for all.
    - `evicts`: `gone` is what the scheduler itself would do once the rest is changed.
    """

    kind: str
    details: Mapping[str, str] = {}
    cost: int
    what: Text
    effect: Text = opens
    solves: frozenset[str]
    pod: EditPod | None = None
    nodes: Mapping[str, EditNode] = {}
    new: tuple[Node, ...] = ()
    gone: tuple[PodInfo, ...] = ()
    come: tuple[PodInfo, ...] = ()
    objects: tuple[tuple[str, Any], ...] = ()
    evicts: bool = False
    merge: Callable[[Sequence[Change]], Change] | None = None

    def sentence(self, nodes: Sequence[str]) -> str:
        """The change and what comes of it, on nodes that are there without it."""
        return f"{self.what(nodes)} {self.effect(nodes) if nodes else ''}".rstrip()

    def known(self, nodes: Sequence[str]) -> list[str]:
        """The nodes that are there without the change."""
        new = {node.metadata.name for node in self.new}
        return [name for name in nodes if name not in new]

    def edited(self, pod: Pod) -> Pod:
        """The pod with this change."""
        return pod if self.pod is None else self.pod(pod)


Option = tuple[Change, ...]
"""Changes of one kind of which each would do, told as one: uncordoning this node or that."""


def both(first: Change, second: Change) -> Change:
    """Two changes as one. Edits of one thing follow each other."""
    nodes = dict(first.nodes)
    for name, edit in second.nodes.items():
        nodes[name] = _then(nodes[name], edit) if name in nodes else edit
    return Change(
        kind=f"{first.kind}+{second.kind}",
        details={**second.details, **first.details},
        cost=first.cost + second.cost + PAIR,
        what=lambda nodes: f"{first.what(nodes)} and {second.what(nodes)}",
        effect=lambda nodes: f"together {open_(nodes)}",
        solves=first.solves | second.solves,
        pod=lambda pod: second.edited(first.edited(pod)),
        nodes=nodes,
        new=(*first.new, *second.new),
        gone=tuple({pod.uid: pod for pod in (*first.gone, *second.gone)}.values()),
        come=(*first.come, *second.come),
        objects=(*first.objects, *second.objects),
        evicts=first.evicts or second.evicts,
    )


def _then(first: EditNode, second: EditNode) -> EditNode:
    return lambda node: second(first(node))


PAIR = 100
"""What it costs that two changes are needed."""
