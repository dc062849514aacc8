"""Which events may help a pod that breaks a spread constraint (podtopologyspread/plugin.go, EventsToRegister)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from scheduler.api.selectors import SelectorError
from scheduler.framework.events import ActionType, EventHint, EventResource, QueueingHint

if TYPE_CHECKING:
    from scheduler.api.objects import Node
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.shapes import PodShape
    from scheduler.plugins.podtopologyspread.constraints import Constraint

Constraints = tuple["Constraint", ...]
HardConstraints = Callable[["PodShape"], Constraints]
Labels = Mapping[str, str]


def events(hard: HardConstraints) -> list[EventHint]:
    """The events and their hints. `hard` gives the DoNotSchedule constraints of a shape, or raises SelectorError."""
    return [
        EventHint(
            EventResource.ASSIGNED_POD,
            ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.DELETE,
            partial(after_assigned_pod, hard),
        ),
        EventHint(
            EventResource.TARGET_POD,
            ActionType.UPDATE_POD_TOLERATION | ActionType.UPDATE_POD_LABEL,
            partial(after_target_pod, hard),
        ),
        EventHint(
            EventResource.NODE,
            ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_TAINT,
            partial(after_node, hard),
        ),
    ]


def after_assigned_pod(hard: HardConstraints, pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> QueueingHint:
    """A pod of the namespace came or went that a constraint counts, or its labels make it count or no longer."""
    if not all(_involved(other, pod) for other in (old, new) if other is not None):
        return QueueingHint.SKIP
    try:
        constraints = hard(pod.shape)
    except SelectorError:
        return QueueingHint.QUEUE
    if old is not None and new is not None:
        return _after_labels(constraints, old.shape.labels, new.shape.labels)
    other = new if new is not None else old
    assert other is not None
    labels = other.shape.labels
    return _hint(any(constraint.selector.matches(labels) for constraint in constraints))


def after_target_pod(hard: HardConstraints, pod: PodInfo, old: PodInfo, new: PodInfo) -> QueueingHint:
    """The pod itself tolerates more where taints matter, or its labels make it count or no longer."""
    try:
        constraints = hard(pod.shape)
    except SelectorError:
        return QueueingHint.QUEUE
    if old.shape.pod.spec.tolerations != new.shape.pod.spec.tolerations and any(
        constraint.honor_taints for constraint in constraints
    ):
        return QueueingHint.QUEUE
    return _after_labels(constraints, old.shape.labels, new.shape.labels)


def after_node(hard: HardConstraints, pod: PodInfo, old: Node | None, new: Node | None) -> QueueingHint:
    """A node with all topology keys came, went, got other domains or taints, or has them all now or no longer."""
    try:
        constraints = hard(pod.shape)
    except SelectorError:
        return QueueingHint.QUEUE
    had = old is not None and _has_all_keys(old, constraints)
    has = new is not None and _has_all_keys(new, constraints)
    if old is None or new is None:
        return _hint(had or has)
    if had != has:
        return QueueingHint.QUEUE
    moved = any(_value(old, constraint) != _value(new, constraint) for constraint in constraints)
    return _hint(has and (moved or old.spec.taints != new.spec.taints))


def _hint(queue: bool) -> QueueingHint:
    return QueueingHint.QUEUE if queue else QueueingHint.SKIP


def _involved(other: PodInfo, pod: PodInfo) -> bool:
    """Whether the other pod is placed, or about to be, and counts for the pod's constraints by its namespace."""
    return bool(other.node_name or other.nominated_node_name) and other.namespace == pod.namespace


def _after_labels(constraints: Constraints, old: Labels, new: Labels) -> QueueingHint:
    return _hint(
        old != new
        and any(constraint.selector.matches(old) != constraint.selector.matches(new) for constraint in constraints)
    )


def _has_all_keys(node: Node, constraints: Constraints) -> bool:
    return all(constraint.topology_key in node.metadata.labels for constraint in constraints)


def _value(node: Node, constraint: Constraint) -> str:
    return node.metadata.labels.get(constraint.topology_key, "")
