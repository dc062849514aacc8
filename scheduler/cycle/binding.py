"""From a decision to a bound pod: wait for permission, prebind, bind, postbind (bindingCycle in schedule_one.go)."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

import msgspec

from scheduler.client.extender.interface import ExtenderError
from scheduler.cycle import outcome
from scheduler.cycle.cluster_events import ASSIGNED_POD_DELETE
from scheduler.framework.binding import run_bind, run_post_bind, run_pre_bind, run_pre_flights, skip_pre_bind
from scheduler.framework.extenders import EXTENDER
from scheduler.framework.recorder import BIND
from scheduler.framework.reservation import run_unreserve
from scheduler.framework.status import Code, error
from scheduler.framework.trace import WAIT_ON_PERMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scheduler.cache.pods import PodInfo
    from scheduler.cache.state import ClusterState
    from scheduler.client.interface import Writer
    from scheduler.cycle.failure import FailureHandler
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.interface import BindPlugin, PreBindPlugin
    from scheduler.framework.profile import Profile
    from scheduler.framework.status import Status
    from scheduler.framework.trace import Trace
    from scheduler.framework.waiting import WaitingPod, WaitingPods
    from scheduler.metrics.scheduler_metrics import SchedulerMetrics
    from scheduler.queue.entry import QueuedPod
    from scheduler.queue.queue import SchedulingQueue


log = logging.getLogger(__name__)


class Attempt(msgspec.Struct, frozen=True):
    """A pod on its way to a node. `placed` stands for it in the cluster state; `start` is when the attempt began."""

    profile: Profile
    cycle: Cycle
    entry: QueuedPod
    placed: PodInfo
    node: str
    start: float


class _Progress:
    """How far a binding cycle has come: whether the pod is nominated, may be bound by now, and is."""

    __slots__ = ("binding", "bound", "nominated")

    def __init__(self) -> None:
        self.nominated = False
        self.binding = False
        self.bound = False


class _PreBinding:
    """PreBind plugins at work for a pod; `message` says why they were called off, "" if they weren't."""

    __slots__ = ("_work", "message")

    def __init__(self, work: asyncio.Task[Status | None]) -> None:
        self._work = work
        self.message = ""

    def cancel(self, message: str) -> bool:
        if self._work.done():
            return False
        if not self.message:
            self.message = message
            self._work.cancel(message)
        return True


class BindingCycle:
    """Sees decisions through.

    With `nominating` (gate NominatedNodeNameForExpectation) a pod is nominated to the node that it waits for.
    """

    def __init__(
        self,
        state: ClusterState,
        queue: SchedulingQueue,
        waiting: WaitingPods,
        failures: FailureHandler,
        writer: Writer,
        metrics: SchedulerMetrics,
        *,
        nominating: bool = True,
    ) -> None:
        self._state = state
        self._queue = queue
        self._waiting = waiting
        self._failures = failures
        self._writer = writer
        self._metrics = metrics
        self._nominating = nominating
        self._pre_binding: dict[str, _PreBinding] = {}
        self.on_bound: Callable[[float], None] | None = None
        """Told how many seconds passed from the beginning of an attempt until its pod was bound."""

    def cancel_pre_bind(self, uid: str, message: str) -> bool:
        """Call the PreBind plugins of a pod off; False if it is not in that phase."""
        found = self._pre_binding.get(uid)
        return found is not None and found.cancel(message)

    async def run(self, attempt: Attempt) -> None:
        """Bind the pod; whatever goes wrong is undone, and the pod put back into the queue.

        If this is cancelled before the bind has begun, the decision is taken back silently. After that the pod may be
        bound, so it keeps its place.
        """
        progress = _Progress()
        trace = attempt.cycle.trace
        try:
            failure = await self._carry_out(attempt, progress)
        except asyncio.CancelledError:
            if not progress.binding:
                self.unreserve(attempt.profile, attempt.cycle, attempt.placed.uid, attempt.node)
            self._queue.done(attempt.placed.uid)
            raise
        except Exception as problem:
            log.exception("Binding cycle of pod %s failed", attempt.placed.key)
            failure = None if progress.bound else outcome.error(f"{type(problem).__name__}: {problem}")
        if failure is not None:
            self._undo(attempt, failure, nominated=progress.nominated)
        if trace is not None:
            trace.end(None if failure is None else (failure.rejected, failure.message))

    def unreserve(self, profile: Profile, cycle: Cycle, uid: str, node: str) -> bool:
        """Take a decision back; whether the pod was still assumed."""
        run_unreserve(profile.reserve, cycle, node)
        return self._state.forget(uid) is not None

    async def _carry_out(self, attempt: Attempt, progress: _Progress) -> outcome.Failure | None:
        profile, cycle, node, placed = attempt.profile, attempt.cycle, attempt.node, attempt.placed
        waiting = self._waiting.get(placed.uid)
        if self._nominating:
            flight, active = run_pre_flights(profile.pre_bind, cycle, node)
            if flight is not None and flight.code is not Code.SKIP:
                return outcome.error(flight.message)
            if (flight is None or waiting is not None) and placed.nominated_node_name != node:
                # Tell others (an autoscaler, say) where the pod is about to go, since that takes a while.
                self._writer.patch_pod_status(placed.namespace, placed.name, placed.uid, nominated_node_name=node)
                progress.nominated = True
        else:
            active = [[plugin] for plugin in profile.pre_bind]
        if waiting is not None:
            refusal = await self._wait(waiting, cycle.trace)
            if refusal is not None:
                return outcome.of_status(refusal)
        # From here on nothing makes the pod unschedulable, so no events need be kept for it.
        self._queue.done(placed.uid)
        status = None
        if active:
            status = await self._pre_bind(attempt, active)
        else:
            skip_pre_bind(cycle)
        if status is None:
            progress.binding = True
            status = await (self._bind if cycle.extenders else run_bind)(profile.bind, cycle, node)
        if status is not None:
            return outcome.of_binding(status)
        progress.bound = True
        self._succeeded(attempt)
        return None

    async def _pre_bind(self, attempt: Attempt, active: list[list[PreBindPlugin]]) -> Status | None:
        cycle, node, uid = attempt.cycle, attempt.node, attempt.placed.uid
        work = asyncio.get_running_loop().create_task(run_pre_bind(active, cycle, node))
        found = self._pre_binding[uid] = _PreBinding(work)
        try:
            status = await work
        except asyncio.CancelledError:
            if not found.message:
                raise
            status = None
        finally:
            del self._pre_binding[uid]
        return status or (error(found.message) if found.message else None)

    async def _bind(self, plugins: Sequence[BindPlugin], cycle: Cycle, node: str) -> Status | None:
        """Extenders come before plugins."""
        start = time.perf_counter()
        failure: str | None = None
        binder = EXTENDER
        try:
            binder = await cycle.extenders.bind(node)
            if not binder:
                return await run_bind(plugins, cycle, node)
        except ExtenderError as problem:
            failure = str(problem)
        if cycle.trace is not None:
            code = Code.SUCCESS if failure is None else Code.ERROR
            cycle.trace.step(BIND, time.perf_counter() - start, code, binder, failure or "")
        return None if failure is None else error(failure)

    async def _wait(self, waiting: WaitingPod, trace: Trace | None) -> Status | None:
        start = time.perf_counter()
        try:
            status = await waiting.wait()
        finally:
            self._waiting.remove(waiting.pod.uid)
        code = Code.SUCCESS if status is None else status.code
        seconds = time.perf_counter() - start
        self._metrics.permit_wait_duration.labels(str(code)).observe(seconds)
        if trace is not None:
            plugin, message = ("", "") if status is None else (status.plugin, status.message)
            trace.step(WAIT_ON_PERMIT, seconds, code, plugin, message)
        return status

    def _succeeded(self, attempt: Attempt) -> None:
        profile, placed, entry = attempt.profile, attempt.placed, attempt.entry
        self._failures.record(
            profile,
            placed,
            type_="Normal",
            reason="Scheduled",
            action="Binding",
            note=f"Successfully assigned {placed.key} to {attempt.node}",
        )
        if log.isEnabledFor(outcome.V2):
            log.log(outcome.V2, "Successfully bound pod to node: pod=%s node=%s", placed.key, attempt.node)
        seconds = time.perf_counter() - attempt.start
        self._metrics.attempt("scheduled", profile.name).observe(seconds)
        if self.on_bound is not None:
            self.on_bound(seconds)
        first = entry.first_attempt
        self._metrics.pod_scheduled(entry.attempts, max(self._queue.now() - first, 0.0) if first is not None else 0.0)
        if entry.flushed:
            self._metrics.pod_scheduled_after_flush.labels().inc()
        self._queue.bound(entry)
        run_post_bind(profile.post_bind, attempt.cycle, attempt.node)

    def _undo(self, attempt: Attempt, failure: outcome.Failure, *, nominated: bool) -> None:
        """Free what the pod held and let others have it (handleBindingCycleError)."""
        placed = attempt.placed
        freed = self.unreserve(attempt.profile, attempt.cycle, placed.uid, attempt.node)

        def tell() -> None:
            if freed:
                self._queue.move_all(ASSIGNED_POD_DELETE, placed, None, only=lambda pod: pod.uid != placed.uid)

        # A pod that was turned down must not be woken by what it freed itself, so others hear of it afterwards.
        if not failure.rejected:
            tell()
        asked_for = attempt.node if nominated else ""
        self._failures.handle(attempt.profile, attempt.entry, failure, attempt.start, nominated_to=asked_for)
        if failure.rejected:
            tell()
