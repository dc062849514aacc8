"""The plugin: its extension points (pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from scheduler.api.claims import claim_not_found
from scheduler.framework import names
from scheduler.framework.events import ActionType, EventHint, EventResource, QueueingHint
from scheduler.framework.interface import EnqueueExtensions, FilterPlugin, PreFilterPlugin
from scheduler.framework.status import SKIP, Status, error, unresolvable, unschedulable
from scheduler.plugins.volumerestrictions.conflicts import conflict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scheduler.api.objects import PersistentVolumeClaim
    from scheduler.cache.nodes import NodeView
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.volumes import VolumeNeeds, VolumeUse
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Codes

REASON_DISK: Final = "node(s) had no available disk"
REASON_READ_WRITE_ONCE_POD: Final = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)

_READ_WRITE_ONCE_POD: Final = "ReadWriteOncePod"
_DISK: Final = 1
_CLAIM: Final = 2
_NOT_PREPARED: Final = 3
_STATUSES: Final = {
    _DISK: unschedulable(REASON_DISK),
    _CLAIM: unschedulable(REASON_READ_WRITE_ONCE_POD),
    _NOT_PREPARED: error(f'cannot read "PreFilter{names.VOLUME_RESTRICTIONS}" from cycleState'),
}


class _Exclusive(msgspec.Struct, frozen=True):
    """The pod's ReadWriteOncePod claims: how many are in use, and how often pods name one like them.

    Names are counted whatever the namespace, as kube-scheduler counts the pods that preemption takes away.
    """

    claims: frozenset[str]
    in_use: int
    named: int

    def still_in_use(self, use: VolumeUse) -> bool:
        """Whether a claim is in use after what has been tried since."""
        return self.in_use + _named(self.claims, use) - self.named > 0


class VolumeRestrictions(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """Keeps pods off disks and claims that others hold alone."""

    name = names.VOLUME_RESTRICTIONS
    sees_labels = False
    hints_see_labels = False
    per_cycle = True
    may_fail = True

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Skip pods that want no such disk and whose ReadWriteOncePod claims are free; all claims must exist."""
        needs = cycle.shape.volumes
        if needs is None:
            return SKIP
        exclusive: set[str] = set()
        namespace = cycle.pod.namespace
        for name in needs.claims:
            claim = cycle.state.objects.get("PersistentVolumeClaim", namespace, name)
            if claim is None:
                return unresolvable(claim_not_found(name))
            if _READ_WRITE_ONCE_POD in claim.spec.access_modes:
                exclusive.add(name)
        use = cycle.state.volumes
        in_use = sum(1 for name in exclusive if (namespace, name) in use.claims)
        if not needs.exclusive and not in_use:
            return SKIP
        claims = frozenset(exclusive)
        cycle.data[self.name] = _Exclusive(claims, in_use, _named(claims, use))
        return None

    def pre_filter_settled(self, cycle: Cycle) -> bool:
        """Of pods without volumes."""
        return cycle.shape.volumes is None

    def filter(self, cycle: Cycle, nodes: NodeView) -> Codes | None:
        """Disks first, node by node; then claims, which are in use everywhere or nowhere."""
        state: _Exclusive | None = cycle.data.get(self.name)
        use = cycle.state.volumes
        if state is None:
            rest = _NOT_PREPARED
        else:
            rest = _CLAIM if state.still_in_use(use) else 0
        codes = np.full(len(nodes), rest, np.uint8)
        needs = cycle.shape.volumes
        if needs is not None and needs.exclusive:
            for position in _conflicting(needs, use, nodes):
                codes[position] = _DISK
        return codes if codes.any() else None

    def status(self, cycle: Cycle, code: int) -> Status:
        """Both refusals end when the pod that is in the way goes."""
        del cycle
        return _STATUSES[code]

    def can_fail(self, cycle: Cycle) -> bool:
        """Only without PreFilter."""
        return self.name not in cycle.data

    # events

    def events_to_register(self) -> Sequence[EventHint]:
        """Pods that go, new nodes, and claims that did not exist."""
        return [
            EventHint(EventResource.ASSIGNED_POD, ActionType.DELETE, self.after_pod_deletion),
            EventHint(EventResource.NODE, ActionType.ADD),
            EventHint(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD, self.after_claim_added),
        ]

    def after_pod_deletion(self, pod: PodInfo, old: PodInfo, new: PodInfo | None) -> QueueingHint:
        """The pod that went was of the same namespace and held a disk or a claim that this one wants."""
        del new
        mine, its = pod.shape.volumes, old.shape.volumes
        if pod.namespace != old.namespace or mine is None or its is None:
            return QueueingHint.SKIP
        if conflict(mine.exclusive, its.exclusive) or not set(mine.claims).isdisjoint(its.claims):
            return QueueingHint.QUEUE
        return QueueingHint.SKIP

    def after_claim_added(self, pod: PodInfo, old: object, new: PersistentVolumeClaim) -> QueueingHint:
        """The claim is one of the pod's."""
        del old
        needs = pod.shape.volumes
        meta = new.metadata
        wanted = needs is not None and meta.namespace == pod.namespace and meta.name in needs.claims
        return QueueingHint.QUEUE if wanted else QueueingHint.SKIP


def _named(claims: frozenset[str], use: VolumeUse) -> int:
    return sum(use.names[name] for name in claims)


def _conflicting(needs: VolumeNeeds, use: VolumeUse, nodes: NodeView) -> Iterator[int]:
    """Places in the view of nodes where another pod holds one of the wanted disks."""
    everything = isinstance(nodes.rows, slice)
    rows = ((row, row) for row in use.pods) if everything else enumerate(nodes.indices.tolist())
    for position, row in rows:
        for other in use.on_row(row).values():
            held = other.shape.volumes
            if held is not None and held.exclusive and conflict(needs.exclusive, held.exclusive):
                yield position
                break


def make(args: Any, handle: Handle) -> VolumeRestrictions:
    """The plugin; it takes no arguments."""
    del args, handle
    return VolumeRestrictions()
