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
    """Zones in the order in which they appeared, nodes in each in the order of theirs; listed in turn.

    The list is made anew when it is looked at and other nodes are there than when it was made. So a node that changed
    its zone, or went and came back between two looks, keeps its place until then (backend/cache/cache.go,
    UpdateSnapshot).
    """

    __slots__ = ("_changed", "_names", "_rows", "_zones")

    def __init__(self) -> None:
        self._zones: dict[tuple[str, str], dict[str, int]] = {}
        self._names: list[str] = []
        self._rows: npt.NDArray[np.intp] = np.empty(0, np.intp)
        self._changed = False

    def set(self, old: Node | None, node: Node, row: int) -> None:
        """Add a node, or move it if its zone changed."""
        zone = zone_key(node)
        if old is not None:
            if zone_key(old) == zone:
                return
            self.remove(old)
        self._zones.setdefault(zone, {})[node.metadata.name] = row
        self._changed = True

    def remove(self, node: Node) -> None:
        """Take a node out."""
        zone = zone_key(node)
        nodes = self._zones[zone]
        del nodes[node.metadata.name]
        if not nodes:
            del self._zones[zone]
        self._changed = True

    def rows(self) -> npt.NDArray[np.intp]:
        """All rows with a node, in order. To be looked at once a cycle, as kube-scheduler does."""
        if self._changed:
            rows = {name: row for nodes in self._zones.values() for name, row in nodes.items()}
            if len(rows) != len(self._names) or not all(name in rows for name in self._names):
                self._names = self._listed()
            self._rows = np.fromiter((rows[name] for name in self._names), np.intp, len(rows))
            self._changed = False
        return self._rows

    def names(self) -> list[str]:
        """The list as it was at the last look; not to be changed."""
        return self._names

    def restore(self, names: list[str]) -> None:
        """Let the list be one that was made before, for the nodes that are there now."""
        if names is not self._names:
            self._names = names
            self._changed = True

    def _listed(self) -> list[str]:
        zones = [list(nodes) for nodes in self._zones.values()]
        longest = max(map(len, zones), default=0)
        return [zone[turn] for turn in range(longest) for zone in zones if turn < len(zone)]
