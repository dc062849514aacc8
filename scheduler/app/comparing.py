"""The same pods placed twice, under two configurations or before and after a change: what comes out differently."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from scheduler.app.balance import Balance, balance
from scheduler.app.decisions import GATED
from scheduler.client.kinds import PODS
from scheduler.explain.record import NodeRejection, NodeScore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.app.decisions import PodDecision
    from scheduler.app.simulation import Simulation
    from scheduler.cycle.algorithm import Decision
    from scheduler.cycle.outcome import Failure
    from scheduler.cycle.scheduler import DecisionHook
    from scheduler.queue.entry import QueuedPod

Make = Callable[["DecisionHook | None"], "Simulation"]
"""Makes the simulation of one side; the hook, if there is one, sees each attempt with every plugin's scores."""
Told = Callable[[str, int, int], None]
"""(which side, pods decided, of how many)."""

NOT_LOOKED_AT = "not looked at, as enough nodes were found before (percentageOfNodesToScore)"
NOT_THERE = "there is no such node"
RUNNING = "Running"


class Side(msgspec.Struct, frozen=True):
    """One of the two: what it is called, how many pods came out how, and how the cluster lies then."""

    name: str
    scheduled: int
    pending: int
    gated: int
    evicted: int
    balance: Balance


class Place(msgspec.Struct, frozen=True):
    """What became of a pod on one side."""

    node: str | None
    status: str
    message: str


class Verdicts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one side says of the nodes that a pod got on either: by node its points, or why it was turned down."""

    points: dict[str, NodeScore] = {}
    rejected: dict[str, NodeRejection] = {}


class Moved(msgspec.Struct, frozen=True):
    """A pod that comes out differently. A pod that only one side has is not among the other's (None)."""

    pod: str
    a: Place | None
    b: Place | None
    under_a: Verdicts
    under_b: Verdicts


class Comparison(msgspec.Struct, frozen=True):
    """Both sides, the pods that come out differently, and how many come out alike."""

    a: Side
    b: Side
    moved: tuple[Moved, ...]
    alike: int


class _Watch:
    """Notes what is said of some nodes: for each pod those that it got on either side."""

    def __init__(self, elsewhere: Mapping[str, str | None]) -> None:
        self.verdicts: dict[str, Verdicts] = {}
        self._elsewhere = elsewhere

    def __call__(self, entry: QueuedPod, decision: Decision | None, _failure: Failure | None, node: str) -> None:
        """An attempt came to an end."""
        other = self._elsewhere.get(entry.pod.key)
        names = [name for name in dict.fromkeys((node, other)) if name]
        if decision is not None and other != (node or None):
            self.verdicts[entry.pod.key] = _verdicts(decision, names)
        else:
            self.verdicts.pop(entry.pod.key, None)


async def compare(names: tuple[str, str], make: tuple[Make, Make], told: Told) -> Comparison:
    """Place the pods on both sides. Where some come out differently, A is asked once more for its reasons."""
    first = make[0](None)
    before = await first.run(lambda done, total: told(names[0], done, total))
    a = _side(names[0], before, first)
    places = [_places(before, first)]
    del first
    watch = _Watch({decision.pod: decision.node for decision in before})
    second = make[1](watch)
    after = await second.run(lambda done, total: told(names[1], done, total))
    b = _side(names[1], after, second)
    places.append(_places(after, second))
    del second
    pods = list(dict.fromkeys(decision.pod for decision in (*before, *after)))
    moved = [pod for pod in pods if _differ(places[0].get(pod), places[1].get(pod))]
    reasons = _Watch({pod: place.node if (place := places[1].get(pod)) is not None else None for pod in moved})
    if moved:
        await make[0](reasons).run(lambda done, total: told(f"{names[0]}, for its reasons", done, total))
    none = Verdicts()
    return Comparison(
        a,
        b,
        tuple(
            Moved(
                pod,
                places[0].get(pod),
                places[1].get(pod),
                reasons.verdicts.get(pod, none),
                watch.verdicts.get(pod, none),
            )
            for pod in moved
        ),
        len(pods) - len(moved),
    )


def _differ(a: Place | None, b: Place | None) -> bool:
    if a is None or b is None:
        return True
    return a.node != b.node or (a.node is None and a.status != b.status)


def _places(decisions: Sequence[PodDecision], simulation: Simulation) -> dict[str, Place]:
    """What became of each pod; those that nothing was decided on are where they were."""
    places = {
        f"{pod.metadata.namespace}/{pod.metadata.name}": Place(pod.spec.node_name, RUNNING, "")
        for pod in simulation.cluster.list(PODS)
        if pod.spec.node_name
    }
    places.update((each.pod, Place(each.node, each.status, each.message)) for each in decisions)
    return places


def _side(name: str, decisions: Sequence[PodDecision], simulation: Simulation) -> Side:
    scheduled = sum(1 for decision in decisions if decision.node is not None)
    gated = sum(1 for decision in decisions if decision.status == GATED)
    return Side(
        name=name,
        scheduled=scheduled,
        pending=len(decisions) - scheduled - gated,
        gated=gated,
        evicted=sum(len(decision.victims) for decision in decisions),
        balance=balance(simulation),
    )


def _verdicts(decision: Decision, names: Sequence[str]) -> Verdicts:
    known = decision.cycle.state.nodes.rows
    points: dict[str, NodeScore] = {}
    rejected: dict[str, NodeRejection] = {}
    for name in names:
        row = known.get(name)
        if row is None:
            rejected[name] = NodeRejection("", "", (NOT_THERE,))
        elif len(place := np.flatnonzero(decision.feasible == row)):
            points[name] = _points(decision, int(place[0]))
        else:
            rejected[name] = _rejection(decision, row)
    return Verdicts(points, rejected)


def _points(decision: Decision, place: int) -> NodeScore:
    plugins = {scores.name: int(scores.weighted[place]) for scores in decision.scores}
    raw = {scores.name: int(scores.raw[place]) for scores in decision.scores}
    total = int(decision.totals[place]) if decision.totals is not None else sum(plugins.values())
    return NodeScore(total, plugins, raw)


def _rejection(decision: Decision, row: int) -> NodeRejection:
    rejections = decision.rejections
    if not rejections.evaluated[row]:
        status = rejections.absent
    else:
        status = rejections.status_of(row)
    if status is None:
        return NodeRejection("", "", (NOT_LOOKED_AT,))
    return NodeRejection(status.plugin, str(status.code), tuple(sorted(status.reasons)))
