"""The plugin: its extension points (pkg/scheduler/framework/plugins/volumezone/volume_zone.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scheduler.api.claims import WAIT_FOR_FIRST_CONSUMER, claim_not_found, class_of_claim
from scheduler.framework import names
from scheduler.framework.interface import EnqueueExtensions, FilterPlugin, PreFilterPlugin
from scheduler.framework.status import SKIP, Status, unresolvable
from scheduler.plugins.volumezone import hints
from scheduler.plugins.volumezone.topology import KEYS, Topology, in_zone, topologies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.api.objects import PersistentVolumeClaim, StorageClass
    from scheduler.cache.nodes import NodeView
    from scheduler.cache.objects import ObjectStore
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.events import EventHint
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Codes

REASON: Final = "node(s) had no available volume zone"

_OTHER_ZONE: Final = 1
_REFUSED: Final = 2


class VolumeZone(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """Keeps pods in the zones and regions that the labels of their bound volumes name."""

    name = names.VOLUME_ZONE
    sees_labels = False
    hints_see_labels = False
    per_cycle = True

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Skip pods whose volumes are in no particular zone."""
        needs = cycle.shape.volumes
        if needs is None or not needs.claims:
            return SKIP
        found = _wanted(cycle)
        if isinstance(found, Status):
            return found
        if not found:
            return SKIP
        cycle.data[self.name] = found
        return None

    def pre_filter_settled(self, cycle: Cycle) -> bool:
        """Of pods without volumes."""
        return cycle.shape.volumes is None

    def filter(self, cycle: Cycle, nodes: NodeView) -> Codes | None:
        """Nodes without any zone or region label pass; the others must match all labels of all volumes."""
        wanted: tuple[Topology, ...] | Status | None = cycle.data.get(self.name)
        if wanted is None:
            wanted = _wanted(cycle) if cycle.shape.volumes is not None else ()
        if isinstance(wanted, Status):
            return np.full(len(nodes), _REFUSED, np.uint8)
        if not wanted:
            return None
        labelled = np.zeros(len(nodes), np.bool_)
        for key in KEYS:
            labelled |= nodes.label_ids(key) > 0
        elsewhere = np.zeros(len(nodes), np.bool_)
        for topology in wanted:
            elsewhere |= ~in_zone(topology, nodes)
        elsewhere &= labelled
        return elsewhere.view(np.uint8) if elsewhere.any() else None

    def status(self, cycle: Cycle, code: int) -> Status:
        """Another zone, or what PreFilter would have said had it been asked."""
        if code == _OTHER_ZONE:
            return unresolvable(REASON)
        refusal = _wanted(cycle)
        assert isinstance(refusal, Status)
        return refusal

    def events_to_register(self) -> Sequence[EventHint]:
        """Classes, nodes, claims and volumes."""
        return hints.EVENTS


def _wanted(cycle: Cycle) -> tuple[Topology, ...] | Status:
    """Where the labels of the pod's volumes want it to be, or why it can't be placed."""
    needs = cycle.shape.volumes
    assert needs is not None
    found: list[Topology] = []
    objects = cycle.state.objects
    for name in needs.claims:
        if not name:
            return unresolvable("PersistentVolumeClaim had no name")
        claim: PersistentVolumeClaim | None = objects.get("PersistentVolumeClaim", cycle.pod.namespace, name)
        if claim is None:
            return unresolvable(claim_not_found(name))
        volume_name = claim.spec.volume_name
        if not volume_name:
            problem = _unbound(claim, objects)
            if problem:
                return unresolvable(problem)
            continue
        volume = objects.get("PersistentVolume", "", volume_name)
        if volume is None:
            return unresolvable(f'persistentvolume "{volume_name}" not found')
        found += topologies(volume)
    return tuple(found)


def _unbound(claim: PersistentVolumeClaim, objects: ObjectStore) -> str:
    """Why a claim without a volume keeps the pod from being placed; "" if the volume will follow the pod."""
    class_name = class_of_claim(claim)
    if not class_name:
        return "PersistentVolumeClaim had no pv name and storageClass name"
    storage_class: StorageClass | None = objects.get("StorageClass", "", class_name)
    if storage_class is None:
        return f'storageclass.storage.k8s.io "{class_name}" not found'
    if storage_class.volume_binding_mode is None:
        return f'VolumeBindingMode not set for StorageClass "{class_name}"'
    return "" if storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER else "PersistentVolume had no name"


def make(args: Any, handle: Handle) -> VolumeZone:
    """The plugin; it takes no arguments."""
    del args, handle
    return VolumeZone()
