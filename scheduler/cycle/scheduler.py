"""Takes pods from the queue, decides, and sees the decisions through (pkg/scheduler/schedule_one.go)."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from scheduler.cycle import outcome
from scheduler.cycle.algorithm import Algorithm, Decision, FitError, NoNodesError
from scheduler.cycle.batching import UnbatchedPods
from scheduler.cycle.binding import Attempt, BindingCycle
from scheduler.cycle.failure import FailureHandler
from scheduler.cycle.journal import Attempted, Journal
from scheduler.cycle.outcome import Failure
from scheduler.cycle.tracker import UnscheduledPods
from scheduler.framework.cycle import Cycle
from scheduler.framework.post_filter import run_post_filters
from scheduler.framework.recorder import SAMPLED, PluginRecorder
from scheduler.framework.reservation import run_permit, run_reserve
from scheduler.framework.status import Code, PluginError
from scheduler.framework.trace import Trace
from scheduler.framework.waiting import WaitingPod, WaitingPods

if TYPE_CHECKING:
    from scheduler.cache.pods import PodInfo
    from scheduler.cache.state import ClusterState
    from scheduler.client.events import EventRecorder
    from scheduler.client.extender.interface import Extender
    from scheduler.client.interface import Writer
    from scheduler.framework.handle import Handle
    from scheduler.framework.profile import Profile
    from scheduler.metrics.scheduler_metrics import SchedulerMetrics
    from scheduler.queue.entry import QueuedPod
    from scheduler.queue.queue import SchedulingQueue

log = logging.getLogger(__name__)

TIME_SLICE: Final = 0.005
"""Seconds of deciding before other work of the event loop gets its turn."""

DecisionHook = Callable[["QueuedPod", "Decision | None", "Failure | None", str], None]
"""(the pod, the decision if it came to one, how it failed, the node picked or ""), after each attempt."""

ShadowHook = Callable[["Cycle", "Decision", "Failure | None", str], None]
"""(the attempt, the decision, that no node fits if so, the node picked or ""), at the state that was decided on."""


class Scheduler:
    """One scheduler: its state, its profiles, its queue.

    `random_source` breaks ties. `decided` is told of each attempt, `checked` of each decision, also that the pod fits
    nowhere, before it takes effect (the self-check hooks in there); what it raises fails the attempt. With `batching`,
    metrics show what became of it. `journal` keeps records of attempts. `nominating` is for the `BindingCycle`.
    """

    def __init__(
        self,
        state: ClusterState,
        profiles: dict[str, Profile],
        queue: SchedulingQueue,
        writer: Writer,
        recorders: Mapping[str, EventRecorder],
        metrics: SchedulerMetrics,
        *,
        percentage_of_nodes_to_score: int = 0,
        waiting: WaitingPods | None = None,
        random_source: random.Random | None = None,
        details: bool = False,
        decided: DecisionHook | None = None,
        checked: Callable[[Profile, PodInfo, Decision], None] | None = None,
        batching: bool = True,
        nominating: bool = True,
        journal: Journal | None = None,
    ) -> None:
        self.state = state
        self.profiles = profiles
        self.queue = queue
        self.metrics = metrics
        self.algorithm = Algorithm(state, percentage_of_nodes_to_score=percentage_of_nodes_to_score)
        self.unscheduled = UnscheduledPods()
        self.waiting = waiting if waiting is not None else WaitingPods()
        self.failures = FailureHandler(state, queue, self.unscheduled, writer, recorders, metrics)
        self._binding = BindingCycle(state, queue, self.waiting, self.failures, writer, metrics, nominating=nominating)
        self._random = random_source or random.Random()
        self.recorders = recorders
        self._details = details
        self._decided = decided
        self._checked = checked
        self._journal = journal
        self._plugin_recorders = {name: PluginRecorder(metrics, name) for name in profiles}
        for name, profile in profiles.items():
            self._plugin_recorders[name].expect(profile)
        self._unbatched = {name: UnbatchedPods(metrics, name) for name in profiles} if batching else {}
        self._algorithm_duration = metrics.scheduling_algorithm_duration.labels()
        self._tasks: set[asyncio.Task[None]] = set()
        self._beside: set[asyncio.Task[None]] = set()
        self._stopping = False
        self.handle: Handle | None = None
        """What the plugins were made with, for whoever makes more of them."""
        self._on_tried: Callable[[int], None] | None = None
        self.shadows: dict[str, ShadowHook] = {}
        """By profile: who is told of its decisions before they take effect, to decide on the same state."""

    def pace(self, *, tried: Callable[[int], None], bound: Callable[[float], None]) -> None:
        """Tell how many pods were `tried` without a pause, and how many seconds it took from the beginning of an
        attempt until its pod was `bound`."""
        self._on_tried = tried
        self._binding.on_bound = bound

    # the loop

    async def run(self) -> None:
        """Schedule until `stop` is called."""
        while not self._stopping:
            if not self.queue.ready:
                await self.queue.wait()
                continue
            deadline = time.perf_counter() + TIME_SLICE
            tried = 0
            while self.schedule_next():
                tried += 1
                if time.perf_counter() >= deadline:
                    break
            if self._on_tried is not None:
                self._on_tried(tried)
            await asyncio.sleep(0)

    def stop(self) -> None:
        """Take no more pods; binding cycles that have begun go on."""
        self._stopping = True
        self.queue.wake()

    async def settle(self, within: float | None = None) -> int:
        """Wait for binding cycles and evictions that have begun; how many are left after `within` seconds."""
        if begun := self._tasks | self._beside:
            await asyncio.wait(begun, timeout=within)
        return len(self._tasks) + len(self._beside)

    @property
    def extenders(self) -> Sequence[Extender]:
        """The extenders, which all profiles share."""
        return next(iter(self.profiles.values())).extenders

    @property
    def binding(self) -> int:
        """How many binding cycles are under way."""
        return len(self._tasks)

    async def evicted(self) -> None:
        """Wait for the evictions that have begun."""
        if self._beside:
            await asyncio.wait(set(self._beside))

    @property
    def evicting(self) -> int:
        """How many pods are having others evicted."""
        return len(self._beside)

    def schedule_next(self) -> bool:
        """One scheduling cycle; False if no pod was ready."""
        entry = self.queue.pop()
        if entry is None:
            return False
        self._schedule(entry)
        return True

    def change_profile(self, profile: Profile) -> None:
        """Put a profile in the place of the one of its name, between two cycles. Raises ValueError if that can't be.

        A cycle is synchronous, so no pod sees a part of either. What the old profile has begun it also ends:

        - *Queue sort* is shared by all profiles, and pods lie in heaps by its keys: the plugin must be the very same.
        - *Pods in flight* (reserved, waiting at Permit, in PreBind or Bind) keep the profile that chose their node: its
          plugins bind them, or take back what they reserved. Whoever comes back is tried again by the new one after
          its backoff, whatever turned it down, since the event of the change is kept for pods in flight.
        - *Waiting pods*: a Permit plugin that the profile no longer has lets its pods go, as nobody would do so later.
          One that stays, or is made anew, finds them in the handle's `waiting`, as before.
        - *Plugins* with the same arguments are the same instances (`build_profiles`); one made anew may take over what
          its former self is in the middle of (`Plugin.take_over`).
        - *Pending pods* are tried again after their backoff (event ProfileUpdate), and asked about by the gates there
          are now; the hints are those of the new plugins. Pods of other profiles stay where they are.
        - *Caches*: verdicts and scores by shape belong to the profile, so they begin empty. What plugins compile from
          a shape is kept under their arguments.
        - *Extenders* and event recorders are those of the process; series of metrics go on under the same names.
        """
        name = profile.name
        former = self.profiles.get(name)
        if former is None:
            raise ValueError(f'there is no profile "{name}", and none can be added while the scheduler runs')
        if profile.queue_sort != former.queue_sort:
            raise ValueError(f'profile "{name}" would sort the queue otherwise, which all profiles share')
        for known, plugin in profile.plugins.items():
            old = former.plugins.get(known)
            if old is not None and old is not plugin:
                plugin.take_over(old)
        self.profiles[name] = profile
        self._plugin_recorders[name].expect(profile)
        gone = {plugin.name for plugin in former.permit} - {plugin.name for plugin in profile.permit}
        for waiting in self.waiting:
            if waiting.pod.scheduler_name == name:
                for plugin_name in gone.intersection(waiting.pending_plugins):
                    waiting.allow(plugin_name)
        self.queue.change_profile(profile)

    # what plugins ask for

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin work beside scheduling, such as evictions."""
        self._begin(work, self._beside)

    def turn_down(self, uid: str, plugin: str) -> bool:
        """Make room in memory: turn down a pod that waits at Permit or is in PreBind. False if it is past that."""
        waiting = self.waiting.get(uid)
        if waiting is not None:
            return waiting.preempt(plugin, "preempted")
        return self._binding.cancel_pre_bind(uid, f"preempted by {plugin}")

    # one cycle

    def _schedule(self, entry: QueuedPod) -> None:
        pod = entry.pod
        profile = self.profiles[pod.scheduler_name]
        if self._skip(profile, pod):
            self.queue.done(pod.uid)
            return
        start = time.perf_counter()
        cpu = time.thread_time()
        recorder = self._plugin_recorders[profile.name]
        sampled = random.random() < SAMPLED
        trace = None if self._journal is None else Trace()
        cycle = Cycle(pod, self.state, profile.name, profile.extenders, recorder, sampled=sampled, trace=trace)
        decision, failure = self._decide(profile, cycle)
        self._algorithm_duration.observe(time.perf_counter() - start)
        if decision is not None:
            for point, code, seconds in decision.timings:
                recorder.point(point, code, seconds)
        unbatched = self._unbatched.get(profile.name)
        if unbatched is not None and decision is not None and decision.filtered:
            unbatched.filtering()
            if failure is None:
                unbatched.decided(len(decision.feasible))
        node = ""
        if failure is None:
            assert decision is not None
            node = self.state.nodes.name(self._pick(decision))
        if self.shadows:
            cpu += self._cast_shadow(cycle, decision, failure, node)
        if failure is None:
            failure = self._commit(profile, cycle, entry, node, start)
        self.metrics.cycle_cpu.labels(profile.name).observe(time.thread_time() - cpu)
        if self._journal is not None:
            seconds = time.perf_counter() - start
            self._journal.attempted(Attempted(profile, cycle, entry, decision, failure, node, seconds))
        if self._decided is not None:
            self._decided(entry, decision if decision is not None and decision.begun else None, failure, node)
        if failure is not None:
            self.failures.handle(profile, entry, failure, start)
        cycle.rejections = None  # they know the cycle: both, with rows by the thousand, would wait for the collector

    def _decide(self, profile: Profile, cycle: Cycle) -> tuple[Decision | None, Failure | None]:
        """The decision, as far as there is one, and how it failed."""
        begun: list[Decision] = []
        misfit: FitError | None = None
        failure: Failure | None = None
        try:
            try:
                self.algorithm.decide(profile, cycle.pod, cycle=cycle, details=self._details, observe=begun.append)
            except FitError as problem:
                misfit = problem.with_traceback(None)  # else this frame and all in it wait for the garbage collector
            if self._checked is not None:
                self._checked(profile, cycle.pod, begun[0])
            if misfit is not None:
                failure = self._after_misfit(profile, cycle, misfit)
        except NoNodesError as problem:
            failure = Failure(outcome.UNSCHEDULABLE, str(problem))
        except PluginError as problem:
            failure = outcome.error(str(problem))
        except Exception as problem:
            log.exception("Cycle of pod %s failed", cycle.pod.key)
            failure = outcome.error(f"{type(problem).__name__}: {problem}")
        return (begun[0] if begun else None), failure

    def _cast_shadow(self, cycle: Cycle, decision: Decision | None, failure: Failure | None, node: str) -> float:
        """Let the profile's shadow see the decision, if it came to one; the CPU time that it took, in seconds."""
        shadow = self.shadows.get(cycle.profile_name)
        if shadow is None or decision is None or not decision.begun or (failure is not None and not failure.rejected):
            return 0.0
        start = time.thread_time()
        shadow(cycle, decision, failure, node)
        return time.thread_time() - start

    def _skip(self, profile: Profile, pod: PodInfo) -> bool:
        """Pods that are being deleted, or have a node already, are not worth an attempt (skipPodSchedule)."""
        if pod.terminating:
            self.failures.warn(profile, pod, f"skip schedule deleting pod: {pod.key}")
            return True
        return self.state.is_assumed(pod.uid)

    def _pick(self, decision: Decision) -> int:
        leaders = decision.leaders
        return int(leaders[0] if len(leaders) == 1 else leaders[self._random.randrange(len(leaders))])

    def _after_misfit(self, profile: Profile, cycle: Cycle, misfit: FitError) -> Failure:
        """No node fits: let the PostFilter plugins try to make room (RunPostFilterPlugins)."""
        rejections = misfit.rejections
        plugins, pending = frozenset(rejections.rejecting_plugins()), frozenset(rejections.pending_plugins())
        if not profile.post_filter:
            return Failure(outcome.UNSCHEDULABLE, rejections.message(), plugins, pending)
        made_room = run_post_filters(profile.post_filter, cycle)
        if made_room.code is Code.ERROR:
            log.error("PostFilter plugins failed for pod %s: %s", cycle.pod.key, made_room.message)
        message = rejections.message(made_room.message)
        return Failure(outcome.UNSCHEDULABLE, message, plugins, pending, made_room.nominated_node)

    def _commit(self, profile: Profile, cycle: Cycle, entry: QueuedPod, node: str, start: float) -> Failure | None:
        """Assume, reserve and permit; then bind in a task of its own."""
        try:
            placed = self.state.assume(entry.pod, node)
        except ValueError as problem:
            return outcome.error(str(problem))
        self.state.nominations.remove(placed.uid)
        waits: dict[str, float] = {}
        refusal = run_reserve(profile.reserve, cycle, node)
        if refusal is None:
            refusal, waits = run_permit(profile.permit, cycle, node)
        if refusal is not None:
            self._binding.unreserve(profile, cycle, placed.uid, node)
            return outcome.of_status(refusal)
        if waits:
            self.waiting.add(WaitingPod(placed, waits))
        self._begin(self._binding.run(Attempt(profile, cycle, entry, placed, node, start)), self._tasks)
        return None

    def _begin(self, work: Coroutine[Any, Any, None], among: set[asyncio.Task[None]]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        among.add(task)

        def finished(task: asyncio.Task[None]) -> None:
            among.discard(task)
            if not task.cancelled() and (problem := task.exception()) is not None:
                log.error("Work beside scheduling failed", exc_info=problem)

        task.add_done_callback(finished)
