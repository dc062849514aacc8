"""Pods that are pinned to one node by required node affinity, as those of a DaemonSet are.

Source: pkg/controller/daemon/util/daemonset_util.go, ReplaceDaemonSetPodNodeNameNodeAffinity.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from scheduler.api.nodeaffinity import required_node_selector
from scheduler.api.objects import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
)

_NAME: Final = "metadata.name"
_IN: Final = "In"


def pin_of(affinity: Affinity | None) -> str:
    """The node that each term of the required node affinity names, as its only match field; "" if there is none."""
    terms = _required_terms(affinity)
    pin = ""
    for term in terms:
        if len(term.match_fields) != 1:
            return ""
        field = term.match_fields[0]
        if field.key != _NAME or field.operator != _IN or len(field.values) != 1 or pin not in ("", field.values[0]):
            return ""
        pin = field.values[0]
    return pin


def pinned_to(pod: Pod, node: str) -> Pod:
    """The pod with each term of its required node affinity, at least one, naming a node and no other field."""
    return _with_match_fields(pod, (NodeSelectorRequirement(key=_NAME, operator=_IN, values=(node,)),))


def without_pin(pod: Pod) -> Pod:
    """A pod that is pinned, without that: its terms have no match fields."""
    return _with_match_fields(pod, ())


def _required_terms(affinity: Affinity | None) -> tuple[NodeSelectorTerm, ...]:
    required = required_node_selector(affinity)
    return required.node_selector_terms if required is not None else ()


def _with_match_fields(pod: Pod, fields: tuple[NodeSelectorRequirement, ...]) -> Pod:
    affinity = pod.spec.affinity or Affinity()
    terms = _required_terms(affinity) or (NodeSelectorTerm(),)
    required = NodeSelector(node_selector_terms=tuple([replace(term, match_fields=fields) for term in terms]))
    node_affinity = replace(
        affinity.node_affinity or NodeAffinity(), required_during_scheduling_ignored_during_execution=required
    )
    return replace(pod, spec=replace(pod.spec, affinity=replace(affinity, node_affinity=node_affinity)))
