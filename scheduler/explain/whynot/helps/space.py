"""Storage that a driver has none of, or too little: a smaller claim, or more of it somewhere."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from scheduler.api.claims import STORAGE
from scheduler.api.meta import LabelSelector, ObjectMeta
from scheduler.api.objects import CSIStorageCapacity
from scheduler.api.topology_labels import HOSTNAME_LABEL
from scheduler.explain.whynot.change import Change, Option
from scheduler.explain.whynot.storage import amount, lacks_room, wanted
from scheduler.explain.whynot.wording import any_of, nothing
from scheduler.framework.names import VOLUME_BINDING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.explain.whynot.storage import Room, Wanted
    from scheduler.explain.whynot.survey import Survey

_SMALLER: Final = 26
_SPAN: Final = 50
_MORE: Final = 58
_EACH: Final = 3
_NODES: Final = 8


def options(survey: Survey) -> Iterator[Option]:
    """For each claim without room: the largest sizes that there is room for, and more room where there is some."""
    full = survey.rows(VOLUME_BINDING)
    full = full[lacks_room(survey, full)]
    if not len(full):
        return
    for one in wanted(survey):
        rooms = [room for room in one.rooms if room.most < one.size and room.rows[full].any()]
        sizes = [most for most in dict.fromkeys(room.most for room in rooms) if most > 0]
        yield from ((_smaller(one, most),) for most in sizes[:_EACH])
        yield from ((_more(one, room),) for room in rooms[:_EACH])
        if not rooms:
            yield tuple(_some(survey, one, row) for row in full[:_NODES].tolist())


def _smaller(one: Wanted, most: int) -> Change:
    """The claim as large as there is room."""
    claim, text = one.claim, amount(most)
    requests = {**claim.spec.resources.requests, STORAGE: text}
    resources = replace(claim.spec.resources, requests=requests)
    name = claim.metadata.name
    return Change(
        kind="smallerClaim",
        details={"claim": name, STORAGE: text},
        cost=_SMALLER + int(_SPAN * (one.size - most) / one.size),
        what=lambda _: f"{text} instead of {one.text} for claim {name}",
        effect=lambda nodes: f"finds room on {any_of(nodes)}",
        solves=frozenset((VOLUME_BINDING,)),
        objects=(("PersistentVolumeClaim", replace(claim, spec=replace(claim.spec, resources=resources))),),
    )


def _more(one: Wanted, room: Room) -> Change:
    """As much room as the claim wants, where there is less."""
    capacity = room.capacity
    larger = replace(capacity, capacity=str(one.size))
    if capacity.maximum_volume_size is not None:
        larger = replace(larger, maximum_volume_size=str(one.size))
    return Change(
        kind="freeStorage",
        details={"storageClass": one.storage_class, "free": one.text, "where": room.place},
        cost=_MORE,
        what=lambda _: (
            f"{one.text} free of StorageClass {one.storage_class} {room.place} ({amount(room.most)} is there now)"
        ),
        solves=frozenset((VOLUME_BINDING,)),
        objects=(("CSIStorageCapacity", larger),),
    )


def _some(survey: Survey, one: Wanted, row: int) -> Change:
    """Room on a node that the driver tells nothing of."""
    node = survey.state.nodes.node(row)
    name = f"new-{uuid.uuid4().hex[:8]}"
    labels = {HOSTNAME_LABEL: node.metadata.labels.get(HOSTNAME_LABEL, node.metadata.name)}
    capacity = CSIStorageCapacity(
        metadata=ObjectMeta(name=name, namespace=one.claim.metadata.namespace, uid=name),
        node_topology=LabelSelector(match_labels=labels),
        storage_class_name=one.storage_class,
        capacity=str(one.size),
    )
    return Change(
        kind="freeStorage",
        details={"storageClass": one.storage_class, "free": one.text},
        cost=_MORE,
        what=lambda nodes: (
            f"{one.text} free of StorageClass {one.storage_class} on {any_of(nodes)}, "
            "of which no CSIStorageCapacity tells now"
        ),
        effect=nothing,
        solves=frozenset((VOLUME_BINDING,)),
        objects=(("CSIStorageCapacity", capacity),),
    )
