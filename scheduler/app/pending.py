"""What would help the pods that found no node in a simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from scheduler.explain.whynot import explain

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from scheduler.app.decisions import PodDecision
    from scheduler.cache.pods import PodInfo
    from scheduler.cycle.scheduler import Scheduler
    from scheduler.explain.views import WhyNot

_MOST: Final = 100
_WORK: Final = 50_000
"""Kinds of pods times nodes that are explained at most, for there is no end to it otherwise; a few kinds always are."""
_FEW: Final = 5


def with_reasons(scheduler: Scheduler, decisions: Iterable[PodDecision]) -> list[PodDecision]:
    """The decisions, those on pending pods with why not and what would help as things are in the end.

    Pods that are alike have the same answer, found once.
    """
    most = min(_MOST, max(_FEW, _WORK // max(len(scheduler.state.nodes), 1)))
    known: dict[Hashable, tuple[str, WhyNot | None]] = {}
    explained = []
    for decision in decisions:
        pod = _pending(scheduler, decision)
        if pod is None:
            explained.append(decision)
            continue
        kind = _kind(scheduler, pod)
        if kind not in known and len(known) < most:
            known[kind] = pod.name, explain(scheduler.state, scheduler.profiles[pod.scheduler_name], pod)
        name, answer = known.get(kind, ("", None))
        if answer is not None and name != pod.name:
            answer = replace(answer, sentence=pod.name + answer.sentence.removeprefix(name))
        explained.append(replace(decision, why_not=answer))
    return explained


def _kind(scheduler: Scheduler, pod: PodInfo) -> Hashable:
    """Equal for pods that have the same answer; one for which room is being made is like no other."""
    nominated = pod.nominated_node_name or scheduler.state.nominations.node_of(pod.uid)
    own = pod.uid if nominated else ""
    return pod.shape, pod.scheduler_name, pod.priority, pod.preemption_policy, pod.gates, own


def _pending(scheduler: Scheduler, decision: PodDecision) -> PodInfo | None:
    if decision.node is not None:
        return None
    namespace, _, name = decision.pod.partition("/")
    entry = scheduler.queue.get(namespace, name)
    return None if entry is None else entry.pod
