"""One more node like those that there are."""

from __future__ import annotations

import uuid
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec.structs import replace

from scheduler.api.topology_labels import HOSTNAME_LABEL, ZONE_LABEL
from scheduler.cache.terms import NO_LABELS
from scheduler.explain.whynot.change import Change, Option
from scheduler.explain.whynot.helps.evict import is_of_node
from scheduler.explain.whynot.helps.labels import wanted_labels
from scheduler.explain.whynot.helps.taints import is_well, well
from scheduler.explain.whynot.resources import needs_of
from scheduler.explain.whynot.spread import deciding
from scheduler.explain.whynot.storage import zones_with_room
from scheduler.explain.whynot.volumes import ZONES, zones_of
from scheduler.explain.whynot.wording import listed, quantity, resource_word, rounded_up
from scheduler.framework.names import NODE_AFFINITY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scheduler.api.objects import CSINode, Node
    from scheduler.cache.pods import PodInfo
    from scheduler.explain.whynot.survey import Survey

_COST: Final = 60
_ELSEWHERE: Final = 5
_MOST: Final = 12
_MIX: Final = np.int64(6_364_136_223_846_793_005)
ANOTHER: Final = "another-zone"
"""The label of a node in a zone in which there is none yet."""
POOLS: Final = (
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "karpenter.sh/nodepool",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "nodepool",
    "node-pool",
    "pool",
)
"""Labels that name the pool of a node, as clouds and autoscalers set them."""
_TYPES: Final = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")


def options(survey: Survey) -> Iterator[Option]:
    """A node like one of each kind, empty but for what every such node runs; also in the zones of the pod's volumes.

    Zones in which there is room for the volumes that are to be made count as well.
    """
    kinds: dict[tuple[str, str, str], list[Node]] = {}
    for row in _models(survey):
        node = survey.state.nodes.node(row)
        key = pool_of(node), str(sorted(node.status.allocatable.items())), str(node.spec.taints)
        kinds.setdefault(key, []).append(node)
    for place, nodes in enumerate(kinds.values()):
        yield tuple(_change(survey, node, "") for node in nodes)
        if NODE_AFFINITY in survey.codes:
            labels = wanted_labels(survey.pod.shape.pod, nodes[0])
            if labels and labels.keys() == {ZONE_LABEL}:
                yield (_change(survey, nodes[0], labels[ZONE_LABEL]),)
            elif labels and HOSTNAME_LABEL not in labels:
                yield (_change(survey, nodes[0], "", labels),)
        larger = _larger(survey, nodes[0])
        if larger and not place:
            yield (_change(survey, nodes[0], "", larger=larger),)
        zones = {node.metadata.labels.get(ZONE_LABEL, "") for node in nodes}
        if not place and any(outcome.too_few and outcome.key == ZONE_LABEL for outcome in deciding(survey)):
            yield (_change(survey, nodes[0], ANOTHER),)
        for zone in (*zones_of(survey), *zones_with_room(survey)):
            if zone not in zones:
                yield (_change(survey, nodes[0], zone),)


def _models(survey: Survey) -> list[int]:
    """A row of each kind of nodes: of one pool or type, zone and size, with the same taints; the emptiest kinds last.

    Nodes of which there is a kind by name come first.
    """
    table = survey.state.nodes
    rows = np.flatnonzero(survey.live & is_well(survey))
    if not len(rows):
        rows = np.flatnonzero(survey.live)
    keys = (*POOLS, *_TYPES, ZONE_LABEL)
    columns = [table.labels(key).ids[rows].astype(np.int64) for key in keys]
    columns.append(table.taints.ids[rows].astype(np.int64))
    sizes = table.allocatable[:, rows]
    # Nodes of one type differ by what the kubelet keeps for itself: to a hundredth they are alike.
    rough = np.where(sizes > 100, np.round(np.log(np.maximum(sizes, 1)) * 100).astype(np.int64), sizes)
    mixed = np.zeros(len(rows), np.int64)
    for column in (*columns, *rough):
        mixed = mixed * _MIX + column  # wraps around: two kinds that come to the same number are most unlikely
    _, first, counts = np.unique(mixed, return_index=True, return_counts=True)
    order = sorted(zip(counts.tolist(), first.tolist(), strict=True), key=lambda item: (-item[0], item[1]))
    return [int(rows[place]) for _, place in order[:_MOST]]


def pool_of(node: Node) -> str:
    """The pool that a node belongs to, else its type, else ""."""
    labels = node.metadata.labels
    return next((labels[key] for key in (*POOLS, *_TYPES) if labels.get(key)), "")


def _change(
    survey: Survey,
    like: Node,
    zone: str,
    more: Mapping[str, str] = NO_LABELS,
    larger: Mapping[str, str] = NO_LABELS,
) -> Change:
    name = f"new-{uuid.uuid4().hex[:8]}"
    old = like.metadata.name
    labels = {key: name if value == old else value for key, value in like.metadata.labels.items()}
    labels.update({**more, HOSTNAME_LABEL: name})
    if zone:
        labels.update((key, zone) for key in ZONES if key in labels or key == ZONE_LABEL)
    node = well(replace(like, metadata=replace(like.metadata, name=name, uid=name, labels=labels)))
    allocatable = {**node.status.allocatable, **larger}
    node = replace(node, status=replace(node.status, images=(), allocatable=allocatable))
    pool, place = pool_of(like), labels.get(ZONE_LABEL, "")
    details = {"like": old, **more, **larger}
    if pool:
        details["pool"] = pool
    if place:
        details["zone"] = place
    kind = f"{pool} (such as {old})" if pool and not more and not larger else old
    where = f" but in {zone_text(zone)}" if zone else f" in {zone_text(place)}" if place and pool else ""
    if more:
        where += f" but labelled {','.join(f'{key}={value}' for key, value in sorted(more.items()))}"

    if larger:
        amounts = [f"{amount} {resource_word(resource)}" for resource, amount in larger.items()]
        where += f" but with {listed(amounts)}"
    return Change(
        kind="addNode",
        details=details,
        cost=_COST + (_ELSEWHERE if zone or more or larger else 0),
        what=lambda _: f"one more node like {kind}{where}",
        solves=frozenset(survey.codes),
        new=(node,),
        come=tuple(_pods_of_node(survey, old, name)),
        objects=_csi_node(survey, old, name),
        merge=None if zone or more or larger else partial(_merged, kind),
    )


def _larger(survey: Survey, node: Node) -> dict[str, str]:
    """What a node of a kind would have to have so that the pod finds room beside what every such node runs."""
    row = survey.state.nodes.rows[node.metadata.name]
    taken: Counter[str] = Counter()
    for pod in survey.state.pods.on_node(node.metadata.name):
        if is_of_node(pod):
            taken.update(pod.usage.requests)
    larger = {}
    for need in needs_of(survey):
        wanted = rounded_up(need.name, need.amount + taken[need.name])
        if survey.state.nodes.allocatable[need.index, row] < wanted and not need.elsewhere:
            larger[need.name] = quantity(need.name, wanted)
    return larger


def _merged(kind: str, changes: Sequence[Change]) -> Change:
    """In any of some zones."""
    zones = sorted({change.details["zone"] for change in changes if "zone" in change.details})
    if len(zones) < 2:
        return changes[0]
    details = {**changes[0].details, "zone": ",".join(zones)}
    words = f"one more node like {kind} in {listed([zone_text(zone) for zone in zones], word='or')}"
    merged: Change = replace(changes[0], details=details, what=lambda _: words)
    return merged


def zone_text(zone: str) -> str:
    """A zone in a sentence: many are called so anyway."""
    if zone == ANOTHER:
        return "another zone"
    return zone if "zone" in zone else f"zone {zone}"


def _pods_of_node(survey: Survey, old: str, new: str) -> Iterator[PodInfo]:
    """The pods that such a node has by being there."""
    for pod in survey.state.pods.on_node(old):
        if is_of_node(pod) and not pod.terminating:
            yield replace(pod.on(new), uid=f"{pod.uid}/{new}", name=f"{pod.name}-{new}")


def _csi_node(survey: Survey, old: str, new: str) -> tuple[tuple[str, CSINode], ...]:
    """What drivers there are, and how many volumes they take."""
    known: CSINode | None = survey.state.objects.get("CSINode", "", old)
    if known is None:
        return ()
    return (("CSINode", replace(known, metadata=replace(known.metadata, name=new, uid=new))),)
