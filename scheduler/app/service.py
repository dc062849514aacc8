"""A scheduler on a real cluster, from its start to its end."""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final

from scheduler.app.assembly import assemble, connect
from scheduler.app.config_file import follow
from scheduler.app.debugger import debugger_of
from scheduler.app.ending import Ending, wind_down
from scheduler.app.explaining import LiveDecisions
from scheduler.app.extenders import warn_of_slow_extenders
from scheduler.app.fence import FencedDispatcher
from scheduler.app.leadership import Leadership
from scheduler.app.pacing import Pacer
from scheduler.app.pod_resources import PodResources
from scheduler.app.reach import SERVING_CERTIFICATE
from scheduler.app.recording import Recording
from scheduler.app.running import RunningConfiguration
from scheduler.app.serving import start_server
from scheduler.app.transport import Transport, open_transport
from scheduler.app.upkeep import settle_heap, start_upkeep
from scheduler.client import kinds
from scheduler.client.informers import Informers, SyncTimeoutError
from scheduler.client.supervise import Supervisor, TaskDiedError
from scheduler.client.tunnel import fingerprint
from scheduler.config.features import known_gates
from scheduler.cycle.gauges import wire
from scheduler.metrics.component import ComponentMetrics
from scheduler.metrics.scheduler_metrics import SchedulerMetrics
from scheduler.server.health import Check
from scheduler.version import KUBERNETES_VERSION, __version__

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.app.debugger import CacheDebugger
    from scheduler.app.profile_operator import ProfileOperator
    from scheduler.app.settings import Settings
    from scheduler.client.dispatcher import Dispatcher
    from scheduler.cycle.scheduler import Scheduler
    from scheduler.server.secure import SecureServer

log = logging.getLogger(__name__)

_SYNC_PATIENCE: Final = 30.0


class SchedulerService:
    """Runs a scheduler until it is told to stop, a part of it fails, or the lease is lost. For one `run`.

    `on_signals_taken` is called where a library has taken the process's signals for itself.
    """

    def __init__(self, settings: Settings, *, on_signals_taken: Callable[[], None] = lambda: None) -> None:
        self._settings = settings
        self._on_signals_taken = on_signals_taken
        self._operator: ProfileOperator | None = None
        self._supervisor = Supervisor()
        gates = settings.options.feature_gates
        disabled = settings.options.disabled_metrics
        self._metrics = SchedulerMetrics(gates=gates.enabled, disabled=disabled)
        self._component = ComponentMetrics(self._metrics.registry)
        self._component.build(__version__, KUBERNETES_VERSION)
        self._component.feature_gates(
            (gate.name, "" if gate.stage == "GA" else gate.stage, gates.enabled(gate.name))
            for gate in known_gates().values()
        )
        self._ending: asyncio.Future[Ending] | None = None
        self._asked_to_stop = False
        self._synced = False
        self._debugger: Callable[[], CacheDebugger] | None = None
        self._server: SecureServer | None = None

    def stop(self) -> None:
        """Ask for an orderly end."""
        self._asked_to_stop = True
        self._end(Ending.STOPPED)

    def debug(self) -> None:
        """Compare the caches and dump them to the log."""
        if self._debugger is not None:
            self._debugger().run()

    async def run(self) -> int:
        """Schedule; the exit code of the process. Raises StartError where it can't even begin."""
        self._ending = asyncio.get_running_loop().create_future()
        if self._asked_to_stop:
            self._end(Ending.STOPPED)
        async with AsyncExitStack() as stack:
            transport = await open_transport(self._settings, self._component, stack)
            leadership = self._leadership(transport)
            writer = FencedDispatcher(
                transport.objects,
                leads=lambda: leadership is None or leadership.leads,
                event_session=transport.events,
                on_event_dropped=self._metrics.events_dropped.labels().inc,
            )
            recording = Recording(self._settings, writer, self._metrics)
            scheduler = self._assemble(writer, recording)
            informers = Informers(transport.objects)
            connect(scheduler, informers)
            resources = PodResources(scheduler)
            informers.informer(kinds.PODS).add_handler(resources.pod)
            self._debugger = lambda: debugger_of(scheduler, informers, resources)
            running = RunningConfiguration(scheduler, self._settings)
            self._operator = self._profile_operator(scheduler, running, transport, leadership)
            server = self._server = await self._serve(stack, leadership, running, resources, scheduler, recording)
            watch = asyncio.create_task(self._watch(), name="watch over background tasks")
            self._supervisor.start(
                self._work(scheduler, informers, leadership, recording), "start and leader election", may_end=True
            )
            self._follow_file(running)
            try:
                ending = await self._ending
            finally:
                await wind_down(
                    scheduler,
                    writer,
                    self._supervisor,
                    leadership=leadership,
                    server=server,
                    grace=self._settings.grace,
                )
                await watch
        log.info("Berth has ended")
        return ending.code

    # parts

    def _assemble(self, writer: Dispatcher, recording: Recording) -> Scheduler:
        settings = self._settings
        checked = None
        if settings.self_check:
            from scheduler.cycle import self_check

            checked = self_check.check
        warn_of_slow_extenders(settings.config)
        scheduler = assemble(
            settings.config,
            registry=settings.registry,
            gates=settings.options.feature_gates,
            writer=writer,
            source=settings.source,
            metrics=self._metrics,
            random_source=random.Random(settings.random_seed),
            longest_unschedulable=settings.options.pod_max_in_unschedulable_pods_duration,
            checked=checked,
            journal=recording.journal,
            histories=recording.records is not None,
        )
        wire(scheduler)
        pacer = Pacer(settings.burst_interval)
        scheduler.pace(tried=pacer.tried, bound=pacer.bound)
        recording.watch(scheduler)
        return scheduler

    def _leadership(self, transport: Transport) -> Leadership | None:
        election = self._settings.config.leader_election
        if not election.leader_elect:
            return None
        return Leadership(election, transport.lease, self._component, self._serving_certificate)

    def _serving_certificate(self) -> dict[str, str]:
        """What the Lease tells of the leader, so that whoever asks it can be sure that it is the one."""
        certificate = b"" if self._server is None else self._server.certificate
        return {SERVING_CERTIFICATE: fingerprint(certificate)} if certificate else {}

    def _profile_operator(
        self,
        scheduler: Scheduler,
        running: RunningConfiguration,
        transport: Transport,
        leadership: Leadership | None,
    ) -> ProfileOperator | None:
        if not self._settings.scheduler_profiles:
            return None
        from scheduler.app.profile_operator import ProfileOperator

        return ProfileOperator(
            scheduler,
            running,
            transport.objects,
            transport.connection,
            leads=lambda: leadership is None or leadership.leads,
            on_signals_taken=self._on_signals_taken,
        )

    def _follow_file(self, running: RunningConfiguration) -> None:
        source = self._settings.source
        if source:
            operator = self._operator
            changed = operator.resources.reconcile if operator is not None else None
            work = follow(source, running, self._settings.document, changed=changed)
            self._supervisor.start(work, "configuration file")

    async def _serve(
        self,
        stack: AsyncExitStack,
        leadership: Leadership | None,
        running: RunningConfiguration,
        resources: PodResources,
        scheduler: Scheduler,
        recording: Recording,
    ) -> SecureServer | None:
        def leads() -> bool:
            return leadership is None or leadership.leads

        health = [] if leadership is None else [leadership.check]
        readiness = [*health, Check("shutdown", self._shutting_down), Check("sched-handler-sync", self._not_synced)]
        return await start_server(
            self._settings,
            stack,
            registry=self._metrics.registry,
            configuration=lambda: running.config,
            resource_metrics=resources.text,
            leads=leads,
            health=health,
            readiness=readiness,
            decisions=LiveDecisions(scheduler, recording.records, leads=leads, synced=lambda: self._synced),
        )

    def _shutting_down(self) -> str | None:
        return "process is shutting down" if self._ending is not None and self._ending.done() else None

    def _not_synced(self) -> str | None:
        return None if self._synced else "handlers are not fully synchronized"

    # life

    async def _work(
        self, scheduler: Scheduler, informers: Informers, leadership: Leadership | None, recording: Recording
    ) -> None:
        """Read the cluster, and schedule as soon as it is known and this process is the one to do so."""
        start_upkeep(scheduler, self._supervisor)
        if leadership is None:
            await self._sync(informers)
            await self._schedule(scheduler, recording)
            return
        late = self._settings.config.delay_cache_until_active
        if not late:
            await self._sync(informers)

        async def synchronized() -> None:
            await self._sync(informers)
            await self._schedule(scheduler, recording)

        async def lead() -> None:
            if late:
                self._supervisor.start(synchronized(), "start of the caches", may_end=True)
            else:
                self._supervisor.start(self._schedule(scheduler, recording), "start of scheduling", may_end=True)

        def lost() -> None:
            scheduler.stop()
            log.error("leaderelection lost")
            self._end(Ending.LEASE_LOST)

        await leadership.run(lead, lost)

    async def _sync(self, informers: Informers) -> None:
        informers.start(self._supervisor)
        while True:
            try:
                await informers.wait_for_sync(_SYNC_PATIENCE)
                break
            except SyncTimeoutError as problem:
                log.warning("still waiting for the caches: %s", problem)
        settle_heap()
        self._synced = True
        log.info("Caches are synchronized: %d nodes, %d pods", *_sizes(informers))

    async def _schedule(self, scheduler: Scheduler, recording: Recording) -> None:
        """Begin to take pods, by the profiles that SchedulerProfiles want if they can be read in time."""
        operator = self._operator
        if operator is not None:
            await operator.load()
            self._supervisor.start(operator.run(), "SchedulerProfiles")
            self._supervisor.start(operator.write_statuses(), "statuses of SchedulerProfiles")
        recording.start(self._supervisor)
        log.info("Scheduling pods of %s", ", ".join(scheduler.profiles))
        self._supervisor.start(scheduler.run(), "scheduling", may_end=True)

    def _end(self, why: Ending) -> None:
        if self._ending is not None and not self._ending.done():
            self._ending.set_result(why)

    async def _watch(self) -> None:
        try:
            await self._supervisor.wait()
        except TaskDiedError as problem:
            log.critical("%s", problem)
            self._end(Ending.FAILED)


def _sizes(informers: Informers) -> tuple[int, int]:
    return len(informers.informer(kinds.NODES)), len(informers.informer(kinds.PODS))
