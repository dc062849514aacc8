"""Nodes by how well the pod's volumes use the storage there (volumebinding/{volume_binding,scorer}.go)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from scheduler.api.quantity import ZERO, parse
from scheduler.config.args.scoring import MAX_CUSTOM_PRIORITY_SCORE
from scheduler.framework.arithmetic import MAX_NODE_SCORE
from scheduler.framework.broken_line import broken_line
from scheduler.plugins.volumebinding.assumed import capacity_of, request_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scheduler.config.args.scoring import UtilizationShapePoint
    from scheduler.plugins.volumebinding.binder import PodVolumes

_FULL: Final = 100
_SCALE: Final = MAX_NODE_SCORE // MAX_CUSTOM_PRIORITY_SCORE


class _Storage:
    """What is requested of the volumes of one class, and how large they are, in bytes."""

    __slots__ = ("capacity", "requested")

    def __init__(self) -> None:
        self.requested = 0
        self.capacity = 0


def scorer(shape: Sequence[UtilizationShapePoint]) -> Callable[[PodVolumes], int]:
    """The score of a node from what is planned there: the mean over classes of the curve at their utilization."""
    curve = broken_line([(point.utilization, point.score * _SCALE) for point in shape])

    def of_class(storage: _Storage) -> int:
        if storage.capacity == 0 or storage.requested > storage.capacity:
            return curve(_FULL)
        return curve(storage.requested * _FULL // storage.capacity)

    def score(plan: PodVolumes) -> int:
        classes = _static(plan) if plan.static else _dynamic(plan)
        if not classes:
            return 0
        return math.floor(sum(of_class(storage) for storage in classes.values()) / len(classes) + 0.5)

    return score


def _static(plan: PodVolumes) -> dict[str, _Storage]:
    classes: dict[str, _Storage] = {}
    for claim, volume in plan.static:
        storage = classes.setdefault(volume.spec.storage_class_name, _Storage())
        storage.requested += request_of(claim).value()
        storage.capacity += capacity_of(volume).value()
    return classes


def _dynamic(plan: PodVolumes) -> dict[str, _Storage]:
    """Claims of one class draw on one capacity, so that is not added up."""
    classes: dict[str, _Storage] = {}
    for claim, capacity in plan.dynamic:
        if capacity is None:
            continue
        storage = classes.setdefault(claim.spec.storage_class_name or "", _Storage())
        storage.requested += request_of(claim).value()
        storage.capacity = (ZERO if capacity.capacity is None else parse(capacity.capacity)).value()
    return classes
