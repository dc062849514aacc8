"""How an attempt failed, in the terms of conditions and metrics."""

from __future__ import annotations

import logging
from typing import Final

import msgspec

from scheduler.framework.status import Code, Status

V2: Final = logging.INFO - 2
"""The level of what becomes of each pod, as kube-scheduler logs it at -v 2."""

UNSCHEDULABLE: Final = "Unschedulable"
SCHEDULER_ERROR: Final = "SchedulerError"


class Failure(msgspec.Struct, frozen=True):
    """An attempt that did not end with a bound pod.

    - `reason` is that of the PodScheduled condition, `message` its text.
    - `unschedulable_plugins`, `pending_plugins`: who must be heard before the next attempt; none after an error.
    - `nominated_node`: a node in prospect, "" to clear it, None to leave it as the pod has it.
    """

    reason: str
    message: str
    unschedulable_plugins: frozenset[str] = frozenset()
    pending_plugins: frozenset[str] = frozenset()
    nominated_node: str | None = ""

    @property
    def rejected(self) -> bool:
        """Whether the pod was turned down, as opposed to an error."""
        return self.reason == UNSCHEDULABLE


def error(message: str) -> Failure:
    """The attempt itself failed."""
    return Failure(SCHEDULER_ERROR, message)


def rejection(status: Status) -> Failure:
    """A refusal after a node was found, at Reserve, Permit or while waiting.

    It is worded as if that one node had been the only one, as kube-scheduler does.
    """
    listed = ", ".join(sorted(f"1 {reason}" for reason in status.reasons))
    message = f"0/1 nodes are available: {listed}." if listed else "0/1 nodes are available:"
    plugins = frozenset((status.plugin,))
    return Failure(UNSCHEDULABLE, message, plugins, plugins if status.code is Code.PENDING else frozenset())


def of_status(status: Status) -> Failure:
    """A refusal or an error at Reserve, Permit or while waiting."""
    return rejection(status) if status.rejected else error(status.message)


def of_binding(status: Status) -> Failure:
    """A refusal or an error at PreBind or Bind: nothing that happens then makes a pod wait for events.

    Source: bindingCycle and handleSchedulingFailure in pkg/scheduler/schedule_one.go.
    """
    return Failure(UNSCHEDULABLE if status.rejected else SCHEDULER_ERROR, status.message)
