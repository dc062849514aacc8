"""Observes a real cluster until enough was seen, with nothing but the right to read."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from scheduler.app.assembly import assemble, connect
from scheduler.app.extenders import without_binding
from scheduler.app.observing.observer import Observer
from scheduler.app.observing.report import Outcome, Tally
from scheduler.app.problems import SettingsError, StartError
from scheduler.app.serving import start_server
from scheduler.app.settings import Settings  # noqa: TC001 - msgspec resolves annotations at run time
from scheduler.app.transport import find_cluster
from scheduler.app.upkeep import settle_heap
from scheduler.client.http import Session
from scheduler.client.informers import Informers, SyncTimeoutError
from scheduler.client.memory import MemoryCluster, MemoryWriter
from scheduler.client.supervise import Supervisor
from scheduler.metrics.component import ComponentMetrics
from scheduler.metrics.observing import ObservingMetrics
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from scheduler.server.health import Check
from scheduler.version import KUBERNETES_VERSION, __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scheduler.app.observing.report import Observation, Report
    from scheduler.config.types import KubeSchedulerConfiguration, Profile
    from scheduler.cycle.scheduler import Scheduler

log = logging.getLogger(__name__)

_LOOK: Final = 0.1
"""Seconds between two looks whether enough was seen."""
_SYNC_PATIENCE: Final = 30.0
_STOP_TIME: Final = 2.0


class Extent(msgspec.Struct, frozen=True):
    """When to end: after so many decisions, after so many seconds; None and None until told to stop."""

    decisions: int | None = None
    seconds: float | None = None


def observed_config(config: KubeSchedulerConfiguration, names: Sequence[str]) -> KubeSchedulerConfiguration:
    """The configuration with the profiles of these schedulers only; all of its profiles if none is named.

    Raises SettingsError for a name without a profile.
    """
    known = {profile.scheduler_name: profile for profile in config.profiles}
    if missing := [name for name in names if name not in known]:
        listed = ", ".join(known)
        raise SettingsError(f"--scheduler-name {missing[0]}: the configuration has no such profile; it has {listed}")
    return replace(config, profiles=tuple(known[name] for name in names) or config.profiles)


def default_profiles(config: KubeSchedulerConfiguration, names: Sequence[str]) -> KubeSchedulerConfiguration:
    """The configuration with its first profile under each of these names."""
    first: Profile = config.profiles[0]
    return replace(config, profiles=tuple(replace(first, scheduler_name=name) for name in names))


class ShadowService:
    """Takes the decisions of a cluster's scheduler once more, at the same state, and binds nothing. For one `run`.

    `on_observation` is told of each decision that was compared, `on_progress` now and then of the number of decisions
    and of pods that wait.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        context: str = "",
        extent: Extent = Extent(),  # noqa: B008 - it can't be changed
        on_observation: Callable[[Observation], None] = lambda _: None,
        on_progress: Callable[[Tally, int], None] = lambda _tally, _waiting: None,
    ) -> None:
        self._settings = settings
        self._context = context
        self._extent = extent
        self._on_progress = on_progress
        self._metrics = SchedulerMetrics(gates=settings.options.feature_gates.enabled)
        self._component = ComponentMetrics(self._metrics.registry)
        self._component.build(__version__, KUBERNETES_VERSION)
        self._observing = ObservingMetrics(self._metrics.registry)
        self._on_observation = on_observation
        self._tally = Tally((profile.scheduler_name for profile in settings.config.profiles), on_add=self._observed)
        self._asked_to_stop = asyncio.Event()
        self._synced = False

    def stop(self) -> None:
        """Ask for the end."""
        self._asked_to_stop.set()

    async def run(self) -> Report:
        """Observe; what came of it. Raises StartError where it can't begin, TaskDiedError where it can't go on."""
        supervisor = Supervisor()
        scheduler = self._assemble()
        observer = Observer(scheduler, self._tally)
        async with AsyncExitStack() as stack:
            session = await self._session(stack)
            informers = Informers(session)
            connect(scheduler, informers, observer)
            server = await start_server(
                self._settings,
                stack,
                registry=self._metrics.registry,
                resource_metrics=tuple,
                leads=lambda: True,
                health=[],
                readiness=[Check("sched-handler-sync", self._not_synced)],
            )
            try:
                await self._watch(informers, supervisor, observer)
            finally:
                await supervisor.stop(_STOP_TIME)
                if server is not None:
                    await server.stop()
        observer.settle(all_open=True)
        return self._tally.report()

    def _assemble(self) -> Scheduler:
        settings = self._settings
        return assemble(
            without_binding(settings.config),
            registry=settings.registry,
            gates=settings.options.feature_gates,
            writer=MemoryWriter(MemoryCluster()),
            source=settings.source,
            metrics=self._metrics,
        )

    async def _session(self, stack: AsyncExitStack) -> Session:
        kubeconfig = self._settings.config.client_connection.kubeconfig
        connection = await find_cluster(kubeconfig, context=self._context)
        return await stack.enter_async_context(Session(connection, qps=0))

    async def _watch(self, informers: Informers, supervisor: Supervisor, observer: Observer) -> None:
        informers.start(supervisor)
        ended = asyncio.create_task(supervisor.wait())
        try:
            await self._sync(informers)
            observer.begun = self._synced = True
            settle_heap()
            log.info("Observing %s", ", ".join(profile.scheduler_name for profile in self._settings.config.profiles))
            end = None if self._extent.seconds is None else time.monotonic() + self._extent.seconds
            while not (self._asked_to_stop.is_set() or ended.done() or self._enough(observer, end)):
                observer.settle()
                self._on_progress(self._tally, observer.waiting)
                await self._pause()
            if ended.done():
                ended.result()
        finally:
            ended.cancel()

    async def _sync(self, informers: Informers) -> None:
        """Wait for the first lists. Raises StartError if they can't be had."""
        try:
            await informers.wait_for_sync(_SYNC_PATIENCE)
        except SyncTimeoutError as problem:
            raise StartError(f"the cluster can't be read: {problem}") from problem

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._asked_to_stop.wait(), _LOOK)
        except TimeoutError:
            return

    def _enough(self, observer: Observer, end: float | None) -> bool:
        wanted = self._extent.decisions
        if wanted is not None and self._tally.observed + observer.open >= wanted:
            return True
        return end is not None and time.monotonic() >= end

    def _not_synced(self) -> str | None:
        return None if self._synced else "handlers are not fully synchronized"

    def _observed(self, observation: Observation) -> None:
        different = observation.outcome is Outcome.DIFFERENT
        self._observing.observed(
            observation.scheduler,
            str(observation.outcome),
            seconds=observation.decision_seconds,
            waited=observation.observed_seconds if observation.node else None,
            behind=observation.agreement.behind if different else (),
        )
        self._on_observation(observation)
