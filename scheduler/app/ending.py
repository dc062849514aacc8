"""How a scheduler process ends: why, and what is let come to its end before the rest is stopped."""

from __future__ import annotations

import asyncio
import logging
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scheduler.app.leadership import Leadership
    from scheduler.client.dispatcher import Dispatcher
    from scheduler.client.supervise import Supervisor
    from scheduler.cycle.scheduler import Scheduler
    from scheduler.server.secure import SecureServer

log = logging.getLogger(__name__)

# Together with the grace period of 20 s these stay below the 30 s after which a kubelet kills.
_DRAIN_TIME: Final = 3.0
_CANCEL_TIME: Final = 2.0
_RELEASE_TIME: Final = 4.0


class Ending(Enum):
    """Why a service ends."""

    STOPPED = "stopped"
    LEASE_LOST = "lease lost"
    FAILED = "failed"

    @property
    def code(self) -> int:
        """The exit code of its process."""
        return 0 if self is Ending.STOPPED else 1


async def wind_down(
    scheduler: Scheduler,
    writer: Dispatcher,
    supervisor: Supervisor,
    *,
    leadership: Leadership | None,
    server: SecureServer | None,
    grace: float,
) -> None:
    """Take no more pods, let binds under way end within `grace` seconds, release the lease, and stop everything else.

    The lease is kept until it runs out where a bind has not ended: nobody else may decide on that pod before.
    """
    scheduler.stop()
    for waiting in scheduler.waiting:
        waiting.reject("", "the scheduler is stopping")
    unfinished = await scheduler.settle(grace)
    if unfinished:
        log.error("%d binding cycles did not end within %g s", unfinished, grace)
    for extender in scheduler.extenders:
        extender.close()
    # The server lets its requests finish meanwhile, so that probes are answered to the end.
    closing = [] if server is None else [asyncio.create_task(server.stop(), name="server: stop")]
    await writer.drain(_DRAIN_TIME)
    await supervisor.stop(_CANCEL_TIME)
    if leadership is not None and not unfinished:
        await leadership.release(within=_RELEASE_TIME)
    await asyncio.gather(*closing)
