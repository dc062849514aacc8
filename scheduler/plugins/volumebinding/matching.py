"""Which existing volume each claim would be bound to on each node.

Source: pkg/scheduler/framework/plugins/volumebinding/binder.go (findMatchingVolumes) and
k8s.io/component-helpers/storage/volume/pv_helpers.go (FindMatchingVolume).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from scheduler.api.claims import is_bound_to
from scheduler.api.selectors import Selector, SelectorError, compile_label_selector
from scheduler.framework.sort_slice import sort_slice
from scheduler.plugins.volumebinding.assumed import capacity_of, request_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scheduler.api.objects import PersistentVolume, PersistentVolumeClaim
    from scheduler.plugins.volumebinding.topology import Topology

Mask = npt.NDArray[np.bool_]

NONE: Final = -1


class MatchError(ValueError):
    """A claim can't be matched with anything."""


class Choices:
    """The volume of one claim on each node: `picked` has indexes into `volumes` over rows, NONE for no match."""

    __slots__ = ("claim", "picked", "volumes")

    def __init__(self, claim: PersistentVolumeClaim, size: int) -> None:
        self.claim = claim
        self.volumes: list[PersistentVolume] = []
        self.picked: npt.NDArray[np.int32] = np.full(size, NONE, np.int32)

    def on(self, row: int) -> PersistentVolume | None:
        """The volume on a row, if there is one."""
        index = int(self.picked[row])
        return None if index == NONE else self.volumes[index]


def choose(
    claim: PersistentVolumeClaim,
    volumes: Iterable[PersistentVolume],
    rows: Mask,
    before: Sequence[Choices],
    topology: Topology,
) -> Choices:
    """The choices for a claim among volumes of its class, given smallest first.

    A volume that is reserved for the claim is the only choice; else it is the smallest that fits and that no claim
    `before` this one has taken on the same node. `rows` are those that matter, bool over all rows. Raises MatchError.
    """
    choices = Choices(claim, len(rows))
    reserved, free = _candidates(claim, volumes)
    open_ = rows.copy()
    for volume in [reserved] if reserved is not None else free:
        reachable = topology.of_volume(volume)
        here = np.flatnonzero(open_) if reachable is None else reachable[open_[reachable]]
        for other in before:
            if len(here):
                here = here[~_taken(volume, other, here)]
        if len(here):
            choices.picked[here] = len(choices.volumes)
            choices.volumes.append(volume)
            open_[here] = False
            if not open_.any():
                break
    return choices


def _taken(volume: PersistentVolume, other: Choices, here: npt.NDArray[np.intp]) -> Mask:
    for index, chosen in enumerate(other.volumes):
        if chosen is volume:
            taken: Mask = other.picked[here] == index
            return taken
    return np.zeros(len(here), np.bool_)


def _candidates(
    claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume]
) -> tuple[PersistentVolume | None, list[PersistentVolume]]:
    """A volume that is reserved for the claim, and those that are free for it; nodes are not looked at here."""
    selector = None
    if claim.spec.selector is not None:
        try:
            selector = compile_label_selector(claim.spec.selector)
        except SelectorError as problem:
            key = f"{claim.metadata.namespace}/{claim.metadata.name}"
            raise MatchError(f"error creating internal label selector for claim: {key}: {problem}") from problem
    reserved, free = None, []
    for volume in volumes:
        if volume.spec.claim_ref is not None:
            if reserved is None and is_bound_to(volume, claim) and _suits(claim, volume):
                reserved = volume
        elif volume.status.phase == "Available" and _suits(claim, volume) and _is_wanted(claim, volume, selector):
            free.append(volume)
    return reserved, free


def _suits(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """What is asked of reserved volumes as well."""
    ours, its = claim.spec, volume.spec
    return (
        not capacity_of(volume) < request_of(claim)
        and _mode(ours.volume_mode) == _mode(its.volume_mode)
        and (ours.volume_attributes_class_name or "") == (its.volume_attributes_class_name or "")
        and volume.metadata.deletion_timestamp is None
    )


def _mode(mode: str | None) -> str:
    return "Filesystem" if mode is None else mode


def _is_wanted(claim: PersistentVolumeClaim, volume: PersistentVolume, selector: Selector | None) -> bool:
    if selector is not None and not selector.matches(volume.metadata.labels):
        return False
    return set(claim.spec.access_modes) <= set(volume.spec.access_modes)


def claims_by_size(claims: Iterable[PersistentVolumeClaim]) -> list[PersistentVolumeClaim]:
    """The claims, the smallest first, so that large volumes are left for large claims."""
    return sort_slice(list(claims), request_of)
