"""Whether a pod may preempt others at all, and whom (default_preemption.go, PodEligibleToPreemptOthers)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.framework.status import Code

if TYPE_CHECKING:
    from scheduler.cache.pods import PodInfo
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.diagnosis import Rejections

NEVER: Final = "not eligible due to preemptionPolicy=Never."
VICTIM_TERMINATING: Final = "not eligible due to a terminating pod on the nominated node."


def why_not_eligible(cycle: Cycle, rejections: Rejections) -> str:
    """Why a pod must not preempt (now), or ""."""
    pod, state = cycle.pod, cycle.state
    if pod.preemption_policy == "Never":
        return NEVER
    row = state.nodes.rows.get(pod.nominated_node_name)
    if row is None:
        return ""
    # Where the node is out of the question by now, others may be tried although victims are leaving.
    status = rejections.status_of(row) if rejections.evaluated[row] else rejections.absent
    if status is not None and status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
        return ""
    leaving = any(other.terminating and other.preempted for other in possible_victims(cycle, row))
    return VICTIM_TERMINATING if leaving else ""


def possible_victims(cycle: Cycle, row: int) -> list[PodInfo]:
    """The pods of a node whose priority is below that of the pod to be placed."""
    priority, state = cycle.pod.priority, cycle.state
    return [other for other in state.pods.on_node(state.nodes.name(row)) if other.priority < priority]
