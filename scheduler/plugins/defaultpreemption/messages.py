"""What the plugin says, in kube-scheduler's words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.framework.status import Status

NO_VICTIMS: Final = "No preemption victims found for incoming pod"
NOT_HELPFUL: Final = "Preemption is not helpful for scheduling"
NO_CANDIDATE: Final = "no candidate node for preemption"
WAITING: Final = "waiting for the preemption for this pod to be finished"
EVENT_REASON: Final = "Preempted"
EVENT_ACTION: Final = "Preempting"
CONDITION: Final = "DisruptionTarget"
CONDITION_REASON: Final = "PreemptionByScheduler"


def prefixed(message: str) -> str:
    """A message as it appears behind the reasons of the misfit (default_preemption.go, PostFilter)."""
    return f"preemption: {message}"


def found(node: str, victims: int) -> str:
    """Room can be made (preemption.go, Preempt)."""
    return f"found a potential placement for pod on node {node}, preempting {victims} victims"


def nothing_helps(nodes: int, tried: Mapping[Status, int]) -> str:
    """No node can be made to fit: why, with the number of nodes for each reason.

    `tried` counts the nodes by what came of trying; all others were beyond help from the start (FitError.Error in
    pkg/scheduler/framework/types.go).
    """
    reasons: Counter[str] = Counter()
    for status, count in tried.items():
        for reason in status.reasons:
            reasons[reason] += count
    reasons[NOT_HELPFUL] += nodes - sum(tried.values())
    listed = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items() if count))
    return f"0/{nodes} nodes are available: {listed}." if listed else f"0/{nodes} nodes are available:"


def no_victim_needed(node: str) -> str:
    """The pod fits although all pods are back (DryRunPreemption)."""
    return f'expected at least one victim pod on node "{node}"'


def event_note(preemptor_uid: str, node: str, *, in_memory: bool) -> str:
    """The note of a victim's event (executor.go)."""
    note = f"Preempted by pod {preemptor_uid} on node {node}"
    return f"{note} (in kube-scheduler memory)." if in_memory else note


def condition_message(scheduler_name: str) -> str:
    """The message of a victim's condition (executor.go)."""
    return f"{scheduler_name}: preempting to accommodate a higher priority pod"
