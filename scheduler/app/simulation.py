"""All pending pods of a cluster placed, by the code that does it in a real one, with nothing written anywhere."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace

from scheduler.api.objects import Pod
from scheduler.app.admission import admitted
from scheduler.app.assembly import assemble, connect
from scheduler.app.decisions import ERROR, UNSCHEDULABLE, Decisions, PodDecision, gated_pods, unlogged
from scheduler.app.extenders import without_binding
from scheduler.app.pending import with_reasons
from scheduler.app.volume_controller import VolumeControllerStandIn
from scheduler.client.kinds import PODS, UNFINISHED_PODS
from scheduler.client.memory import MemoryCluster, MemoryWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from scheduler.config.features import FeatureGates
    from scheduler.config.types import KubeSchedulerConfiguration
    from scheduler.cycle.algorithm import Decision
    from scheduler.cycle.outcome import Failure
    from scheduler.cycle.scheduler import DecisionHook, Scheduler
    from scheduler.framework.handle import Factory
    from scheduler.queue.entry import QueuedPod

_BEGIN: Final = 1_767_225_600.0
_TICK: Final = 1e-6
_PATIENCE: Final = 0.2
"""Seconds that pods may wait at Permit once nothing is left to schedule: from then on nothing can help them."""
_TURNS: Final = 10
_MOST_ATTEMPTS: Final = 20
"""Attempts for a pod, on average, after which pods that keep waking each other are left as they are."""


class _Clock:
    """Time that passes by being asked for, so that a simulation comes out the same however long it takes."""

    def __init__(self) -> None:
        self.time = _BEGIN

    def __call__(self) -> float:
        self.time += _TICK
        return self.time


class Attempt(NamedTuple):
    """The last attempt at a pod: the decision as far as there is one, and the node, "" if it got none."""

    uid: str
    decision: Decision | None
    node: str


class Simulation:
    """A cluster in memory and a scheduler on it.

    Without `takes_all` only pods of the configuration's profiles are scheduled; with it, the first profile takes every
    pending pod whatever scheduler it names. `details` keeps each node's verdict and each plugin's score, and works out
    what would help the pods that find no node; `observe` is told of every attempt, at the state that was decided on,
    with each plugin's score where `scores` asks for them. Raises AdmissionError for pods that an API server would not
    store, ConfigError for profiles that can't be built.
    """

    def __init__(
        self,
        objects: Iterable[Any],
        config: KubeSchedulerConfiguration,
        *,
        registry: Mapping[str, Factory],
        gates: FeatureGates,
        source: str = "",
        takes_all: bool = False,
        details: bool = False,
        scores: bool = False,
        seed: int | None = None,
        checked: Callable[..., None] | None = None,
        observe: DecisionHook | None = None,
    ) -> None:
        self._decisions = Decisions(details=details)
        self._details = details
        self._observe = observe
        self._attempt: Attempt | None = None
        self._clock = _Clock()
        self._bound = -1
        self._longest_backoff = config.pod_max_backoff_seconds
        self.cluster = MemoryCluster()
        self.scheduler: Scheduler = assemble(
            without_binding(config),
            registry=registry,
            gates=gates,
            writer=MemoryWriter(self.cluster),
            source=source,
            random_source=random.Random(seed),
            details=details or scores,
            decided=self._decided,
            checked=checked,
            clock=self._clock,
            hostname="simulation",
        )
        self._profile = next(iter(self.scheduler.profiles)) if takes_all else None
        for item in admitted(objects):
            self.cluster.put(self.adopted(item))
        VolumeControllerStandIn(self.cluster)
        connect(self.scheduler, self.cluster)

    @property
    def foreign(self) -> Counter[str]:
        """How many pending pods are left alone since they ask for another scheduler, by its name."""
        unfinished = filter(UNFINISHED_PODS.matches, self.cluster.list(PODS))
        names = (pod.spec.scheduler_name for pod in unfinished if not pod.spec.node_name)
        return Counter(name for name in names if name not in self.scheduler.profiles)

    async def run(self, progress: Callable[[int, int], None] = lambda _done, _all: None) -> Sequence[PodDecision]:
        """Schedule until nothing more can be placed; the last decision on each pod, in the order in which they fell.

        `progress` is told how many pods have a decision, of how many.
        """
        self.cluster.sync()
        with unlogged():
            try:
                await self._schedule(progress)
            finally:
                for extender in self.scheduler.extenders:
                    extender.close()
        last = self._decisions.last
        decisions = [*map(self._settled, last.items()), *gated_pods(self.scheduler.queue, leaving_out=last)]
        return with_reasons(self.scheduler, decisions) if self._details else decisions

    def _decided(self, entry: QueuedPod, decision: Decision | None, failure: Failure | None, node: str) -> None:
        self._decisions.add(entry, decision, failure, node)
        self._attempt = Attempt(entry.pod.uid, decision, node if failure is None else "")
        if self._observe is not None:
            self._observe(entry, decision, failure, node)

    async def attempt(self, pod: Pod) -> Attempt:
        """Have one more pod scheduled, once; how its attempt came out. What others it wakes is scheduled as well.

        `run` must have been called before. Raises ValueError if no profile takes the pod.
        """
        stored = self.cluster.put(self.adopted(pod))
        if stored.spec.scheduler_name not in self.scheduler.profiles:
            raise ValueError(f"no profile of the configuration is for pods of {stored.spec.scheduler_name}")
        while (attempt := self._attempt_at(stored.metadata.uid)) is None:
            if not self.scheduler.schedule_next():
                raise ValueError("a PreEnqueue plugin or a scheduling gate holds the pod back")
            await self._bound_if_possible()
        return attempt

    def _attempt_at(self, uid: str) -> Attempt | None:
        last = self._attempt
        return last if last is not None and last.uid == uid else None

    async def _schedule(self, progress: Callable[[int, int], None]) -> None:
        scheduler = self.scheduler
        total = len(scheduler.unscheduled)
        most = _MOST_ATTEMPTS * (total + 1)
        while self._decisions.attempts < most:
            if scheduler.schedule_next():
                await self._bound_if_possible()
                await scheduler.evicted()
                progress(len(self._decisions.last), total)
            elif scheduler.binding:
                if not await self._waited():
                    break
            elif not self._backoff_over():
                break

    async def _bound_if_possible(self) -> None:
        """Let the binding cycle come to its end, which takes some turns of the loop, unless it waits at Permit."""
        for _ in range(_TURNS):
            if not self.scheduler.binding:
                return
            await asyncio.sleep(0)

    async def _waited(self) -> bool:
        """Turn down the pods that wait at Permit, as there is nothing left to schedule that might help them.

        False if that has been done before and nothing was bound since, so that it would come out the same again.
        """
        scheduler = self.scheduler
        await scheduler.settle(within=_PATIENCE)
        if scheduler.queue.ready or not scheduler.binding:
            return True
        for waiting in scheduler.waiting:
            for plugin in waiting.pending_plugins[:1]:
                waiting.reject(plugin, "still waiting when nothing was left to schedule")
        await scheduler.settle(within=_PATIENCE)
        bound = sum(1 for pod in self.cluster.list(PODS) if pod.spec.node_name)
        before, self._bound = self._bound, bound
        return bound != before

    def _backoff_over(self) -> bool:
        """Let the pods be tried again that something may have helped; whether there are any."""
        queue = self.scheduler.queue
        if not any(entry.rejectors for entry in queue.pending()["backoff"]):
            return False
        self._clock.time += self._longest_backoff + 1
        queue.flush_backoff()
        return True

    def adopted(self, item: Any) -> Any:
        """The object as it is scheduled here: a pod of the first profile, where that takes all."""
        if self._profile is None or not isinstance(item, Pod) or item.spec.node_name:
            return item
        spec = replace(item.spec, scheduler_name=self._profile)
        return replace(item, spec=spec)

    def _settled(self, item: tuple[tuple[str, str], PodDecision]) -> PodDecision:
        """A decision as it turned out: a pod can be turned down after its node was picked, while it waits at Permit."""
        name, decision = item
        pod = self.cluster.get(PODS, *name)
        if decision.node is None or pod is None or pod.spec.node_name:
            return decision
        entry = self.scheduler.queue.get(*name)
        message = entry.last_message if entry is not None else "the pod was not bound"
        status = UNSCHEDULABLE if entry is not None and entry.rejectors else ERROR
        detail = replace(
            decision.record,
            reason="Unschedulable" if status == UNSCHEDULABLE else "SchedulerError",
            message=message,
            unschedulable_plugins=tuple(sorted(entry.unschedulable_plugins)) if entry is not None else (),
        )
        return replace(decision, node=None, status=status, message=message, record=detail)
