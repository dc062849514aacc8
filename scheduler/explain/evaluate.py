"""What the scheduler would decide on a pod now, on the live state, with nothing changed by asking."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from scheduler.api.times import format_time
from scheduler.cache.pods import NO_ROW
from scheduler.cycle import outcome
from scheduler.cycle.algorithm import Algorithm, FitError, NoNodesError
from scheduler.explain.decision_view import GATED, SCHEDULED, UNSCHEDULABLE, of_decision
from scheduler.explain.preemption import preemption
from scheduler.explain.steps import in_one_go, in_turns
from scheduler.explain.views import Evaluation, Summary
from scheduler.explain.whynot import why_not
from scheduler.framework.cycle import Cycle
from scheduler.framework.status import PluginError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scheduler.cache.pods import PodInfo
    from scheduler.cycle.algorithm import Decision
    from scheduler.cycle.outcome import Failure
    from scheduler.cycle.scheduler import Scheduler
    from scheduler.explain.steps import Steps
    from scheduler.framework.profile import Profile
    from scheduler.framework.status import Status

NOT_ASKED = "extenders were not asked"


class Evaluator:
    """Takes decisions beside a scheduler, with its profiles and at its state.

    Nothing of the scheduler moves on by that: not where its search for nodes begins, not its random source, no metric,
    no nomination. Extenders are not asked, and nothing is evicted. What plugins keep by shape is used and kept up to
    date, as in any cycle. Only to be called between two cycles, as everything on the event loop is.
    """

    def __init__(self, scheduler: Scheduler, clock: Callable[[], float] = time.time) -> None:
        self._scheduler = scheduler
        self._clock = clock

    def profile_for(self, pod: PodInfo) -> Profile:
        """The profile that the pod asks for; the first one for a pod of another scheduler's."""
        profiles = self._scheduler.profiles
        return profiles.get(pod.scheduler_name) or next(iter(profiles.values()))

    def evaluate(self, pod: PodInfo, profile: Profile | None = None) -> Evaluation:
        """The decision in full.

        A pod that is on a node already is decided on as if it were not; for one that finds none, preemption is tried as
        well. For a pod that PreEnqueue holds back the result is Gated, and the nodes are those that it would find if it
        were not.
        """
        profile = profile or self.profile_for(pod)
        now = format_time(self._clock())
        pending = replace(pod, node_name="", row=NO_ROW)
        placed = self._scheduler.state.pods.get(pod.uid)
        if placed is None:
            return self._view(pending, profile, now)
        with self._scheduler.state.what_if() as trial:
            trial.remove(placed)
            return self._view(pending, profile, now, preempts=False)

    def steps(self, pod: PodInfo, profile: Profile | None = None) -> Steps[Evaluation]:
        """The same with why not and what would help, for a pod that finds no node: short steps, each of them whole.

        The decision is of the first step; between two of them the scheduler may go on.
        """
        evaluation = self.evaluate(pod, profile)
        result = evaluation.decision.summary.result
        if result == SCHEDULED or self._scheduler.state.pods.get(pod.uid) is not None:
            return evaluation
        yield
        reasons = yield from why_not(self._scheduler.state, profile or self.profile_for(pod), pod)
        return replace(evaluation, why_not=reasons)

    def explain(self, pod: PodInfo, profile: Profile | None = None) -> Evaluation:
        """All steps in one go."""
        return in_one_go(self.steps(pod, profile))

    async def explain_in_turns(self, pod: PodInfo, profile: Profile | None = None) -> Evaluation:
        """All steps, with the event loop going on between them."""
        return await in_turns(self.steps(pod, profile))

    def decide(
        self, pod: PodInfo, profile: Profile | None = None, *, details: bool = False
    ) -> tuple[Decision | None, Failure | None]:
        """The decision at the state as it is, changes that are being tried included; None if it did not come to one.

        What it holds is good until the state changes. A pod that is on a node must have been taken off.
        """
        profile = profile or self.profile_for(pod)
        live = self._scheduler.algorithm
        algorithm = Algorithm(live.state, percentage_of_nodes_to_score=live.percentage_of_nodes_to_score)
        algorithm.next_start = live.next_start
        cycle = Cycle(pod, live.state, profile.name)
        begun: list[Decision] = []
        failure: Failure | None = None
        try:
            algorithm.decide(profile, pod, cycle=cycle, details=details, observe=begun.append)
        except NoNodesError as problem:
            failure = outcome.Failure(outcome.UNSCHEDULABLE, str(problem))
        except FitError as misfit:
            plugins = frozenset(misfit.rejections.rejecting_plugins())
            pending = frozenset(misfit.rejections.pending_plugins())
            failure = outcome.Failure(outcome.UNSCHEDULABLE, misfit.rejections.message(), plugins, pending, None)
        except PluginError as problem:
            failure = outcome.error(str(problem))
        return (begun[0] if begun else None), failure

    def _view(self, pod: PodInfo, profile: Profile, now: str, *, preempts: bool = True) -> Evaluation:
        start = time.perf_counter()
        decision, failure = self.decide(pod, profile, details=True)
        node = ""
        if failure is None and decision is not None and len(decision.best) == 1:
            node = decision.cycle.state.nodes.name(int(decision.best[0]))
        summary = Summary(
            id=0,
            time=now,
            pod=pod.key,
            uid=pod.uid,
            profile=profile.name,
            result="",
            node=node,
            nominated_node=self._scheduler.state.nominations.node_of(pod.uid),
            nodes=len(self._scheduler.state.nodes),
            seconds=time.perf_counter() - start,
        )
        view = of_decision(decision, failure, summary)
        gate = next(_gates(profile, pod), None)
        made_room = None
        if gate is not None:
            view = replace(view, summary=replace(view.summary, result=GATED, message=gate.message, node=""))
        elif preempts and decision is not None and view.summary.result == UNSCHEDULABLE:
            made_room = preemption(profile, decision.cycle)
        if profile.extenders:
            view = replace(view, incomplete=NOT_ASKED)
        return Evaluation(time=now, decision=view, preemption=made_room)


def _gates(profile: Profile, pod: PodInfo) -> Iterator[Status]:
    for plugin in profile.pre_enqueue:
        status = plugin.pre_enqueue(pod)
        if status is not None:
            yield status
