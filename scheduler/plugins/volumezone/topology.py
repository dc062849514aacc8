"""Zones and regions in the labels of volumes (volumezone/volume_zone.go, cloud-provider/volume/helpers/zones.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from scheduler.api.topology_labels import BETA_REGION_LABEL, BETA_ZONE_LABEL, REGION_LABEL, ZONE_DELIMITER, ZONE_LABEL

if TYPE_CHECKING:
    import numpy.typing as npt

    from scheduler.api.objects import PersistentVolume
    from scheduler.cache.nodes import NodeView

KEYS: Final = (BETA_ZONE_LABEL, BETA_REGION_LABEL, ZONE_LABEL, REGION_LABEL)
_GENERAL: Final = {BETA_ZONE_LABEL: ZONE_LABEL, BETA_REGION_LABEL: REGION_LABEL}


class Topology(msgspec.Struct, frozen=True):
    """A label that a node must have, with one of the values."""

    key: str
    values: frozenset[str]


def topologies(volume: PersistentVolume) -> list[Topology]:
    """What the labels of a volume ask for. A label with an empty zone in its list is ignored."""
    found = []
    for key in KEYS:
        label = volume.metadata.labels.get(key)
        if label is None:
            continue
        zones = frozenset(zone.strip() for zone in label.split(ZONE_DELIMITER))
        if "" not in zones:
            found.append(Topology(key, zones))
    return found


def in_zone(topology: Topology, nodes: NodeView) -> npt.NDArray[np.bool_]:
    """bool, one a row of the view; where a node lacks a beta label the general one stands for it."""
    allowed = _allowed(topology, topology.key, nodes)
    general = _GENERAL.get(topology.key)
    if general is None:
        return allowed
    unlabelled = nodes.label_ids(topology.key) == 0
    allowed |= unlabelled & _allowed(topology, general, nodes)
    return allowed


def _allowed(topology: Topology, key: str, nodes: NodeView) -> npt.NDArray[np.bool_]:
    column = nodes.table.labels(key)
    allowed: npt.NDArray[np.bool_] = column.decide(lambda value: value in topology.values, np.bool_)
    here: npt.NDArray[np.bool_] = allowed[column.ids[nodes.rows]]
    return here
