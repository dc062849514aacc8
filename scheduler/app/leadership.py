"""Who schedules: this process always, or while it holds the lease."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from scheduler.client.lease import LeaderElector, LeaseSettings
from scheduler.server.health import Check

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from scheduler.client.http import Session
    from scheduler.config.types import LeaderElection
    from scheduler.metrics.component import ComponentMetrics

log = logging.getLogger(__name__)


class Leadership:
    """The part that a process has in a leader election.

    `annotations` are what its Lease tells of it. `run` begins the work once it leads, and calls `lost` when it does so
    no more. Cancelling `run` gives nothing up: `release` does, to be called when all work has ended.
    """

    def __init__(
        self,
        config: LeaderElection,
        session: Session,
        metrics: ComponentMetrics,
        annotations: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._name = config.resource_name
        self._metrics = metrics
        self._began = False
        self._elector = LeaderElector(
            session,
            LeaseSettings(
                namespace=config.resource_namespace,
                name=config.resource_name,
                lease_duration=config.lease_duration.seconds,
                renew_deadline=config.renew_deadline.seconds,
                retry_period=config.retry_period.seconds,
            ),
            on_new_leader=self._tell,
            annotations=annotations,
        )
        metrics.leading(self._name, leads=False)

    @property
    def leads(self) -> bool:
        """Whether this process is the one that schedules, by its own clock."""
        return self._began and self._elector.is_leader

    @property
    def check(self) -> Check:
        """The health check that fails if the lease ran out without the process having ended over it."""
        return Check("leaderElection", self._wrong)

    async def run(self, begin: Callable[[], Awaitable[None]], lost: Callable[[], None]) -> None:
        """Take part until the lease, once held, is lost. `begin` must not wait for the work it starts."""

        async def started() -> None:
            self._began = True
            self._metrics.leading(self._name, leads=True)
            await begin()

        def ended() -> None:
            self._began = False
            self._metrics.leading(self._name, leads=False)
            lost()

        await self._elector.run(started, ended)

    async def release(self, *, within: float) -> None:
        """Give the lease up, if it is ours, so that a standby need not wait for its end; try it `within` seconds."""
        if not self._began:
            return
        self._began = False
        self._metrics.leading(self._name, leads=False)
        try:
            async with asyncio.timeout(within):
                await self._elector.release()
        except TimeoutError:
            log.warning("the lease %s could not be released within %g s", self._name, within)

    def _wrong(self) -> str | None:
        if self._began and not self._elector.is_leader:
            return f"failed election to renew leadership on lease {self._name}"
        return None

    def _tell(self, leader: str) -> None:
        if leader and leader != self._elector.identity:
            log.info("new leader elected: %s", leader)
