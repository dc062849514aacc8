"""Small questions about a pod: its conditions, priority and phase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scheduler.api.pod import Pod, PodCondition

POD_SCHEDULED: Final = "PodScheduled"
DISRUPTION_TARGET: Final = "DisruptionTarget"
POD_RESIZE_PENDING: Final = "PodResizePending"

_TERMINAL_PHASES: Final = frozenset({"Succeeded", "Failed"})


def find_condition(pod: Pod, condition_type: str) -> PodCondition | None:
    """Return the pod's first condition of a type, or None."""
    for condition in pod.status.conditions:
        if condition.type == condition_type:
            return condition
    return None


def pod_priority(pod: Pod) -> int:
    """Return ``spec.priority``, or 0 for a pod made when there was no default priority class."""
    return pod.spec.priority if pod.spec.priority is not None else 0


def is_terminal(pod: Pod) -> bool:
    """Say whether the pod has ended. Such pods don't exist for the scheduler."""
    return pod.status.phase in _TERMINAL_PHASES


def is_terminating(pod: Pod) -> bool:
    """Say whether the pod is being deleted. It keeps its resources until it is gone."""
    return pod.metadata.deletion_timestamp is not None


def is_resize_infeasible(pod: Pod) -> bool:
    """Say whether an in-place resize of the pod was refused; only its first condition of that type counts.

    Source: k8s.io/component-helpers/resource/helpers.go IsPodResizeInfeasible.
    """
    condition = find_condition(pod, POD_RESIZE_PENDING)
    return condition is not None and condition.reason == "Infeasible"
