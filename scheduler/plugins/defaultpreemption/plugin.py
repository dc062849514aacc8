"""The plugin: its extension points (pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go)."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from scheduler.api.validation import aggregate
from scheduler.config.args.default_preemption import DefaultPreemptionArgs
from scheduler.framework import names
from scheduler.framework.events import ActionType, EventHint, EventResource, QueueingHint
from scheduler.framework.interface import EnqueueExtensions, PostFilterPlugin, PostFilterResult, PreEnqueuePlugin
from scheduler.framework.status import Code, PluginError, Status, unresolvable, unschedulable
from scheduler.plugins.defaultpreemption import messages
from scheduler.plugins.defaultpreemption.budgets import BudgetSource
from scheduler.plugins.defaultpreemption.candidates import DryRun, candidates_wanted
from scheduler.plugins.defaultpreemption.choice import best, cost_of
from scheduler.plugins.defaultpreemption.eligibility import why_not_eligible
from scheduler.plugins.defaultpreemption.executor import Executor
from scheduler.plugins.defaultpreemption.orders import KnownOrders
from scheduler.plugins.defaultpreemption.rehearsal import Rehearsal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from scheduler.cache.pods import PodInfo
    from scheduler.cache.state import ClusterState
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.diagnosis import Rejections
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Eviction, Plugin

Rows = npt.NDArray[np.intp]

_GATE = "SchedulerAsyncPreemption"
_HELD: Final = unresolvable(messages.WAITING)


class DefaultPreemption(PostFilterPlugin, PreEnqueuePlugin, EnqueueExtensions):
    """Makes room for a pod by evicting pods of lower priority, as few and as unimportant ones as it can."""

    name = names.DEFAULT_PREEMPTION
    hints_see_labels = False

    def __init__(self, args: DefaultPreemptionArgs, handle: Handle) -> None:
        self._args = args
        self._metrics = handle.metrics
        self._random = handle.random
        self._budgets = BudgetSource(handle.state.objects)
        self._orders = KnownOrders(handle.state)
        self._asynchronous = handle.feature_enabled(_GATE)
        self._executor = Executor(handle, asynchronous=self._asynchronous)

    def take_over(self, former: Plugin) -> None:
        """Evictions that are under way go on to hold their pods back."""
        if isinstance(former, DefaultPreemption):
            self._executor = former._executor

    # making room

    def post_filter(self, cycle: Cycle) -> PostFilterResult:
        """Success with a node in prospect once its victims are being evicted; else Unschedulable, and why."""
        rejections = cycle.rejections
        if rejections is None:
            raise PluginError("preemption is for pods that fit nowhere, and this one was not filtered")
        try:
            return self._preempt(cycle, rejections)
        finally:
            self._metrics.preemption_attempts.labels().inc()

    def _preempt(self, cycle: Cycle, rejections: Rejections) -> PostFilterResult:
        why_not = why_not_eligible(cycle, rejections)
        if why_not:
            return PostFilterResult(unschedulable(messages.prefixed(why_not)))
        now = time.time()
        rows = rejections.rows_with(Code.UNSCHEDULABLE)
        offset = self._random.randrange(len(rows)) if len(rows) else 0
        dry_run = self._dry_run(cycle, rejections, np.concatenate((rows[offset:], rows[:offset])), now)
        if dry_run.candidates:
            return self._choose(cycle, dry_run.candidates, now)
        if dry_run.errors:
            raise PluginError(messages.prefixed(aggregate(dry_run.errors)))
        text = messages.nothing_helps(len(cycle.state.nodes), dry_run.tried)
        return PostFilterResult(unschedulable(messages.prefixed(text)), nominated_node="")

    def _dry_run(self, cycle: Cycle, rejections: Rejections, rows: Rows, now: float) -> DryRun:
        dry_run = DryRun(cycle, rejections, self._budgets.current(), now, self._orders)
        dry_run.run(rows, candidates_wanted(self._args, len(rows)))
        return dry_run

    def rehearse(self, cycle: Cycle, rejections: Rejections) -> Rehearsal:
        """What `post_filter` would come to: nothing is begun, drawn, counted or nominated by it, no extender is asked.

        An attempt begins at a node that it draws, this at the first one.
        """
        why_not = why_not_eligible(cycle, rejections)
        if why_not:
            return Rehearsal(message=messages.prefixed(why_not), ineligible=why_not)
        now = time.time()
        rows = rejections.rows_with(Code.UNSCHEDULABLE)
        dry_run = self._dry_run(cycle, rejections, rows, now)
        costs = [(cost_of(candidate, now), candidate) for candidate in dry_run.candidates]
        costs.sort(key=lambda one: (one[0], one[1].node))
        if costs:
            text = messages.found(costs[0][1].node, len(costs[0][1].victims))
        elif dry_run.errors:
            text = aggregate(dry_run.errors)
        else:
            text = messages.nothing_helps(len(cycle.state.nodes), dry_run.tried)
        nodes = [candidate.node for _, candidate in costs]
        lesser = {node: self._executor.lesser_nominations(cycle.pod, node) for node in nodes}
        return Rehearsal(
            message=messages.prefixed(text),
            might_help=len(rows),
            tried=dry_run.helped + sum(dry_run.tried.values()),
            candidates=tuple(costs),
            refused=dict(dry_run.tried),
            errors=tuple(dry_run.errors),
            cleared={node: tuple(sorted(pod.key for pod in pods)) for node, pods in lesser.items() if pods},
        )

    def _choose(self, cycle: Cycle, candidates: Sequence[Eviction], now: float) -> PostFilterResult:
        if cycle.extenders:
            try:
                candidates = cycle.extenders.preempt(candidates, partial(_pods_on, cycle.state))
            except Exception as problem:
                raise PluginError(messages.prefixed(str(problem))) from problem
        if not candidates:
            return PostFilterResult(unschedulable(messages.prefixed(messages.NO_CANDIDATE)))
        pod, ties = cycle.pod, best(candidates, now)
        chosen = ties[self._random.randrange(len(ties))] if len(ties) > 1 else ties[0]
        cleared = self._executor.lesser_nominations(pod, chosen.node)
        self._executor.start(pod, chosen)
        text = messages.prefixed(messages.found(chosen.node, len(chosen.victims)))
        return PostFilterResult(
            Status(Code.SUCCESS, (text,)), chosen.node, chosen.victims, tuple(candidates), tuple(ties), tuple(cleared)
        )

    # holding the pod back

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """A pod waits until its victims have been told to go."""
        return _HELD if self._executor.holds(pod.uid) else None

    def let_go(self, held: AbstractSet[str]) -> AbstractSet[str]:
        """Many wait for their victims, and each deletion of one is the occasion to ask for all of them."""
        return held - self._executor.held()

    def events_to_register(self) -> Sequence[EventHint]:
        """Deletions of assigned pods, which may end the wait; none where no pod is ever held back."""
        if not self._asynchronous:
            return []
        return [EventHint(EventResource.ASSIGNED_POD, ActionType.DELETE, self.after_pod_deletion)]

    def after_pod_deletion(self, pod: PodInfo, old: PodInfo, new: PodInfo | None) -> QueueingHint:
        """It is for the plugins that turned the pod down to say whether this helps."""
        del pod, old, new
        return QueueingHint.SKIP


def _pods_on(state: ClusterState, node: str) -> list[PodInfo] | None:
    return state.pods.on_node(node) if node in state.nodes else None


def make(args: Any, handle: Handle) -> DefaultPreemption:
    """The plugin with its arguments; None means the defaults."""
    return DefaultPreemption(args if args is not None else DefaultPreemptionArgs(), handle)
