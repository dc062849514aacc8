"""Whether volumes can be made for claims: topology of the class, and free capacity where the driver publishes it.

Source: pkg/scheduler/framework/plugins/volumebinding/binder.go, checkVolumeProvisions and hasEnoughCapacity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from scheduler.api.claims import NO_PROVISIONER, class_of_claim
from scheduler.api.quantity import value
from scheduler.api.selectors import SelectorError, compile_label_selector

if TYPE_CHECKING:
    from scheduler.api.objects import CSIDriver, CSIStorageCapacity, PersistentVolumeClaim, StorageClass
    from scheduler.cache.objects import ObjectStore
    from scheduler.plugins.volumebinding.topology import Topology

Mask = npt.NDArray[np.bool_]

UNKNOWN: Final = -1


class ProvisionError(ValueError):
    """A claim has no class that a volume could be made of."""


class Provision:
    """What becomes of one claim on each node.

    - `made`: bool over rows, where a volume is to be made.
    - `elsewhere`, `full`: where that is not possible, for the class or for want of space.
    - `picked`: int32 over rows, indexes into `capacities`, UNKNOWN where no capacity is published.
    """

    __slots__ = ("capacities", "claim", "elsewhere", "full", "made", "picked")

    def __init__(self, claim: PersistentVolumeClaim, rows: Mask) -> None:
        size = len(rows)
        self.claim = claim
        self.made: Mask = rows.copy()
        self.elsewhere: Mask = np.zeros(size, np.bool_)
        self.full: Mask = np.zeros(size, np.bool_)
        self.capacities: list[CSIStorageCapacity] = []
        self.picked: npt.NDArray[np.int32] = np.full(size, UNKNOWN, np.int32)

    def capacity(self, row: int) -> CSIStorageCapacity | None:
        """What the volume on a row would be made from, where that is published."""
        index = int(self.picked[row])
        return None if index == UNKNOWN else self.capacities[index]


def provision(claim: PersistentVolumeClaim, rows: Mask, objects: ObjectStore, topology: Topology) -> Provision:
    """Look into making a volume for a claim on `rows` (bool over all rows, at least one). Raises ProvisionError."""
    found = Provision(claim, rows)
    name = class_of_claim(claim)
    if not name:
        key = f"{claim.metadata.namespace}/{claim.metadata.name}"
        raise ProvisionError(f'no class for claim "{key}"')
    storage_class: StorageClass | None = objects.get("StorageClass", "", name)
    if storage_class is None:
        raise ProvisionError(f'failed to find storage class "{name}"')
    if storage_class.provisioner in ("", NO_PROVISIONER):
        found.elsewhere |= rows
        found.made[:] = False
        return found
    allowed = topology.allowed(storage_class.allowed_topologies)
    if allowed is not None:
        inside = np.zeros(len(rows), np.bool_)
        inside[allowed] = True
        found.elsewhere = rows & ~inside
        found.made &= inside
    if is_bound_by_capacity(claim, storage_class, objects):
        _look_for_space(found, storage_class, objects, topology)
    return found


def limit(capacity: CSIStorageCapacity) -> int | None:
    """The largest volume that a capacity allows in bytes, None if it does not say."""
    text = capacity.maximum_volume_size if capacity.maximum_volume_size is not None else capacity.capacity
    return None if text is None else value(text)


def is_bound_by_capacity(claim: PersistentVolumeClaim, storage_class: StorageClass, objects: ObjectStore) -> bool:
    """Whether a claim says how much it wants, and the driver of its class publishes how much there is."""
    if "storage" not in claim.spec.resources.requests:
        return False
    driver: CSIDriver | None = objects.get("CSIDriver", "", storage_class.provisioner)
    return driver is not None and bool(driver.spec.storage_capacity)


def _look_for_space(found: Provision, storage_class: StorageClass, objects: ObjectStore, topology: Topology) -> None:
    size = value(found.claim.spec.resources.requests["storage"])
    without = found.made.copy()
    for capacity in objects.all("CSIStorageCapacity"):
        if not without.any():
            return
        most = limit(capacity)
        if capacity.storage_class_name != storage_class.metadata.name or most is None or most < size:
            continue
        if capacity.node_topology is None:
            continue
        try:
            rows = topology.selected(compile_label_selector(capacity.node_topology))
        except SelectorError:
            continue
        here = rows[without[rows]]
        if len(here):
            found.picked[here] = len(found.capacities)
            found.capacities.append(capacity)
            without[here] = False
    found.full = without
    found.made &= ~without
