"""How many more pods like one fit in a cluster, where they go, and what ends it."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
from msgspec.structs import replace

from scheduler.api.objects import Namespace, Pod
from scheduler.app.admission import admitted
from scheduler.client.kinds import NAMESPACES, PRIORITY_CLASSES
from scheduler.cycle.algorithm import Algorithm, FitError, NoNodesError
from scheduler.framework import names
from scheduler.framework.status import PluginError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from scheduler.app.progress import Progress
    from scheduler.app.simulation import Simulation
    from scheduler.cycle.algorithm import Decision
    from scheduler.framework.diagnosis import Rejections

    Int64s = npt.NDArray[np.int64]

_BY_NODE: Final = frozenset(
    {
        names.NODE_NAME,
        names.NODE_UNSCHEDULABLE,
        names.TAINT_TOLERATION,
        names.NODE_AFFINITY,
        names.NODE_RESOURCES_FIT,
        names.NODE_DECLARED_FEATURES,
    }
)
"""Filters that look at nothing but the node, and of what changes with a copy at nothing but what it requests."""
_PODS: Final = "pods"
_EVERY: Final = 50
_WHICH: Final = 5


class Reason(msgspec.Struct, frozen=True):
    """So many nodes turned the next copy down, by whom and why; `which` are some of them."""

    nodes: int
    plugin: str
    reasons: tuple[str, ...]
    which: tuple[str, ...]


class Room(msgspec.Struct, frozen=True, rename="camel"):
    """One resource on the nodes that a copy fitted on at first (milli-CPU, bytes, counts).

    `enough_for` is how many copies would fit if it were the only one, `short_on` how many of these nodes have too
    little of it left for one more.
    """

    resource: str
    a_copy: int
    free_before: int
    free_after: int
    enough_for: int
    short_on: int


class Filling(msgspec.Struct, frozen=True, rename="camel"):
    """How many copies fit. `ended` is False if there may be more, as a limit was reached.

    `binds` is the resource that most of the nodes have too little of in the end, "" if it is none; `message` is what
    the next copy's event would say.
    """

    pod: str
    copies: int
    ended: bool
    binds: str
    nodes: int
    fitted_at_first: int
    where: dict[str, int]
    room: tuple[Room, ...]
    reasons: tuple[Reason, ...]
    message: str


class _Columns:
    """What one copy takes, and what the nodes have left of it."""

    def __init__(self, simulation: Simulation, requests: Mapping[str, int], rows: npt.NDArray[np.intp]) -> None:
        self._table = simulation.scheduler.state.nodes
        self.rows = rows
        self.amounts = {name: amount for name, amount in requests.items() if amount} | {_PODS: 1}

    def free(self) -> dict[str, Int64s]:
        """By resource, what each of the rows has left."""
        table, rows = self._table, self.rows
        found = {_PODS: table.allowed_pods[rows] - table.pod_count[rows]}
        for name in self.amounts:
            if name != _PODS:
                index = table.resource(name)
                found[name] = table.allocatable[index, rows] - table.requested[index, rows]
        return found

    def copies(self) -> Int64s:
        """How many copies each of the rows has room for."""
        free = self.free()
        counts = [np.maximum(free[name], 0) // amount for name, amount in self.amounts.items()]
        fewest: Int64s = np.minimum.reduce(counts)
        return fewest


async def fill(simulation: Simulation, pod: Pod, progress: Progress, *, limit: int | None = None) -> Filling:
    """Add copies of a pod until one fits nowhere, or until there are `limit`.

    `run` must have been called. Nobody is evicted for a copy. Where a node's room alone decides they are counted rather
    than placed one after the other, which comes to the same. Raises AdmissionError, and ValueError for pods that are
    not tried.
    """
    like = _template(_stored(simulation, pod))
    probe = _probe(simulation, like)
    columns = _columns(simulation, like, probe)
    before = columns.free()
    where: Counter[str] = Counter()
    decided_by_room = probe is not None and _decided_by_room(simulation, like, probe)
    if decided_by_room and (limit is None or columns.copies().sum() <= limit):
        _place_all(simulation, like, columns, where, progress)
    copies = where.total()
    last: Decision | None = None
    ended = False
    while not ended and (limit is None or copies < limit):
        attempt = await simulation.attempt(_copy(like, copies + 1))
        if attempt.node:
            where[attempt.node] += 1
            copies += 1
            if copies % _EVERY == 0:
                progress("filling", copies, limit)
        else:
            ended, last = True, attempt.decision
    room = _room(columns, before)
    shortest = max(room, key=lambda each: each.short_on)
    return Filling(
        pod=f"{like.metadata.namespace}/{like.metadata.name}",
        copies=copies,
        ended=ended,
        binds=shortest.resource if shortest.short_on else "",
        nodes=len(simulation.scheduler.state.nodes),
        fitted_at_first=len(columns.rows),
        where=dict(sorted(where.items(), key=lambda item: (-item[1], item[0]))),
        room=tuple(room),
        reasons=tuple(_reasons(last.rejections)) if last is not None else (),
        message=last.rejections.message() if last is not None else "",
    )


def _stored(simulation: Simulation, pod: Pod) -> Pod:
    """The pod as an API server would store it, its namespace made if there is none. Raises AdmissionError."""
    cluster = simulation.cluster
    stored = pod
    for item in admitted([*cluster.list(PRIORITY_CLASSES), pod]):
        if isinstance(item, Namespace) and cluster.get(NAMESPACES, "", item.metadata.name) is None:
            cluster.put(item)
        elif isinstance(item, Pod):
            stored = item
    return replace(stored, metadata=replace(stored.metadata, namespace=stored.metadata.namespace or "default"))


def _template(pod: Pod) -> Pod:
    """The pod without a history, and content with what is free."""
    spec = replace(pod.spec, node_name="", preemption_policy="Never")
    return replace(pod, spec=spec, status=type(pod.status)())


def _copy(like: Pod, number: int) -> Pod:
    meta = like.metadata
    name = f"{meta.name}-copy-{number}"
    uid = f"copy/{meta.namespace}/{name}"
    return replace(like, metadata=replace(meta, name=name, uid=uid, creation_timestamp=None))


def _probe(simulation: Simulation, like: Pod) -> Decision | None:
    """What would be decided on a copy, all nodes looked at; None if that fails for another reason than room."""
    scheduler = simulation.scheduler
    info = scheduler.state.info(simulation.adopted(_copy(like, 0)))
    profile = scheduler.profiles.get(info.scheduler_name)
    seen: list[Decision] = []
    if profile is None:
        return None
    with suppress(FitError, NoNodesError, PluginError):
        Algorithm(scheduler.state, all_nodes=True).decide(profile, info, observe=seen.append)
    return seen[0] if seen else None


def _columns(simulation: Simulation, like: Pod, probe: Decision | None) -> _Columns:
    info = simulation.scheduler.state.info(like)
    rows = np.sort(probe.feasible) if probe is not None else np.empty(0, np.intp)
    return _Columns(simulation, info.usage.requests, rows)


def _decided_by_room(simulation: Simulation, like: Pod, probe: Decision) -> bool:
    """Whether the copies that a node takes depend on its room alone: no copy changes what is said of another node."""
    scheduler = simulation.scheduler
    profile = scheduler.profiles[probe.cycle.pod.scheduler_name]
    spec = like.spec
    if not probe.filtered or scheduler.state.nominations or profile.permit or profile.extenders:
        return False
    if spec.scheduling_gates or spec.volumes or spec.resource_claims or spec.scheduling_group:
        return False
    return {plugin.name for plugin in probe.cycle.filters} <= _BY_NODE


def _place_all(simulation: Simulation, like: Pod, columns: _Columns, where: Counter[str], progress: Progress) -> None:
    """As many copies on each node as it has room for."""
    state = simulation.scheduler.state
    info = state.info(simulation.adopted(like))
    counts = columns.copies()
    total, done = int(counts.sum()), 0
    for row, count in zip(columns.rows.tolist(), counts.tolist(), strict=True):
        node = state.nodes.name(row)
        for number in range(done + 1, done + count + 1):
            name = f"{info.name}-copy-{number}"
            uid = f"copy/{info.namespace}/{name}"
            state.set_pod(replace(info, uid=uid, name=name, node_name=node))
        if count:
            where[node] += count
            done += count
            progress("filling", done, total)


def _room(columns: _Columns, before: Mapping[str, Int64s]) -> list[Room]:
    after = columns.free()
    return [
        Room(
            resource=name,
            a_copy=amount,
            free_before=int(np.maximum(before[name], 0).sum()),
            free_after=int(np.maximum(after[name], 0).sum()),
            enough_for=int((np.maximum(before[name], 0) // amount).sum()),
            short_on=int(np.count_nonzero(after[name] < amount)),
        )
        for name, amount in columns.amounts.items()
    ]


def _reasons(rejections: Rejections) -> list[Reason]:
    groups = list(rejections.groups())
    if rejections.absent is not None:
        groups.append((rejections.absent, np.flatnonzero(rejections.live & ~rejections.evaluated)))
    node = rejections.cycle.state.nodes.name
    found = [
        Reason(len(rows), status.plugin, tuple(status.reasons), tuple(node(row) for row in rows[:_WHICH].tolist()))
        for status, rows in groups
        if len(rows)
    ]
    return sorted(found, key=lambda reason: (-reason.nodes, reason.plugin, reason.reasons))
