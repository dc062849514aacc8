"""The order in which kube-scheduler looks at nodes: zone by zone in turn (backend/cache/node_tree.go).

It matters to which nodes are sampled when not all of them are scored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from scheduler.api.topology_labels import BETA_REGION_LABEL, BETA_ZONE_LABEL, REGION_LABEL, ZONE_LABEL

if TYPE_CHECKING:
    from scheduler.api.objects import Node

_ZONE_LABELS: Final = (BETA_ZONE_LABEL, ZONE_LABEL)
_REGION_LABELS: Final = (BETA_REGION_LABEL, REGION_LABEL)


def zone_key(node: Node) -> tuple[str, str]:
    """Region and zone of a node, ("", "") for none (component-helpers/node/topology/helpers.go, GetZoneKey)."""
    labels = node.metadata.labels

    def first(keys: tuple[str, str]) -> str:
        return labels[keys[0]] if keys[0] in labels else labels.get(keys[1], "")

    return first(_REGION_LABELS), first(_ZONE_LABELS)


class NodeOrder:
    """Zones in the order in which they appeared, nodes in each in the order of theirs; listed in turn."""

    __slots__ = ("_list", "_zones")

    def __init__(self) -> None:
        self._zones: dict[tuple[str, str], dict[str, int]] = {}
        self._list: npt.NDArray[np.intp] | None = None

    def set(self, old: Node | None, node: Node, row: int) -> None:
        """Add a node, or move it if its zone changed."""
        zone = zone_key(node)
        if old is not None:
            if zone_key(old) == zone:
                return
            self.remove(old)
        self._zones.setdefault(zone, {})[node.metadata.name] = row
        self._list = None

    def remove(self, node: Node) -> None:
        """Take a node out."""
        zone = zone_key(node)
        nodes = self._zones[zone]
        del nodes[node.metadata.name]
        if not nodes:
            del self._zones[zone]
        self._list = None

    def rows(self) -> npt.NDArray[np.intp]:
        """All rows with a node, in order. Made anew only after nodes came, went or moved."""
        if self._list is None:
            zones = [list(nodes.values()) for nodes in self._zones.values()]
            longest = max(map(len, zones), default=0)
            turns = (zone[turn] for turn in range(longest) for zone in zones if turn < len(zone))
            self._list = np.fromiter(turns, np.intp)
        return self._list
