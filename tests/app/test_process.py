"""Signals and exit codes."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from scheduler.app import process
from scheduler.app.process import StopSignals
from tests.app.live import settings


@pytest.fixture
def told():
    return []


@pytest.fixture
def signals(told):
    return StopSignals(lambda: told.append("stop"), leave=lambda code: told.append(code))


def test_the_first_signal_asks_for_an_orderly_end(signals, told):
    signals.received(signal.SIGTERM)
    assert told == ["stop"]


def test_the_second_signal_ends_the_process_at_once(signals, told):
    signals.received(signal.SIGTERM)
    signals.received(signal.SIGINT)
    assert told == ["stop", 1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_both_signals_are_taken_over(signals, told, eventually, number):
    signals.install()
    loop = asyncio.get_running_loop()
    try:
        os.kill(os.getpid(), number)
        await eventually(lambda: told)
    finally:
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(each)
    assert told == ["stop"]


@pytest.mark.parametrize("module", [process.compiled, None], ids=["compiled", "not compiled"])
def test_a_process_runs_its_service_to_the_end(monkeypatch, caplog, module):
    caplog.set_level("INFO")

    class Service:
        def __init__(self, given, *, on_signals_taken):
            self.given = given
            self.on_signals_taken = on_signals_taken
            self.stopped = asyncio.Event()

        def stop(self):
            self.stopped.set()

        def debug(self):
            os.kill(os.getpid(), signal.SIGTERM)

        async def run(self):
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: None)  # as a library might
            self.on_signals_taken()
            os.kill(os.getpid(), signal.SIGUSR2)
            await self.stopped.wait()
            return 7

    monkeypatch.setattr(process, "compiled", module)
    monkeypatch.setattr(process, "SchedulerService", Service)
    monkeypatch.setattr(process, "relax_collection", lambda: None)
    assert process.run_process(settings("", warnings=("mind the gap",))) == 7
    assert "mind the gap" in caplog.messages
    assert ("Berth was built without a C compiler" in caplog.text) is (module is None)
    assert "SIGTERM: stopping" in caplog.messages
