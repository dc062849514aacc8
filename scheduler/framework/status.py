"""What a plugin answers: a code and its reasons (k8s.io/kube-scheduler/framework/interface.go, Code and Status)."""

from __future__ import annotations

import enum
from typing import Final

import msgspec


class Code(enum.IntEnum):
    """The outcome of one plugin, ordered as in kube-scheduler."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5
    PENDING = 6

    def __str__(self) -> str:
        return _WORDS[self]


_WORDS: Final = {
    Code.SUCCESS: "Success",
    Code.ERROR: "Error",
    Code.UNSCHEDULABLE: "Unschedulable",
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE: "UnschedulableAndUnresolvable",
    Code.WAIT: "Wait",
    Code.SKIP: "Skip",
    Code.PENDING: "Pending",
}


class Status(msgspec.Struct, frozen=True):
    """A code, the reasons for it, and the plugin that gave it (filled in by the runtime)."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    @property
    def message(self) -> str:
        """The reasons as one text, as Status.Message joins them."""
        return ", ".join(self.reasons)

    @property
    def rejected(self) -> bool:
        """Whether the pod was turned down, as opposed to an error."""
        return self.code in (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING)

    def by(self, plugin: str) -> Status:
        """The same status under the name of the plugin that gave it."""
        return self if self.plugin == plugin else Status(self.code, self.reasons, plugin)


SKIP: Final = Status(Code.SKIP)
"""The plugin has nothing to say about this pod at this point and the next."""


def unschedulable(*reasons: str) -> Status:
    """A refusal that preemption may resolve."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """A refusal that no preemption resolves."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


def error(*reasons: str) -> Status:
    """A failure of the attempt itself; the pod is tried again after its backoff."""
    return Status(Code.ERROR, reasons)


class PluginError(Exception):
    """Raised by a plugin whose work failed; the attempt ends with a SchedulerError that carries its text."""
