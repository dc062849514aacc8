"""Patches of a pod's status that wait to be sent, and how two of them become one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.api.objects import PodCondition

__all__ = ["StatusPatch"]


@dataclass(slots=True)
class StatusPatch:
    """What is to be set in one pod's status; ``nominated_node_name`` None leaves the nomination as it is."""

    namespace: str
    name: str
    uid: str
    conditions: dict[str, PodCondition]
    nominated_node_name: str | None = None

    @classmethod
    def of(
        cls, namespace: str, name: str, uid: str, conditions: Sequence[PodCondition], nominated: str | None
    ) -> StatusPatch:
        """A patch from the arguments of ``Writer.patch_pod_status``."""
        return cls(namespace, name, uid, {condition.type: condition for condition in conditions}, nominated)

    def merge(self, later: StatusPatch) -> None:
        """Take over what ``later`` sets; what only this one sets stays.

        As PodStatusPatchCall.Merge in pkg/scheduler/framework/api_calls/pod_status_patch.go.
        """
        self.conditions |= later.conditions
        if later.nominated_node_name is not None:
            self.nominated_node_name = later.nominated_node_name

    def body(self, present: Sequence[str] = ()) -> bytes:
        """The strategic merge patch, with the uid as a precondition. Empty texts go as null, which clears.

        With ``present``, the types of the conditions that are there, those keep their order and new ones come last, as
        with kube-scheduler; otherwise the API server puts new ones first.
        """
        status: dict[str, object] = {}
        if self.conditions:
            status["conditions"] = [_condition(condition) for condition in self.conditions.values()]
        if present:
            order = dict.fromkeys([*present, *self.conditions])
            status["$setElementOrder/conditions"] = [{"type": kind} for kind in order]
        if self.nominated_node_name is not None:
            status["nominatedNodeName"] = self.nominated_node_name or None
        return msgspec.json.encode({"metadata": {"uid": self.uid}, "status": status})


def _condition(condition: PodCondition) -> dict[str, object]:
    body: dict[str, object] = {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason or None,
        "message": condition.message or None,
        "observedGeneration": condition.observed_generation or None,
    }
    if condition.last_transition_time is not None:
        body["lastTransitionTime"] = condition.last_transition_time
    return body
