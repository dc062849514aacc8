"""The plugin: its extension points (pkg/scheduler/framework/plugins/nodevolumelimits/csi.go)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from scheduler.framework import names
from scheduler.framework.interface import EnqueueExtensions, FilterPlugin, PreFilterPlugin
from scheduler.framework.status import SKIP, Code, Status, error, unresolvable, unschedulable
from scheduler.plugins.nodevolumelimits import hints
from scheduler.plugins.nodevolumelimits.attached import AttachedVolumes
from scheduler.plugins.nodevolumelimits.volumes import VolumeError, Volumes, attachable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.api.objects import CSIDriver
    from scheduler.cache.nodes import NodeView
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.events import EventHint
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Codes

REASON: Final = "node(s) exceed max volume count"

Rows = npt.NDArray[np.intp]


class _Asked:
    """What one cycle found out: the pod's own volumes, by whether the node has a CSINode; statuses by code."""

    __slots__ = ("statuses", "volumes")

    def __init__(self) -> None:
        self.volumes: dict[bool, Volumes | Status] = {}
        self.statuses: list[Status] = [unschedulable(REASON)]

    def code(self, status: Status) -> int:
        """The code of a status."""
        if status not in self.statuses:
            self.statuses.append(status)
        return self.statuses.index(status) + 1


class NodeVolumeLimits(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """Keeps pods off nodes that take no more volumes of their drivers, or lack a driver."""

    name = names.NODE_VOLUME_LIMITS
    sees_labels = False
    hints_see_labels = False
    per_cycle = True
    may_fail = True

    def __init__(self, handle: Handle) -> None:
        self._objects = handle.state.objects
        self._attached = AttachedVolumes(handle.state)
        self._needs_drivers = handle.feature_enabled("VolumeLimitScaling")

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Skip pods without claims and without volumes of drivers that became CSI drivers."""
        needs = cycle.shape.volumes
        return None if needs is not None and (needs.claims or needs.ephemeral or needs.migratable) else SKIP

    def pre_filter_settled(self, cycle: Cycle) -> bool:
        """It depends on nothing but the shape."""
        del cycle
        return True

    def filter(self, cycle: Cycle, nodes: NodeView) -> Codes | None:
        """Drivers first, then limits. Nodes without a CSINode have none."""
        if cycle.shape.volumes is None:
            return None
        self._attached.refresh()
        asked: _Asked = cycle.data.setdefault(self.name, _Asked())
        rows = nodes.indices
        codes = np.zeros(len(rows), np.uint32)
        has_csi_node = self._attached.has_csi_node[rows]
        for has, places in ((True, np.flatnonzero(has_csi_node)), (False, np.flatnonzero(~has_csi_node))):
            if len(places):
                codes[places] = self._codes(cycle, asked, rows[places], has_csi_node=has)
        return codes if codes.any() else None

    def status(self, cycle: Cycle, code: int) -> Status:
        """Too many volumes, a driver that is missing, or what went wrong."""
        asked: _Asked = cycle.data[self.name]
        return asked.statuses[code - 1]

    def can_fail(self, cycle: Cycle) -> bool:
        """Only if some volume could not be read."""
        asked: _Asked = cycle.data[self.name]
        return any(status.code is Code.ERROR for status in asked.statuses)

    def events_to_register(self) -> Sequence[EventHint]:
        """CSINodes, pods and attachments that go, and claims that did not exist."""
        return hints.EVENTS

    def _codes(self, cycle: Cycle, asked: _Asked, rows: Rows, *, has_csi_node: bool) -> npt.NDArray[np.uint32]:
        codes = np.zeros(len(rows), np.uint32)
        volumes = asked.volumes.get(has_csi_node)
        if volumes is None:
            volumes = asked.volumes[has_csi_node] = self._volumes(cycle, has_csi_node=has_csi_node)
        if isinstance(volumes, Status):
            codes[:] = asked.code(volumes)
            return codes
        if not volumes:
            return codes
        self._mark_full(volumes, rows, codes)
        for row, problem in self._attached.problems.items():
            codes[rows == row] = asked.code(error(problem))
        if self._needs_drivers:
            for name in reversed(dict.fromkeys(volumes.values())):
                if self._is_needed(name):
                    missing = unschedulable(f"{name} CSI driver is not installed on the node")
                    codes[~self._attached.driver(name).installed[rows]] = asked.code(missing)
        return codes

    def _volumes(self, cycle: Cycle, *, has_csi_node: bool) -> Volumes | Status:
        try:
            return attachable(cycle.pod, self._objects, has_csi_node=has_csi_node, is_new=True)
        except VolumeError as problem:
            return unresolvable(str(problem)) if problem.missing else error(str(problem))

    def _mark_full(self, volumes: Volumes, rows: Rows, codes: npt.NDArray[np.uint32]) -> None:
        """Code 1 where the pod's volumes, but for those that are there already, are too many."""
        attached = self._attached
        for name, count in Counter(volumes.values()).items():
            driver = attached.driver(name)
            more = np.full(len(rows), count, np.int64)
            for volume in volumes:
                if volume[0] == name and (holders := attached.holders(volume)):
                    more -= np.isin(rows, list(holders))
            codes[(more > 0) & (driver.used[rows] + more > driver.limit[rows])] = 1

    def _is_needed(self, driver: str) -> bool:
        found: CSIDriver | None = self._objects.get("CSIDriver", "", driver)
        return found is not None and bool(found.spec.prevent_pod_scheduling_if_missing)


def make(args: Any, handle: Handle) -> NodeVolumeLimits:
    """The plugin; it takes no arguments."""
    del args
    return NodeVolumeLimits(handle)
