"""The scheduler as a process: its event loop, its signals, its exit code."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from typing import TYPE_CHECKING, Final

from scheduler.app.service import SchedulerService
from scheduler.app.upkeep import relax_collection
from scheduler.kernels.compiled import compiled
from scheduler.version import KUBERNETES_VERSION, __version__

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.app.settings import Settings

log = logging.getLogger(__name__)

_AT_ONCE: Final = 1
"""The exit code after a second signal, which is that of Kubernetes' components."""


def run_process(settings: Settings) -> int:
    """Run the scheduler until a signal, a failure or the loss of the lease; the exit code. Raises StartError."""
    relax_collection()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(_run(settings))


async def _run(settings: Settings) -> int:
    log.info("Starting Berth %s, which decides as kube-scheduler %s does", __version__, KUBERNETES_VERSION)
    if compiled is None:
        log.warning(
            "Berth was built without a C compiler: it decides the same, but takes longer where many templates take "
            "turns"
        )
    for warning in settings.warnings:
        log.warning("%s", warning)
    service = SchedulerService(settings, on_signals_taken=lambda: signals.install())
    signals = StopSignals(service.stop)
    signals.install()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR2, service.debug)
    return await service.run()


class StopSignals:
    """SIGTERM and SIGINT: the first asks the process to stop, the second ends it where it is."""

    def __init__(self, stop: Callable[[], None], *, leave: Callable[[int], object] = os._exit) -> None:
        self._stop = stop
        self._leave = leave
        self._received = False

    def install(self) -> None:
        """Take the signals over from the running loop's process."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.received, number)

    def received(self, number: int) -> None:
        """A signal came."""
        name = signal.Signals(number).name
        if self._received:
            log.warning("%s again: ending at once", name)
            self._leave(_AT_ONCE)
            return
        self._received = True
        log.info("%s: stopping", name)
        self._stop()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
