"""Which events may help a pod that an affinity rule keeps off (interpodaffinity/plugin.go, EventsToRegister).

Namespace selectors are not resolved here: as in kube-scheduler, they look at an empty set of labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.framework.events import ActionType, EventHint, EventResource, QueueingHint
from scheduler.plugins.interpodaffinity.terms import all_match, any_matches

if TYPE_CHECKING:
    from scheduler.api.objects import Node
    from scheduler.cache.pods import PodInfo


def after_assigned_pod(pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> QueueingHint:
    """A wanted pod came, an unwanted one (or one that doesn't want this pod) went, or labels changed to that effect."""
    if any(other is not None and not (other.node_name or other.nominated_node_name) for other in (old, new)):
        return QueueingHint.SKIP
    if pod.shape.error:
        return QueueingHint.QUEUE
    if new is None:
        assert old is not None
        return _hint(_unwanted(pod, old) or _unwanted(old, pod))
    if old is None:
        return _hint(_wanted(pod, new))
    return _hint((not _wanted(pod, old) and _wanted(pod, new)) or (_unwanted(pod, old) and not _unwanted(pod, new)))


def after_node(pod: PodInfo, old: Node | None, new: Node) -> QueueingHint:
    """A node came that may do, or changed its domain for some term."""
    if pod.shape.error:
        return QueueingHint.QUEUE
    terms = pod.shape.terms
    labels = new.metadata.labels
    if old is None:
        return _hint(bool(terms.required_anti) or any(term.topology_key in labels for term in terms.required))
    before = old.metadata.labels
    near = {term.topology_key for term in terms.required}
    apart = {term.topology_key for term in terms.required_anti}
    joined = any(key not in before and key in labels for key in near)
    left = any(key in before and key not in labels for key in apart)
    moved = any(key in before and key in labels and before[key] != labels[key] for key in near | apart)
    return _hint(joined or left or moved)


EVENTS: Final = (
    EventHint(
        EventResource.ASSIGNED_POD,
        ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.DELETE,
        after_assigned_pod,
    ),
    EventHint(EventResource.TARGET_POD, ActionType.UPDATE_POD_LABEL),
    EventHint(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL, after_node),
)


def _hint(queue: bool) -> QueueingHint:
    return QueueingHint.QUEUE if queue else QueueingHint.SKIP


def _wanted(pod: PodInfo, other: PodInfo) -> bool:
    return all_match(pod.shape.terms.required, other.namespace, other.shape.labels)


def _unwanted(pod: PodInfo, other: PodInfo) -> bool:
    return any_matches(pod.shape.terms.required_anti, other.namespace, other.shape.labels)
