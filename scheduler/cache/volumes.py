"""Which pods use which volumes, counted with every pod that comes and goes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeVar

import msgspec

from scheduler.api.csi_migration import in_tree_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.api.objects import Pod, Volume
    from scheduler.cache.pods import PodInfo

K = TypeVar("K")


class VolumeNeeds(msgspec.Struct, frozen=True):
    """What the volumes of a shape's pods ask for.

    - `claims`: names of claims, as often as they are named; those of ephemeral volumes are not among them.
    - `ephemeral`: whether any volume is a generic ephemeral one.
    - `exclusive`: volumes that not every other pod may share a node with.
    - `migratable`: volumes written into the pod whose driver has become a CSI driver.
    """

    claims: tuple[str, ...]
    ephemeral: bool
    exclusive: tuple[Volume, ...]
    migratable: tuple[Volume, ...]


def volume_needs(pod: Pod) -> VolumeNeeds | None:
    """The needs of a pod's volumes; None if no plugin has to look at any of them."""
    claims, exclusive, migratable = [], [], []
    ephemeral = False
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            claims.append(volume.persistent_volume_claim.claim_name)
        elif volume.ephemeral is not None:
            ephemeral = True
        elif in_tree_of(volume) is not None:
            migratable.append(volume)
        if volume.gce_persistent_disk or volume.aws_elastic_block_store or volume.iscsi or volume.rbd:
            exclusive.append(volume)
    if not (claims or ephemeral or exclusive or migratable):
        return None
    return VolumeNeeds(tuple(claims), ephemeral, tuple(exclusive), tuple(migratable))


class VolumeUse:
    """The pods on nodes that use volumes.

    - `claims`: how often volumes of pods name a claim, by (namespace, name).
    - `names`: the same by name alone.
    - `pods`: the pods with any needs, by row and uid.
    """

    __slots__ = ("claims", "names", "pods")

    def __init__(self) -> None:
        self.claims: Counter[tuple[str, str]] = Counter()
        self.names: Counter[str] = Counter()
        self.pods: dict[int, dict[str, PodInfo]] = {}

    def count(self, pod: PodInfo, needs: VolumeNeeds, row: int, sign: int) -> None:
        """Count a pod in (sign 1) or out (-1) of a row."""
        for name in needs.claims:
            _add(self.claims, (pod.namespace, name), sign)
            _add(self.names, name, sign)
        if sign > 0:
            self.pods.setdefault(row, {})[pod.uid] = pod
            return
        here = self.pods[row]
        del here[pod.uid]
        if not here:
            del self.pods[row]

    def on_row(self, row: int) -> Mapping[str, PodInfo]:
        """The pods with any needs on a row, by uid."""
        return self.pods.get(row, {})


def _add(counts: Counter[K], key: K, sign: int) -> None:
    counts[key] += sign
    if not counts[key]:
        del counts[key]
