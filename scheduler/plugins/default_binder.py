"""DefaultBinder: bind the pod through the Binding subresource."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scheduler.framework import names
from scheduler.framework.interface import BindPlugin
from scheduler.framework.status import Status, error

if TYPE_CHECKING:
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.handle import Binder, Handle


class DefaultBinder(BindPlugin):
    """Source: pkg/scheduler/framework/plugins/defaultbinder/default_binder.go."""

    name = names.DEFAULT_BINDER

    def __init__(self, binder: Binder) -> None:
        self._binder = binder

    async def bind(self, cycle: Cycle, node: str) -> Status | None:
        """Error with the text of whatever exception the binder raises."""
        pod = cycle.pod
        try:
            await self._binder.bind(pod.namespace, pod.name, pod.uid, node)
        except Exception as problem:
            return error(str(problem))
        return None


def make(args: Any, handle: Handle) -> DefaultBinder:
    """The plugin; it takes no arguments."""
    del args
    return DefaultBinder(handle.binder)
