"""VolumeRestrictions, NodeVolumeLimits, VolumeBinding and VolumeZone, as far as Berth has them.

Pods without volumes that these plugins look at pass as with kube-scheduler; all others are refused with a reason, so
that no pod is placed where its volumes can't be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from scheduler.framework import names
from scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PreBindPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
)
from scheduler.framework.status import SKIP, PluginError, Status, error, unresolvable
from scheduler.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.api.objects import Volume
    from scheduler.cache.nodes import NodeView
    from scheduler.cache.shapes import PodShape
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.events import EventHint
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Codes, Scores

_CLAIM: Final = "persistent_volume_claim"
_EPHEMERAL: Final = "ephemeral"
_WORDS: Final = {
    _CLAIM: "persistentvolumeclaims",
    _EPHEMERAL: "ephemeral volumes",
    "gce_persistent_disk": "GCE persistent disks",
    "aws_elastic_block_store": "AWS EBS volumes",
    "iscsi": "iSCSI volumes",
    "rbd": "RBD volumes",
    "azure_disk": "Azure disks",
    "azure_file": "Azure files",
    "cinder": "Cinder volumes",
    "vsphere_volume": "vSphere volumes",
    "portworx_volume": "Portworx volumes",
}
_EXCLUSIVE: Final = ("gce_persistent_disk", "aws_elastic_block_store", "iscsi", "rbd")
_MIGRATABLE: Final = (
    "gce_persistent_disk",
    "aws_elastic_block_store",
    "azure_disk",
    "azure_file",
    "cinder",
    "vsphere_volume",
    "portworx_volume",
)
_RELEASE: Final = __version__.rpartition(".")[0]
_REFUSED: Final = 1
_NOT_PREPARED: Final = 2


def refusal(volumes: Sequence[Volume], sources: Sequence[str]) -> Status | None:
    """Why a pod with these volumes can't be placed, if one of them has one of the sources."""
    for volume in volumes:
        for source in sources:
            if getattr(volume, source) is not None:
                return unresolvable(
                    f'Berth {_RELEASE} does not place pods that use {_WORDS[source]} yet (volume "{volume.name}")'
                )
    return None


class _VolumePlugin(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """A plugin that looks at volumes of some sources (fields of `api.Volume`).

    `not_prepared` is what kube-scheduler's Filter fails with where PreFilter is disabled; "" where it can do without.
    """

    sources: ClassVar[tuple[str, ...]]
    not_prepared: ClassVar[str] = ""
    may_fail = True

    def pre_filter(self, cycle: Cycle) -> Status:
        """Refuses pods with such volumes and skips all others."""
        cycle.data[self.name] = True
        return self._refusal(cycle.shape) or SKIP

    def filter(self, cycle: Cycle, nodes: NodeView) -> Codes | None:
        """Asked only where PreFilter is disabled; nothing is placed as if it had no volumes."""
        if self._refusal(cycle.shape) is not None:
            return np.full(len(nodes), _REFUSED, np.uint8)
        return np.full(len(nodes), _NOT_PREPARED, np.uint8) if self.not_prepared else None

    def status(self, cycle: Cycle, code: int) -> Status:
        """The refusal, or the failure."""
        return (self._refusal(cycle.shape) if code == _REFUSED else None) or error(self.not_prepared)

    def events_to_register(self) -> Sequence[EventHint]:
        """No event helps a refused pod."""
        return []

    def _refusal(self, shape: PodShape) -> Status | None:
        if self.name not in shape.memo:
            shape.memo[self.name] = refusal(shape.pod.spec.volumes, self.sources)
        known: Status | None = shape.memo[self.name]
        return known


class VolumeRestrictions(_VolumePlugin):
    """Source: pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go."""

    name = names.VOLUME_RESTRICTIONS
    sources = (_CLAIM, *_EXCLUSIVE)
    not_prepared = f'cannot read "PreFilter{names.VOLUME_RESTRICTIONS}" from cycleState'


class NodeVolumeLimits(_VolumePlugin):
    """Source: pkg/scheduler/framework/plugins/nodevolumelimits/csi.go."""

    name = names.NODE_VOLUME_LIMITS
    sources = (_CLAIM, _EPHEMERAL, *_MIGRATABLE)


class VolumeZone(_VolumePlugin):
    """Source: pkg/scheduler/framework/plugins/volumezone/volume_zone.go."""

    name = names.VOLUME_ZONE
    sources = (_CLAIM,)


class VolumeBinding(_VolumePlugin, PreScorePlugin, ScorePlugin, ReservePlugin, PreBindPlugin):
    """Source: pkg/scheduler/framework/plugins/volumebinding/volume_binding.go.

    It scores (all nodes alike) for pods without volumes, too, since StorageCapacityScoring is on.
    """

    name = names.VOLUME_BINDING
    sources = (_CLAIM, _EPHEMERAL)
    not_prepared = "not found"
    bounded = True

    def pre_score(self, cycle: Cycle, feasible: NodeView) -> Status | None:
        """Fails where PreFilter is disabled; no pod is skipped."""
        del feasible
        return None if self.name in cycle.data else error(self.not_prepared)

    def score(self, cycle: Cycle, nodes: NodeView) -> Scores:
        """0 without volumes; fails where PreFilter is disabled."""
        if self.name not in cycle.data:
            raise PluginError(f'running Score plugins: plugin "{self.name}" failed with: {self.not_prepared}')
        return np.zeros(len(nodes), np.int64)

    def reserve(self, cycle: Cycle, node: str) -> Status | None:
        """Nothing to hold without volumes."""
        del cycle, node
        return None

    def unreserve(self, cycle: Cycle, node: str) -> None:
        """Nothing to let go."""
        del cycle, node

    def pre_bind_pre_flight(self, cycle: Cycle, node: str) -> Status:
        """Nothing to bind without volumes."""
        del cycle, node
        return SKIP

    async def pre_bind(self, cycle: Cycle, node: str) -> Status | None:
        """Nothing to bind without volumes."""
        del cycle, node
        return None


def make_volume_restrictions(args: Any, handle: Handle) -> VolumeRestrictions:
    """The plugin; it takes no arguments."""
    del args, handle
    return VolumeRestrictions()


def make_node_volume_limits(args: Any, handle: Handle) -> NodeVolumeLimits:
    """The plugin; it takes no arguments."""
    del args, handle
    return NodeVolumeLimits()


def make_volume_zone(args: Any, handle: Handle) -> VolumeZone:
    """The plugin; it takes no arguments."""
    del args, handle
    return VolumeZone()


def make_volume_binding(args: Any, handle: Handle) -> VolumeBinding:
    """The plugin. Its arguments concern volumes only."""
    del args, handle
    return VolumeBinding()
