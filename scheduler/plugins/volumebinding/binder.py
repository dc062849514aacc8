"""What a pod's claims come to on each node (volumebinding/binder.go, FindPodVolumes)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
import numpy.typing as npt

from scheduler.api.claims import SELECTED_NODE, class_of_claim
from scheduler.api.csi_migration import MigrationError, in_tree_of, translated
from scheduler.api.objects import (  # noqa: TC001 - msgspec resolves annotations at run time
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
)
from scheduler.plugins.volumebinding.matching import NONE, Choices, MatchError, choose, claims_by_size
from scheduler.plugins.volumebinding.provisioning import Provision, ProvisionError, provision

if TYPE_CHECKING:
    from scheduler.cache.state import ClusterState
    from scheduler.plugins.volumebinding.assumed import AssumedVolumes
    from scheduler.plugins.volumebinding.claims import PodClaims
    from scheduler.plugins.volumebinding.topology import Topology

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]
Codes = npt.NDArray[np.uint32]

NODE_CONFLICT: Final = 1
BIND_CONFLICT: Final = 2
NO_SPACE: Final = 4
VOLUME_MISSING: Final = 8
FIRST_ERROR: Final = 16
"""Codes below are sums of the four; from here on they count errors."""


class PodVolumes(msgspec.Struct, frozen=True):
    """What is to be done for a pod on one node: volumes to reserve for claims, claims to make volumes for."""

    static: tuple[tuple[PersistentVolumeClaim, PersistentVolume], ...] = ()
    dynamic: tuple[tuple[PersistentVolumeClaim, CSIStorageCapacity | None], ...] = ()


class Findings:
    """What has been found out for one pod, node by node.

    `static` and `dynamic` have a part for each claim and each time that nodes were looked at; of the parts of one claim
    all but one are silent about a node. `errors` are the texts of the codes from FIRST_ERROR on.
    """

    __slots__ = ("claims", "codes", "dynamic", "errors", "known", "static")

    def __init__(self, claims: PodClaims, size: int) -> None:
        self.claims = claims
        self.static: list[Choices] = []
        self.dynamic: list[Provision] = []
        self.errors: list[str] = []
        self.codes: Codes = np.zeros(size, np.uint32)
        self.known: Mask = np.zeros(size, np.bool_)

    def fits(self, row: int) -> bool:
        """Whether a node was looked at and does."""
        return bool(self.known[row]) and not self.codes[row]

    def on(self, row: int) -> PodVolumes:
        """The plan for a node that does."""
        static = [(part.claim, volume) for part in self.static if (volume := part.on(row)) is not None]
        dynamic = [(part.claim, part.capacity(row)) for part in self.dynamic if part.made[row]]
        return PodVolumes(tuple(static), tuple(dynamic))

    @property
    def failed(self) -> int:
        """How many of the nodes could not be looked at for an error."""
        return int(np.count_nonzero(self.codes >= FIRST_ERROR)) if self.errors else 0

    def key(self, row: int) -> tuple[int, ...]:
        """Equal for nodes with the same plan."""
        static = [int(part.picked[row]) for part in self.static]
        return (*static, *(int(part.picked[row]) if part.made[row] else NONE - 1 for part in self.dynamic))

    def error(self, text: str) -> int:
        """The code of an error."""
        if text not in self.errors:
            self.errors.append(text)
        return FIRST_ERROR + self.errors.index(text)


class VolumeBinder:
    """Finds volumes for pods."""

    def __init__(self, state: ClusterState, volumes: AssumedVolumes, topology: Topology) -> None:
        self._state = state
        self._volumes = volumes
        self._topology = topology

    def look_at(self, findings: Findings, rows: slice | Rows) -> None:
        """Find out about rows, if that has not been done.

        Where more nodes are asked for after a first look, all the rest is looked at: whoever asks (preemption) will
        ask about each of them.
        """
        known = findings.known
        if known[rows].all():
            return
        if known.any():
            wanted = ~known
        else:
            wanted = np.zeros(len(known), np.bool_)
            wanted[rows] = True
        open_ = wanted & self._state.nodes.live[: len(known)]
        if findings.claims.bound:
            open_ = self._check_bound(findings, open_)
        if findings.claims.delayed:
            self._find(findings, self._of_selected_node(findings, open_))
        known |= wanted

    def _check_bound(self, findings: Findings, rows: Mask) -> Mask:
        """Volumes that claims are bound to must exist, and be within reach; the rows without an error."""
        codes, left, failed = findings.codes, rows.copy(), np.zeros(len(rows), np.bool_)
        for claim in findings.claims.bound:
            volume = self._volumes.volume(claim.spec.volume_name)
            if volume is None:
                codes[left] |= VOLUME_MISSING
                break
            plugin = in_tree_of(volume.spec)
            if plugin is not None and plugin.migrated:
                migrated = np.zeros(len(rows), np.bool_)
                migrated[self._topology.migrated(plugin.plugin)] = True
                migrated &= left
                if migrated.any():
                    try:
                        left &= ~self._beyond_reach(findings, translated(volume, plugin), migrated)
                    except MigrationError as problem:
                        codes[migrated] = findings.error(f"could not translate pv: {problem}")
                        failed |= migrated
                        left &= ~migrated
                left &= ~self._beyond_reach(findings, volume, left & ~migrated)
            else:
                left &= ~self._beyond_reach(findings, volume, left)
        return rows & ~failed

    def _beyond_reach(self, findings: Findings, volume: PersistentVolume, rows: Mask) -> Mask:
        """Those of the rows that a volume can't be reached from, which are marked so."""
        reachable = self._topology.of_volume(volume)
        if reachable is None:
            return np.zeros(len(rows), np.bool_)
        beyond = rows.copy()
        beyond[reachable] = False
        findings.codes[beyond] |= NODE_CONFLICT
        return beyond

    def _of_selected_node(self, findings: Findings, rows: Mask) -> Mask:
        """The rows left where volumes are already being made for a certain node."""
        left = rows.copy()
        for claim in findings.claims.delayed:
            selected = claim.metadata.annotations.get(SELECTED_NODE)
            if selected is not None:
                here = np.zeros(len(rows), np.bool_)
                row = self._state.nodes.rows.get(selected)
                if row is not None:
                    here[row] = True
                left &= here
        findings.codes[rows & ~left] |= BIND_CONFLICT
        return left

    def _find(self, findings: Findings, rows: Mask) -> None:
        """Existing volumes for the claims first; whatever has no match is to be made."""
        delayed = findings.claims.delayed
        pending = [(claim, rows) for claim in delayed if SELECTED_NODE in claim.metadata.annotations]
        chosen: list[Choices] = []
        for claim in claims_by_size(claim for claim in delayed if SELECTED_NODE not in claim.metadata.annotations):
            try:
                choices = choose(claim, self._volumes.of_class(class_of_claim(claim)), rows, chosen, self._topology)
            except MatchError as problem:
                findings.codes[rows] = findings.error(str(problem))
                return
            chosen.append(choices)
            pending.append((claim, rows & (choices.picked == NONE)))
        findings.static += chosen
        self._provision(findings, pending, rows)

    def _provision(self, findings: Findings, pending: list[tuple[PersistentVolumeClaim, Mask]], rows: Mask) -> None:
        left = rows.copy()
        for claim, needing in pending:
            here = needing & left
            if not here.any():
                continue
            try:
                part = provision(claim, here, self._state.objects, self._topology)
            except ProvisionError as problem:
                findings.codes[here] = findings.error(str(problem))
                left &= ~here
                continue
            findings.codes[part.elsewhere] |= BIND_CONFLICT
            findings.codes[part.full] |= NO_SPACE
            left &= ~(part.elsewhere | part.full)
            findings.dynamic.append(part)
