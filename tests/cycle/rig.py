"""A scheduler on a cluster in memory, with plugins made for a test, a clock that stands still, and a seed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from scheduler.app.assembly import assemble, connect
from scheduler.app.profiles import build_profiles
from scheduler.cache.state import ClusterState
from scheduler.client.events import EventRecorder
from scheduler.client.kinds import NODES, PODS
from scheduler.client.memory import MemoryCluster, MemoryWriter
from scheduler.config.features import FeatureGates
from scheduler.config.load import default_config
from scheduler.cycle.scheduler import Scheduler
from scheduler.framework.handle import Handle
from scheduler.framework.interface import POINTS, BindPlugin, Plugin, ScorePlugin
from scheduler.framework.profile import Profile
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from scheduler.plugins.default_binder import DefaultBinder
from scheduler.plugins.priority_sort import PrioritySort
from scheduler.plugins.registry import IN_TREE
from scheduler.queue.queue import SchedulingQueue
from tests.builders import NodeBuilder, PodBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scheduler.api.objects import Pod, PodCondition
    from scheduler.client.interface import Writer
    from scheduler.cycle.algorithm import Decision
    from scheduler.cycle.journal import Journal
    from scheduler.cycle.outcome import Failure

PROFILE = "default-scheduler"


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


def profile_of(*plugins: Plugin, name: str = PROFILE, weights: Mapping[str, int] | None = None, **more: Any) -> Profile:
    """A profile of these plugins in this order at every point that they implement, sorted by priority."""
    everyone = list(plugins)
    if not any(isinstance(plugin, PrioritySort) for plugin in everyone):
        everyone.append(PrioritySort())
    points = {point: [p.name for p in everyone if isinstance(p, kind)] for point, kind in POINTS.items()}
    return Profile(
        name,
        plugins={plugin.name: plugin for plugin in everyone},
        points=points,
        weights={p.name: 1 for p in everyone if isinstance(p, ScorePlugin)} | dict(weights or {}),
        **more,
    )


class Rig:
    """What a test needs around a scheduler. Without plugins it is the default profile."""

    def __init__(
        self,
        *plugins: Plugin,
        writer: Callable[[MemoryCluster], Writer] = MemoryWriter,
        checked: Callable[..., None] | None = None,
        details: bool = False,
        percentage: int = 100,
        batching: bool = True,
        nominating: bool = True,
        journal: Journal | None = None,
        **profile: Any,
    ) -> None:
        self.cluster = MemoryCluster()
        self.clock = Clock()
        self.outcomes: list[tuple[str, Failure | None, str]] = []
        self.decisions: list[Decision | None] = []
        self.metrics = SchedulerMetrics()
        write = writer(self.cluster)
        common: dict[str, Any] = {
            "random_source": random.Random(7),
            "decided": self._decided,
            "checked": checked,
            "details": details,
            "journal": journal,
        }
        if plugins:
            state = ClusterState()
            if not any(isinstance(plugin, BindPlugin) for plugin in plugins):
                plugins = (*plugins, DefaultBinder(write))
            profiles = {PROFILE: profile_of(*plugins, **profile)}
            queue = SchedulingQueue(profiles, state.nominations, self.metrics, clock=self.clock)
            recorders = {PROFILE: EventRecorder(write, PROFILE, hostname="host")}
            self.scheduler = Scheduler(
                state,
                profiles,
                queue,
                write,
                recorders,
                self.metrics,
                percentage_of_nodes_to_score=percentage,
                batching=batching,
                nominating=nominating,
                **common,
            )
        else:
            gates = FeatureGates.parse()
            config = default_config(feature_gates=gates)
            self.scheduler = assemble(
                config, registry=IN_TREE, gates=gates, writer=write, metrics=self.metrics, clock=self.clock, **common
            )
            self.scheduler.algorithm.percentage_of_nodes_to_score = percentage

            def remake(state: ClusterState) -> Profile:
                return build_profiles(config, IN_TREE, Handle(state, write, gates.enabled))[PROFILE]

            self.scheduler.profiles[PROFILE].remake = remake
        self.queue = self.scheduler.queue
        self.state = self.scheduler.state
        self.handlers = connect(self.scheduler, self.cluster)
        self.cluster.sync()

    def _decided(self, entry: Any, decision: Decision | None, failure: Failure | None, node: str) -> None:
        self.outcomes.append((entry.pod.name, failure, node))
        self.decisions.append(decision)

    def put(self, *items: PodBuilder | NodeBuilder) -> None:
        """Create or replace objects. A pod that names no scheduler gets ours, as the API server does it."""
        for item in items:
            ours = isinstance(item, PodBuilder) and not item.get("spec.schedulerName", "")
            self.cluster.put((item.set("spec.schedulerName", PROFILE) if ours else item).build())

    def delete(self, item: PodBuilder | NodeBuilder) -> None:
        """Delete an object."""
        meta = item.document["metadata"]
        resource: Any = PODS if isinstance(item, PodBuilder) else NODES
        self.cluster.delete(resource, meta.get("namespace", ""), meta["name"])

    async def step(self) -> bool:
        """One scheduling cycle, and the binding cycle that comes of it."""
        done = self.scheduler.schedule_next()
        await self.scheduler.settle()
        return done

    async def run(self) -> None:
        """Cycles until no pod is ready."""
        while await self.step():
            pass

    def pod(self, name: str) -> Pod:
        """A pod as the API server has it."""
        found = self.cluster.get(PODS, "default", name)
        assert found is not None
        return found

    def node_of(self, name: str) -> str:
        """Where a pod is bound, "" if it isn't."""
        return self.pod(name).spec.node_name

    def condition(self, name: str) -> PodCondition | None:
        """The condition PodScheduled of a pod."""
        return next((c for c in self.pod(name).status.conditions if c.type == "PodScheduled"), None)

    def notes(self, reason: str = "FailedScheduling") -> list[str]:
        """The notes of events with that reason."""
        return [event.note for event in self.cluster.events if event.reason == reason]

    def where(self, name: str) -> str:
        """The queue that a pod is in."""
        for place, entries in self.queue.pending().items():
            if any(entry.pod.name == name for entry in entries):
                return place
        return "in flight" if self.queue.in_flight.find(("default", name)) else ""
