"""The scheduler at work on a cluster inside this process: its loop, its queue, its binding cycles and events."""

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING, Any, Final

import msgspec

from scheduler.api.topology_labels import ZONE_LABEL
from scheduler.app.admission import admitted
from scheduler.app.assembly import assemble, connect
from scheduler.app.decisions import SCHEDULED, UNSCHEDULABLE, Decisions, PodDecision, gated_pods, unlogged
from scheduler.app.pending import with_reasons
from scheduler.app.volume_controller import VolumeControllerStandIn
from scheduler.client.kinds import NODES, PODS
from scheduler.client.memory import MemoryCluster, MemoryWriter
from scheduler.explain.comparison import compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from scheduler.api.objects import Pod
    from scheduler.config.features import FeatureGates
    from scheduler.config.types import KubeSchedulerConfiguration
    from scheduler.cycle.scheduler import Scheduler
    from scheduler.framework.handle import Factory

_LOOK: Final = 0.01
_LONGEST: Final = 1.5


class DemoReport(msgspec.Struct, frozen=True):
    """How it came out: decisions in the order in which they fell, and the seconds that it took."""

    decisions: Sequence[PodDecision]
    gated: Sequence[PodDecision]
    seconds: float

    def with_status(self, status: str) -> list[PodDecision]:
        """The decisions that came out like that."""
        return [decision for decision in self.decisions if decision.status == status]

    @property
    def left(self) -> int:
        """How many pods have no node."""
        return len(self.gated) + sum(1 for decision in self.decisions if decision.node is None)

    @property
    def clearest(self) -> PodDecision | None:
        """The scheduled pod whose node is farthest ahead of the runner-up; None if no pod had a choice."""
        leads = {decision.pod: _lead(decision) for decision in self.with_status(SCHEDULED)}
        return max(self.with_status(SCHEDULED), key=lambda decision: leads[decision.pod], default=None)

    @property
    def pending(self) -> PodDecision | None:
        """The pod that stays pending for the most different reasons; None if none does."""
        return max(self.with_status(UNSCHEDULABLE), key=_reasons, default=None)


class Demo:
    """A cluster of `objects` and a scheduler on it; `bound` is told of each pod as it is bound."""

    def __init__(
        self,
        objects: Iterable[Any],
        config: KubeSchedulerConfiguration,
        *,
        registry: Mapping[str, Factory],
        gates: FeatureGates,
        bound: Callable[[PodDecision], None],
        seed: int | None = None,
    ) -> None:
        self._bound = bound
        self._last = 0.0
        self._decisions = Decisions(details=True)
        self.cluster = MemoryCluster(admitted(objects))
        self._scheduler: Scheduler = assemble(
            config,
            registry=registry,
            gates=gates,
            writer=MemoryWriter(self.cluster),
            random_source=random.Random(seed),
            details=True,
            decided=self._decisions.add,
            hostname="demo",
        )
        VolumeControllerStandIn(self.cluster)
        connect(self._scheduler, self.cluster)

    @property
    def summary(self) -> str:
        """What the cluster consists of, in words."""
        nodes = self.cluster.list(NODES)
        zones = len({node.metadata.labels.get(ZONE_LABEL, "") for node in nodes} - {""})
        pods = self.cluster.list(PODS)
        running = sum(1 for pod in pods if pod.spec.node_name)
        parts = [_count(len(nodes), "node") + (f" in {_count(zones, 'zone')}" if zones else "")]
        parts += [f"{_count(running, 'pod')} running", f"{len(pods) - running} to schedule"]
        return ", ".join(parts)

    async def run(self) -> DemoReport:
        """Schedule until nothing moves any more."""
        self.cluster.informer(PODS).add_handler(self._changed)
        self.cluster.sync()
        start = self._last = time.perf_counter()
        loop = asyncio.create_task(self._scheduler.run())
        try:
            with unlogged():
                await self._quiet(start + _LONGEST)
        finally:
            self._scheduler.stop()
            await loop
        last = self._decisions.last
        return DemoReport(
            with_reasons(self._scheduler, last.values()),
            with_reasons(self._scheduler, gated_pods(self._scheduler.queue, leaving_out=last)),
            self._last - start,
        )

    def _changed(self, _old: Pod | None, new: Pod | None) -> None:
        self._last = time.perf_counter()
        if new is not None and new.spec.node_name:
            decision = self._decisions.last.get((new.metadata.namespace, new.metadata.name))
            if decision is not None:
                self._bound(decision)

    async def _quiet(self, deadline: float) -> None:
        """Until no pod is ready and none on its way to a node, at two looks in a row."""
        looks = 0
        while looks < 2 and time.perf_counter() < deadline:
            await asyncio.sleep(_LOOK)
            looks = 0 if self._scheduler.queue.ready or self._scheduler.binding else looks + 1


def _lead(decision: PodDecision) -> int:
    comparison = compare(decision.record, decision.node or "")
    return -1 if comparison is None else comparison.lead


def _reasons(decision: PodDecision) -> int:
    return len({(rejection.plugin, rejection.reasons) for rejection in decision.record.infeasible.values()})


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
