"""DefaultPreemption, as far as Berth has it: no pod is evicted for another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scheduler.framework import names
from scheduler.framework.interface import EnqueueExtensions, PostFilterPlugin, PostFilterResult, PreEnqueuePlugin
from scheduler.framework.status import Code, Status, unschedulable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.cache.pods import PodInfo
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.events import EventHint
    from scheduler.framework.handle import Handle

NO_VICTIMS: Final = "No preemption victims found for incoming pod"
NOT_HELPFUL: Final = "Preemption is not helpful for scheduling"


class DefaultPreemption(PostFilterPlugin, PreEnqueuePlugin, EnqueueExtensions):
    """Source: pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go."""

    name = names.DEFAULT_PREEMPTION

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """No pod waits for its victims to go."""
        del pod
        return None

    def post_filter(self, cycle: Cycle) -> PostFilterResult:
        """Unschedulable; a nomination stays as it is.

        In the words of kube-scheduler where it would evict nobody either, and in none where it might.
        """
        why = _why_not(cycle)
        return PostFilterResult(unschedulable(f"preemption: {why}") if why else unschedulable())

    def events_to_register(self) -> Sequence[EventHint]:
        """No event: nothing is held back by this plugin."""
        return []


def _why_not(cycle: Cycle) -> str:
    """Why no eviction helps, "" if one might (Evaluator.Preempt in pkg/scheduler/framework/preemption)."""
    pod, state, rejections = cycle.pod, cycle.state, cycle.rejections
    if pod.preemption_policy == "Never":
        return "not eligible due to preemptionPolicy=Never."
    if rejections is None:
        return ""
    # Only a node that is unschedulable, but not unresolvable, could be helped by evictions.
    rows = rejections.rows_with(Code.UNSCHEDULABLE).tolist()
    for row in rows:
        if any(other.priority < pod.priority for other in state.pods.on_node(state.nodes.name(row))):
            return ""
    helpless = len(state.nodes) - len(rows)
    reasons = ((len(rows), NO_VICTIMS), (helpless, NOT_HELPFUL))
    listed = ", ".join(sorted(f"{count} {reason}" for count, reason in reasons if count))
    return f"0/{len(state.nodes)} nodes are available: {listed}."


def make(args: Any, handle: Handle) -> DefaultPreemption:
    """The plugin. Its arguments concern the choice of victims only."""
    del args, handle
    return DefaultPreemption()
