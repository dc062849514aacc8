"""SchedulingGates: keep a pod out of the queue while spec.schedulingGates is not empty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scheduler.framework import names
from scheduler.framework.events import ActionType, EventHint, EventResource, QueueingHint
from scheduler.framework.interface import EnqueueExtensions, PreEnqueuePlugin
from scheduler.framework.status import Status, unresolvable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.cache.pods import PodInfo
    from scheduler.framework.handle import Handle


class SchedulingGates(PreEnqueuePlugin, EnqueueExtensions):
    """Source: pkg/scheduler/framework/plugins/schedulinggates/scheduling_gates.go."""

    name = names.SCHEDULING_GATES
    hints_see_labels = False

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Refuses pods with gates, and names them."""
        if not pod.gates:
            return None
        return unresolvable(f"waiting for scheduling gates: [{' '.join(pod.gates)}]")

    def events_to_register(self) -> Sequence[EventHint]:
        """The removal of the pod's own last gate."""
        eliminated = ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
        return [EventHint(EventResource.TARGET_POD, eliminated, self.after_gates_eliminated)]

    def after_gates_eliminated(self, pod: PodInfo, old: PodInfo | None, new: PodInfo) -> QueueingHint:
        """Always worth a try."""
        del pod, old, new
        return QueueingHint.QUEUE


def make(args: Any, handle: Handle) -> SchedulingGates:
    """The plugin; it takes no arguments."""
    del args, handle
    return SchedulingGates()
