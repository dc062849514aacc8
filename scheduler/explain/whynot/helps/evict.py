"""Fewer pods on a node: the least important ones that would make room, as preemption would pick them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from scheduler.api.owners import controller_of
from scheduler.cache.pods import PodInfo  # noqa: TC001 - a NamedTuple's annotations are looked up
from scheduler.explain.whynot.change import Change, Option
from scheduler.explain.whynot.nearest import things_missing
from scheduler.explain.whynot.wording import count, listed, open_, opens
from scheduler.framework import names
from scheduler.framework.filtering import filter_row
from scheduler.framework.status import Code
from scheduler.plugins.defaultpreemption.choice import by_importance, ranked

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from scheduler.api.objects import Pod
    from scheduler.explain.whynot.survey import Survey

REMOVE: Final = 50
_EACH: Final = 5
_PRIORITY: Final = 45
_POLICY: Final = 18
_ALIKE: Final = 30
_NODES: Final = 8
_MOST_PODS: Final = 5
_NOT_PODS: Final = frozenset((names.TAINT_TOLERATION, names.NODE_AFFINITY, names.NODE_UNSCHEDULABLE))
"""Plugins that another change may satisfy, whatever pods there are."""
_HIGHEST: Final = 1_000_000_000
"""The highest priority that users may give."""


class Victims(NamedTuple):
    """The fewest, least important pods without which a node is turned down by the plugins in `left` only."""

    pods: tuple[PodInfo, ...]
    solves: frozenset[str]
    left: frozenset[str]

    def rank(self, pod: PodInfo) -> tuple[bool, int, int, int]:
        """How much it hurts: pods that would want to come back in the pod's place come last."""
        priorities = [victim.priority for victim in self.pods]
        return self.alike(pod), max(priorities), len(priorities), sum(priorities)

    def alike(self, pod: PodInfo) -> bool:
        """Whether any of them is of the same kind as the pod."""
        mine = pod.shape.label_class
        return bool(mine.labels) and any(victim.shape.label_class is mine for victim in self.pods)


def nodes_to_try(survey: Survey) -> list[str]:
    """The nodes that come nearest of those where pods are in the way, and at most one thing besides; by name."""
    if survey.refusal is not None:
        return []
    things = things_missing(survey)
    order = np.argsort(things, kind="stable")[: 4 * _NODES].tolist()
    rows = [row for row in order if np.isfinite(things[row]) and _in_the_way(survey, row) and possible(survey, row)]
    return [survey.state.nodes.name(row) for row in rows[:_NODES]]


def _in_the_way(survey: Survey, row: int) -> bool:
    statuses = survey.statuses(row)
    by_pods = [status for status in statuses if status.code is Code.UNSCHEDULABLE]
    others = [status for status in statuses if status.code is not Code.UNSCHEDULABLE]
    return bool(by_pods) and len(others) <= 1 and all(status.plugin in _NOT_PODS for status in others)


def possible(survey: Survey, row: int) -> list[PodInfo]:
    """The pods of a node that could go for good: not those that a node has by being there."""
    return [
        pod
        for pod in survey.state.pods.on_node(survey.state.nodes.name(row))
        if not pod.terminating and not is_of_node(pod)
    ]


def is_of_node(pod: PodInfo) -> bool:
    """Whether the pod comes with its node: of a daemon set, or a static one."""
    owner = controller_of(pod.shape.pod.metadata)
    return owner is not None and owner.kind in ("DaemonSet", "Node")


def victims(survey: Survey, node: str) -> Iterator[Victims]:
    """Whom to do without on a node; nobody where that does not help, or takes too many."""
    row = survey.state.nodes.rows.get(node)
    if row is None or survey.refusal is not None:
        return
    plugins = {status.plugin for status in survey.statuses(row)}
    left = plugins & _NOT_PODS
    pods = _victims(survey, row, left)
    if 0 < len(pods) <= _MOST_PODS:
        yield Victims(tuple(pods), frozenset(plugins - left), frozenset(left))


def _victims(survey: Survey, row: int, left: Collection[str]) -> list[PodInfo]:
    """All go, and come back by importance as long as the pod still fits (SelectVictimsOnNode)."""
    cycle = survey.cycle
    filters = [plugin for plugin in cycle.filters if plugin.name not in left]
    with survey.state.what_if() as trial:
        pods = possible(survey, row)
        for pod in pods:
            trial.remove(pod)
        if filter_row(cycle, filters, row) is not None:
            return []
        out = []
        for one in by_importance(ranked(pods, time.time())):
            trial.restore(one.pod)
            if filter_row(cycle, filters, row) is not None:
                trial.remove(one.pod)
                out.append(one.pod)
        return out


def options(survey: Survey, found: Sequence[Victims]) -> Iterator[Option]:
    """Of all nodes the one where it hurts least, for each thing that is in the way besides; and who might evict."""
    pod = survey.pod
    best: dict[frozenset[str], Victims] = {}
    for one in sorted(found, key=lambda one: one.rank(pod)):
        best.setdefault(one.left, one)
    for one in best.values():
        change = removal(one.pods, solves=one.solves)
        yield (replace(change, cost=change.cost + _ALIKE) if one.alike(pod) else change,)
        if not one.left and not one.alike(pod):
            yield from ((change,) for change in _by_priority(survey, one.pods, one.solves))


def removal(pods: Sequence[PodInfo], *, solves: Iterable[str]) -> Change:
    """These pods gone."""
    nodes = listed(sorted({pod.node_name for pod in pods}))
    highest = max(pod.priority for pod in pods)
    most = f"{count(len(pods), 'pod')} of priority {highest}{' at most' if len(pods) > 1 else ''}"
    words = f"{listed([pod.key for pod in pods])} gone from {nodes} ({most})"
    return Change(
        kind="removePods",
        details={"pods": ",".join(pod.key for pod in pods), "priority": str(highest)},
        cost=REMOVE + _EACH * len(pods),
        what=lambda _: words,
        effect=opens if len(pods) == 1 else open_,
        solves=frozenset(solves),
        gone=tuple(pods),
    )


def _by_priority(survey: Survey, pods: Sequence[PodInfo], solves: frozenset[str]) -> Iterator[Change]:
    """What would let the scheduler itself evict them."""
    pod, highest = survey.pod, max(victim.priority for victim in pods)
    if not survey.profile.post_filter:
        return
    whom = f"{listed([victim.key for victim in pods])} on {pods[0].node_name}"
    details = {"pods": ",".join(victim.key for victim in pods)}
    if pod.priority > highest:
        if pod.preemption_policy == "Never":
            yield Change(
                kind="preemptionPolicy",
                details={**details, "preemptionPolicy": "PreemptLowerPriority"},
                cost=_POLICY,
                what=lambda _: f"preemptionPolicy: PreemptLowerPriority, which would let it preempt {whom},",
                solves=solves,
                pod=_preempting,
                gone=tuple(pods),
                evicts=True,
            )
        return
    if highest >= _HIGHEST:
        return
    never = pod.preemption_policy == "Never"
    also = " and preemptionPolicy: PreemptLowerPriority" if never else ""
    yield Change(
        kind="raisePriority",
        details={**details, "priority": str(highest + 1)},
        cost=_PRIORITY + _EACH * len(pods),
        what=lambda _: f"a priority above {highest}{also}, which would preempt {whom},",
        solves=solves,
        pod=lambda pod: _preempting(replace(pod, spec=replace(pod.spec, priority=highest + 1))),
        gone=tuple(pods),
        evicts=True,
    )


def _preempting(pod: Pod) -> Pod:
    return replace(pod, spec=replace(pod.spec, preemption_policy="PreemptLowerPriority"))
