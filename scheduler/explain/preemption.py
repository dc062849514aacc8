"""Whether preemption would help a pod now, by the plugin's own dry run: where, at whose cost, and why not elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scheduler.api.times import format_time
from scheduler.explain.views import Preemption, PreemptionCandidate, PreemptionRefusal, Victim
from scheduler.explain.whynot.wording import count, listed
from scheduler.framework import names
from scheduler.plugins.defaultpreemption.eligibility import NEVER
from scheduler.plugins.defaultpreemption.messages import NO_VICTIMS, NOT_HELPFUL
from scheduler.plugins.defaultpreemption.plugin import DefaultPreemption

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scheduler.cache.pods import PodInfo
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import Eviction
    from scheduler.framework.profile import Profile
    from scheduler.framework.status import Status
    from scheduler.plugins.defaultpreemption.choice import Cost
    from scheduler.plugins.defaultpreemption.rehearsal import Rehearsal

SHOWN: Final = 20
"""Candidates that are listed at most."""

_SILENT: Final = frozenset((names.DEFAULT_PREEMPTION, names.DYNAMIC_RESOURCES))
"""PostFilter plugins of which nothing has to be said: the one that is asked, and one that has nothing to give up."""


def preemption(profile: Profile, cycle: Cycle) -> Preemption | None:
    """What preemption would come to for the pod of a cycle in which no node fits; None if the profile has none.

    To be asked before anything changes. Nothing is evicted, nominated, drawn or counted by it.
    """
    plugin = next((one for one in profile.post_filter if isinstance(one, DefaultPreemption)), None)
    if plugin is None or cycle.rejections is None:
        return None
    others = tuple(one.name for one in profile.post_filter if one.name not in _SILENT)
    failure = _failure_before(plugin, profile, cycle)
    if failure is not None:
        return Preemption(helps=False, sentence=_not_reached(failure), message=failure.message, not_asked=others)
    found = plugin.rehearse(cycle, cycle.rejections)
    if not found.candidates:
        return Preemption(
            helps=False,
            sentence=_no_help(cycle, found),
            message=found.message,
            refused=tuple(_refused(cycle, found)),
            might_help=found.might_help,
            tried=found.tried,
            not_asked=others,
        )
    best = found.candidates[0][0]
    ties = [eviction for cost, eviction in found.candidates if cost == best]
    return Preemption(
        helps=True,
        sentence=_help(found, ties),
        message=found.message,
        node=ties[0].node if len(ties) == 1 else "",
        ties=tuple(eviction.node for eviction in ties) if len(ties) > 1 else (),
        candidates=tuple(_candidate(best, cost, one, found) for cost, one in found.candidates[:SHOWN]),
        candidate_count=len(found.candidates),
        refused=tuple(_refused(cycle, found)),
        might_help=found.might_help,
        tried=found.tried,
        not_asked=others,
    )


def _failure_before(plugin: DefaultPreemption, profile: Profile, cycle: Cycle) -> Status | None:
    """How the plugin for devices fails, where it is asked first and does: preemption is not asked then.

    Asking it changes nothing, as it has nothing to give up. It fails for pods that PreFilter turned down before it.
    """
    for one in profile.post_filter[: profile.post_filter.index(plugin)]:
        if one.name == names.DYNAMIC_RESOURCES:
            status = one.post_filter(cycle).status
            return None if status.rejected else status.by(one.name)
    return None


def _not_reached(failure: Status) -> str:
    return f"Preemption is not tried: {failure.plugin}, which is asked before it, fails ({failure.message})"


def _candidate(best: Cost, cost: Cost, eviction: Eviction, found: Rehearsal) -> PreemptionCandidate:
    worse_by, words = _worse(best, cost)
    return PreemptionCandidate(
        node=eviction.node,
        victims=tuple(_victim(pod) for pod in eviction.victims),
        pdb_violations=cost.violations,
        highest_priority=cost.highest,
        priority_sum=sum(pod.priority for pod in eviction.victims),
        started=format_time(-cost.age),
        worse_by=worse_by,
        words=words,
        cleared_nominations=found.cleared.get(eviction.node, ()),
    )


def _victim(pod: PodInfo) -> Victim:
    started = format_time(pod.start_time) if pod.start_time is not None else ""
    return Victim(pod=pod.key, priority=pod.priority, started=started, leaving=pod.terminating)


def _worse(best: Cost, cost: Cost) -> tuple[str, str]:
    """By what a candidate is worse than the best one, as a name and in words; both "" if it isn't."""
    if cost.violations != best.violations:
        return "pdbViolations", f"{_against(cost.violations)} instead of {best.violations}"
    if cost.highest != best.highest:
        return "highestPriority", f"a victim of priority {cost.highest} instead of {best.highest}"
    if cost.victims != best.victims:
        name = "victims" if cost.total == best.total else "prioritySum"
        return name, f"{count(cost.victims, 'victim')} instead of {best.victims}"
    if cost.total != best.total:
        return "prioritySum", f"priorities that are higher by {cost.total - best.total} in sum"
    if cost.age != best.age:
        return "startTime", "its most important victim has been running longer"
    return "", ""


def _against(violations: int) -> str:
    return f"{count(violations, 'victim')} against a PodDisruptionBudget"


def _help(found: Rehearsal, ties: Sequence[Eviction]) -> str:
    first = ties[0]
    told = f"Preemption would help now: it would {_victims(first)}"
    if first.violations:
        told += f", {_against(first.violations)}"
    if len(ties) > 1:
        others = listed([tie.node for tie in ties[1:]], word="or")
        told += f", or make room on {others} at the same cost, as chance decides"
    if found.tried < found.might_help:
        told += f" (of {found.tried} nodes tried; an attempt begins at any of {found.might_help} and ends as soon)"
    return told


def _victims(eviction: Eviction) -> str:
    pods = eviction.victims
    if all(pod.terminating for pod in pods):
        return f"wait for {listed([pod.key for pod in pods])} to leave {eviction.node}"
    priorities = sorted({pod.priority for pod in pods})
    of = f"priority {priorities[0]}" if len(priorities) == 1 else f"priorities up to {priorities[-1]}"
    return f"evict {listed([pod.key for pod in pods])} ({of}) from {eviction.node}"


def _no_help(cycle: Cycle, found: Rehearsal) -> str:
    if found.ineligible == NEVER:
        return "Preemption is not for this pod: its preemptionPolicy is Never"
    if found.ineligible:
        return f"Preemption waits: a pod that was preempted for it is still leaving {cycle.pod.nominated_node_name}"
    if found.errors:
        return f"Preemption would fail: {found.errors[0]}"
    return "Preemption would not help: " + "; ".join(refusal.words for refusal in _refused(cycle, found))


def _refused(cycle: Cycle, found: Rehearsal) -> Iterator[PreemptionRefusal]:
    """Why not, the commonest reason first; the nodes beyond help from the start come last."""
    if found.ineligible:
        return
    priority = cycle.pod.priority
    for status, nodes in sorted(found.refused.items(), key=lambda one: (-one[1], one[0].message)):
        one = nodes == 1
        if status.message == NO_VICTIMS:
            words = f"{count(nodes, 'node')} {'has' if one else 'have'} no pod of a priority below {priority}"
        else:
            words = f"{count(nodes, 'node')} would turn it down without such pods, too: {status.message}"
        yield PreemptionRefusal(reason=status.message, nodes=nodes, words=words)
    beyond = len(cycle.state.nodes) - found.might_help
    if beyond:
        words = f"{count(beyond, 'node')} {'turns' if beyond == 1 else 'turn'} it down for what no eviction changes"
        yield PreemptionRefusal(reason=NOT_HELPFUL, nodes=beyond, words=words)
