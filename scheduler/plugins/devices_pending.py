"""DynamicResources, as far as Berth has it: pods without devices pass, all others are refused with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scheduler.api.requests import incoming_requests
from scheduler.api.resource_names import is_extended
from scheduler.framework import device_classes, names
from scheduler.framework.events import ActionType, EventHint, EventResource
from scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    ReservePlugin,
    ScorePlugin,
)
from scheduler.framework.status import SKIP, PluginError, Status, error, unresolvable, unschedulable
from scheduler.version import __version__

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from scheduler.cache.nodes import NodeView
    from scheduler.cache.objects import ObjectStore
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.shapes import PodShape
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Codes, Scores

NAME: Final = names.DYNAMIC_RESOURCES

_RELEASE: Final = __version__.rpartition(".")[0]
_REFUSED: Final = 1
_NOT_PREPARED: Final = 2


def device_resources(shape: PodShape) -> tuple[str, ...]:
    """The requested resources that a DeviceClass may stand for."""
    known: tuple[str, ...] | None = shape.common.get(NAME)
    if known is None:
        requests = incoming_requests(shape.pod)
        known = shape.common[NAME] = tuple(
            sorted(
                name
                for name, amount in requests.items()
                if amount and (is_extended(name) or name.startswith(device_classes.IMPLICIT_PREFIX))
            )
        )
    return known


def refusal(shape: PodShape, objects: ObjectStore) -> Status | None:
    """Why a pod can't be placed, if it needs devices."""
    claims = shape.pod.spec.resource_claims
    if claims:
        text = f'Berth {_RELEASE} does not place pods that use resourceclaims yet (claim "{claims[0].name}")'
        return unresolvable(text)
    for resource in device_resources(shape):
        if device_classes.is_backed(resource, objects):
            return unresolvable(
                f"Berth {_RELEASE} does not place pods that use extended resources backed by a DeviceClass yet "
                f'(resource "{resource}")'
            )
    return None


class DynamicResources(
    PreEnqueuePlugin,
    PreFilterPlugin,
    FilterPlugin,
    PostFilterPlugin,
    ScorePlugin,
    ReservePlugin,
    PreBindPlugin,
    EnqueueExtensions,
):
    """Source: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go."""

    name = NAME
    sees_labels = False
    hints_see_labels = False
    may_fail = True
    bounded = True

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Every pod may be tried: one with claims gets to know why it is refused."""
        del pod
        return None

    def pre_filter(self, cycle: Cycle) -> Status:
        """Refuses pods that need devices and skips all others."""
        cycle.data[NAME] = True
        return refusal(cycle.shape, cycle.state.objects) or SKIP

    def pre_filter_settled(self, cycle: Cycle) -> bool:
        """Unless a DeviceClass may come to stand for a resource."""
        return not device_resources(cycle.shape)

    def filter(self, cycle: Cycle, nodes: NodeView) -> Codes | None:
        """Asked only where PreFilter is disabled; nothing is placed as if it needed no devices."""
        refused = refusal(cycle.shape, cycle.state.objects) is not None
        return np.full(len(nodes), _REFUSED if refused else _NOT_PREPARED, np.uint8)

    def status(self, cycle: Cycle, code: int) -> Status:
        """The refusal, or the failure."""
        refused = refusal(cycle.shape, cycle.state.objects) if code == _REFUSED else None
        return refused or error("not found")

    def epoch(self, cycle: Cycle) -> Hashable:
        """The device classes, where they matter."""
        return cycle.state.objects.version(device_classes.KIND) if device_resources(cycle.shape) else None

    def epoch_settled(self, cycle: Cycle) -> bool:
        """Where they don't."""
        return not device_resources(cycle.shape)

    def post_filter(self, cycle: Cycle) -> PostFilterResult:
        """There is no claim to deallocate; fails where PreFilter was not asked."""
        return PostFilterResult(unschedulable() if NAME in cycle.data else error("not found"))

    def score(self, cycle: Cycle, nodes: NodeView) -> Scores:
        """0 without devices; fails where PreFilter is disabled."""
        if NAME not in cycle.data:
            raise PluginError(f'running Score plugins: plugin "{NAME}" failed with: not found')
        return np.zeros(len(nodes), np.int64)

    def score_key(self, cycle: Cycle) -> Hashable:
        """The same for all that need no devices, which are all that come so far."""
        return None if device_resources(cycle.shape) else ()

    def reserve(self, cycle: Cycle, node: str) -> Status | None:
        """Nothing to hold without devices."""
        del cycle, node
        return None

    def unreserve(self, cycle: Cycle, node: str) -> None:
        """Nothing to let go."""
        del cycle, node

    def pre_bind_pre_flight(self, cycle: Cycle, node: str) -> Status:
        """Nothing to bind without devices."""
        del cycle, node
        return SKIP

    async def pre_bind(self, cycle: Cycle, node: str) -> Status | None:
        """Nothing to bind without devices."""
        del cycle, node
        return None

    def events_to_register(self) -> Sequence[EventHint]:
        """A DeviceClass that goes, or no longer stands for a resource."""
        return [EventHint(EventResource.DEVICE_CLASS, ActionType.DELETE | ActionType.UPDATE)]


def make(args: Any, handle: Handle) -> DynamicResources:
    """The plugin. Its arguments concern devices only."""
    del args, handle
    return DynamicResources()
