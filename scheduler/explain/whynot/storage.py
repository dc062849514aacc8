"""Free storage as CSI drivers publish it, for the pod's claims that volumes are yet to be made for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scheduler.api.claims import SELECTED_NODE, STORAGE, WAIT_FOR_FIRST_CONSUMER, class_of_claim
from scheduler.api.objects import CSIStorageCapacity, PersistentVolumeClaim  # noqa: TC001 - a NamedTuple's annotations
from scheduler.api.quantity import value
from scheduler.api.resource_names import MEMORY
from scheduler.api.selectors import SelectorError, compile_label_selector
from scheduler.api.topology_labels import HOSTNAME_LABEL
from scheduler.cache.nodes import NodeView
from scheduler.explain.whynot.volumes import ZONES, claims_of, place_text
from scheduler.explain.whynot.wording import listed, quantity
from scheduler.framework.names import VOLUME_BINDING
from scheduler.framework.node_match import LabelMatch
from scheduler.plugins.volumebinding.binder import FIRST_ERROR, NO_SPACE
from scheduler.plugins.volumebinding.provisioning import is_bound_by_capacity, limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from scheduler.explain.whynot.survey import Survey

    Mask = npt.NDArray[np.bool_]
    Rows = npt.NDArray[np.intp]


class Room(NamedTuple):
    """What a driver has for volumes of a class somewhere: bytes for the largest one, and rows that it is near."""

    capacity: CSIStorageCapacity
    most: int
    rows: Mask

    @property
    def place(self) -> str:
        """Where that is, in words: "in zone-a", "on n1"."""
        topology = self.capacity.node_topology
        if topology is None:
            return "nowhere"
        labels: list[tuple[str, tuple[str, ...]]] = [(key, (text,)) for key, text in topology.match_labels.items()]
        labels += [(item.key, item.values) for item in topology.match_expressions]
        if not labels:
            return "everywhere"
        if len(labels) == 1 and labels[0][0] == HOSTNAME_LABEL:
            return f"on {listed(labels[0][1], word='or')}"
        return f"in {' and '.join(place_text(key, list(values)) for key, values in labels)}"


class Wanted(NamedTuple):
    """A claim that a volume of `size` bytes is to be made for, and the room there is for it, the largest first."""

    claim: PersistentVolumeClaim
    storage_class: str
    size: int
    rooms: list[Room]

    @property
    def text(self) -> str:
        """The amount, as people write it."""
        return amount(self.size)


def amount(size: int) -> str:
    """Bytes as a quantity, rounded down."""
    return quantity(MEMORY, size)


def wanted(survey: Survey) -> list[Wanted]:
    """The claims of the pod that follow it and whose driver says how much room it has."""
    objects = survey.state.objects
    found = []
    for one in claims_of(survey):
        if one.claim is None or one.volume is not None or SELECTED_NODE in one.claim.metadata.annotations:
            continue
        name = class_of_claim(one.claim)
        storage_class = objects.get("StorageClass", "", name) if name else None
        if storage_class is None or storage_class.volume_binding_mode != WAIT_FOR_FIRST_CONSUMER:
            continue
        if is_bound_by_capacity(one.claim, storage_class, objects):
            size = value(one.claim.spec.resources.requests[STORAGE])
            found.append(Wanted(one.claim, name, size, sorted(_rooms(survey, name), key=lambda room: -room.most)))
    return found


def _rooms(survey: Survey, storage_class: str) -> Iterator[Room]:
    view = NodeView(survey.state.nodes)
    for capacity in survey.state.objects.all("CSIStorageCapacity"):
        most = limit(capacity)
        if capacity.storage_class_name != storage_class or most is None or capacity.node_topology is None:
            continue
        try:
            rows = LabelMatch(compile_label_selector(capacity.node_topology)).mask(view)
        except SelectorError:
            continue
        yield Room(capacity, most, rows & survey.live)


def zones_with_room(survey: Survey) -> list[str]:
    """The zones in which there is room for all claims that wait for some."""
    zones: list[list[str]] = []
    for one in wanted(survey):
        enough = [room.capacity.node_topology for room in one.rooms if room.most >= one.size]
        labels = [(key, text) for topology in enough if topology for key, text in topology.match_labels.items()]
        zones.append([text for key, text in labels if key in ZONES])
    return [zone for zone in dict.fromkeys(zones[0]) if all(zone in others for others in zones)] if zones else []


def facts(survey: Survey, why: Callable[[list[int]], str]) -> Iterator[str]:
    """Where there is room for claims, and what keeps the pod off the nodes there; else where there is most."""
    for one in wanted(survey) if VOLUME_BINDING in survey.codes else ():
        enough = [room for room in one.rooms if room.most >= one.size]
        wants = f"claim {one.claim.metadata.name} wants {one.text} of StorageClass {one.storage_class}"
        if enough:
            near = np.flatnonzero(np.logical_or.reduce([room.rows for room in enough]))
            there = near[~lacks_room(survey, near)].tolist()
            places = listed(list(dict.fromkeys(room.place for room in enough)))
            if there:
                which = "the node" if len(there) == 1 else f"the {len(there)} nodes"
                yield f"{wants}, which is free {places}; {which} there {why(there)}".rstrip()
            elif not len(near):
                yield f"{wants}, which is free {places}; no node is there"
        elif one.rooms:
            largest = one.rooms[0]
            yield f"{wants}; the most that is free in one piece is {amount(largest.most)}, {largest.place}"
        else:
            yield f"{wants}; no CSIStorageCapacity tells of any that is free"


def lacks_room(survey: Survey, rows: Rows) -> Mask:
    """Which of these rows are turned down since there is no room for a claim."""
    codes = survey.codes.get(VOLUME_BINDING)
    if codes is None:
        return np.zeros(len(rows), np.bool_)
    found: Mask = (codes[rows] < FIRST_ERROR) & (codes[rows] & NO_SPACE != 0)
    return found
