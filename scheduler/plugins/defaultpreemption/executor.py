"""Evicting the victims, beside scheduling (pkg/scheduler/framework/preemption/executor.go)."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from scheduler.api.objects import PodCondition
from scheduler.framework import names
from scheduler.framework.together import together
from scheduler.metrics import labels
from scheduler.plugins.defaultpreemption import messages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from scheduler.cache.pods import PodInfo
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Eviction

log = logging.getLogger(__name__)


class Executor:
    """Evicts, and knows for whom it is doing so.

    With `asynchronous` (gate SchedulerAsyncPreemption) the preemptor is held back meanwhile, and the last victim goes
    only after all others: so the event of its deletion finds the pod free to go. No victim goes before the preemptor's
    nomination and the end of lesser ones are written, as kube-scheduler sends those first, and waits for them.

    kube-scheduler lets the preemptor go as soon as the last deletion is answered. It is held here until that is seen in
    the state as well: tried in between, woken by something else, it would find its node full and evict others.
    """

    def __init__(self, handle: Handle, *, asynchronous: bool) -> None:
        self._handle = handle
        self._asynchronous = asynchronous
        self._preempting: set[str] = set()
        """The uids of the preemptors, each until its last victim is seen to go."""
        self._last: dict[str, PodInfo] = {}
        """The last victim of those of them where it is that one's turn."""

    def start(self, preemptor: PodInfo, eviction: Eviction) -> None:
        """Begin to evict."""
        self._handle.metrics.preemption_victims.labels().observe(len(eviction.victims))
        # Those that are leaving already need no second call.
        victims = [pod for pod in eviction.victims if not pod.terminating]
        if not self._asynchronous:
            self._handle.spawn(self._all_at_once(preemptor, eviction.node, victims))
        elif victims:
            self._forget_done()
            self._preempting.add(preemptor.uid)
            self._last.pop(preemptor.uid, None)
            self._handle.spawn(self._last_one_last(preemptor, eviction.node, victims))

    def holds(self, uid: str) -> bool:
        """Whether a pod must wait until its victims have been told to go."""
        last = self._last.get(uid)
        return uid in self._preempting and (last is None or self._is_there(last))

    def held(self) -> AbstractSet[str]:
        """The uids of all pods that must wait; not to be changed."""
        self._forget_done()
        return self._preempting

    def _is_there(self, victim: PodInfo) -> bool:
        now = self._handle.state.pods.get(victim.uid)
        return now is not None and not now.terminating

    def _forget_done(self) -> None:
        """Forget the preemptors whose last victim is gone, also those that are gone themselves."""
        for uid, last in list(self._last.items()):
            if not self._is_there(last):
                self._forget(uid)

    def _forget(self, uid: str) -> None:
        self._preempting.discard(uid)
        self._last.pop(uid, None)

    def lesser_nominations(self, preemptor: PodInfo, node: str) -> list[PodInfo]:
        """The pods nominated to a node that matter less than the preemptor (getLowerPriorityNominatedPods)."""
        return [pod for pod in self._handle.state.nominations.on_node(node) if pod.priority < preemptor.priority]

    # work

    async def _last_one_last(self, preemptor: PodInfo, node: str, victims: Sequence[PodInfo]) -> None:
        failed = in_memory = registered = False
        try:
            await self._clear_nominations(preemptor, node)
            *others, last = victims
            failed = await self._preempt_all(preemptor, node, others)
            if not failed:
                self._last[preemptor.uid] = last
                registered = True
                in_memory = await self._preempt(preemptor, node, last)
        except Exception:
            # Whatever it was, the preemptor must not be held back for ever: it is let go below, and tried again.
            failed = True
            log.exception("Preemption for pod %s on node %s failed", preemptor.key, node)
        finally:
            if failed or in_memory or not registered:
                # No deletion will be heard of that might let the pod go. It may have been forgotten by now.
                self._forget(preemptor.uid)
        if failed or in_memory:
            self._handle.activate([preemptor.key])
        result = labels.ERROR if failed else labels.SUCCESS
        self._handle.metrics.preemption_goroutines_execution.labels(result).inc()

    async def _all_at_once(self, preemptor: PodInfo, node: str, victims: Sequence[PodInfo]) -> None:
        if await self._preempt_all(preemptor, node, victims):
            self._handle.activate([preemptor.key])
        else:
            await self._clear_nominations(preemptor, node)

    async def _preempt_all(self, preemptor: PodInfo, node: str, victims: Sequence[PodInfo]) -> bool:
        """Evict pods at the same time; whether any of it failed."""

        async def preempt(victim: PodInfo) -> None:
            await self._preempt(preemptor, node, victim)

        problems = await together(preempt(victim) for victim in victims)
        for problem in problems:
            log.error("Preemption for pod %s on node %s: %s", preemptor.key, node, problem)
        return bool(problems)

    async def _clear_nominations(self, preemptor: PodInfo, node: str) -> None:
        """Let pods look elsewhere that may not fit on the node any more; what this changes is heard of as an update."""
        evictor = self._handle.evictor
        assert evictor is not None
        lesser = [pod for pod in self.lesser_nominations(preemptor, node) if pod.nominated_node_name]
        for pod in lesser:
            evictor.patch_pod_status(pod.namespace, pod.name, pod.uid, nominated_node_name="")
        for pod in lesser:
            await evictor.status_written(pod.uid)

    async def _preempt(self, preemptor: PodInfo, node: str, victim: PodInfo) -> bool:
        """Evict one pod; whether that took no more than a word to the scheduler's own binding cycle."""
        in_memory = self._handle.turn_down(victim.uid, names.DEFAULT_PREEMPTION)
        if not in_memory and not await self._delete(preemptor, victim):
            log.info("Victim %s of pod %s is gone already", victim.key, preemptor.key)
            return False
        log.info("Pod %s preempted pod %s on node %s", preemptor.key, victim.key, node)
        recorder = self._handle.recorders.get(preemptor.scheduler_name)
        if recorder is not None:
            recorder.record(
                victim.reference,
                type="Normal",
                reason=messages.EVENT_REASON,
                action=messages.EVENT_ACTION,
                note=messages.event_note(preemptor.uid, node, in_memory=in_memory),
            )
        return in_memory

    async def _delete(self, preemptor: PodInfo, victim: PodInfo) -> bool:
        """Say why, then delete; False if the pod is gone."""
        evictor = self._handle.evictor
        assert evictor is not None
        condition = PodCondition(
            type=messages.CONDITION,
            status="True",
            reason=messages.CONDITION_REASON,
            message=messages.condition_message(preemptor.scheduler_name),
            observed_generation=victim.generation,
            last_transition_time=datetime.now(tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )
        name = (victim.namespace, victim.name, victim.uid)
        # One that was told before, when its deletion failed, is not told again.
        told = victim.preempted or await evictor.set_pod_condition(*name, condition, present=victim.condition_types)
        if self._asynchronous:
            await evictor.status_written(preemptor.uid)
        return told and await evictor.delete_pod(*name)
