"""The part that a process has in a leader election."""

from __future__ import annotations

import asyncio
import json

import pytest
from prometheus_client import CollectorRegistry

from scheduler.app.leadership import Leadership
from scheduler.client.errors import ApiError
from scheduler.config.types import LeaderElection
from scheduler.metrics.component import ComponentMetrics
from scheduler.metrics.exposition import render

pytestmark = pytest.mark.looptime
CONFIG = LeaderElection(resource_name="berth")


class Leases:
    """The API server's side of one lease; `broken` makes it refuse everything, `silent` answer nothing."""

    def __init__(self):
        self.lease = None
        self.broken = self.silent = False

    async def request(self, method, _path, *, body=None, within=0.0):
        if self.silent:
            await asyncio.sleep(3600)
        if self.broken:
            raise ApiError(500, "InternalError")
        if method == "GET":
            if self.lease is None:
                raise ApiError(404, "NotFound")
        else:
            self.lease = json.loads(body)
        return json.dumps(self.lease).encode()

    @property
    def holder(self):
        return self.lease["spec"].get("holderIdentity", "")


class Stage:
    """A candidate, and what it was told."""

    def __init__(self):
        self.leases = Leases()
        self.registry = CollectorRegistry()
        self.leadership = Leadership(CONFIG, self.leases, ComponentMetrics(self.registry))
        self.began = self.lost = False

    async def begin(self):
        self.began = True

    def lose(self):
        self.lost = True

    def run(self):
        return asyncio.create_task(self.leadership.run(self.begin, self.lose))

    @property
    def metric(self):
        line = next(line for line in render(self.registry).decode().splitlines() if line.startswith("leader_election"))
        return line.removeprefix('leader_election_master_status{name="berth"} ')


@pytest.fixture
def stage():
    return Stage()


async def stopped(task):
    task.cancel()
    await asyncio.wait({task})


async def test_a_free_lease_is_taken_and_the_work_begins(stage):
    assert (stage.leadership.leads, stage.metric) == (False, "0")
    task = stage.run()
    await asyncio.sleep(1)
    assert (stage.began, stage.leadership.leads, stage.metric) == (True, True, "1")
    assert stage.leadership.check.run() is None
    await stopped(task)


async def test_a_lease_that_another_holds_is_waited_for(stage):
    spec = {"holderIdentity": "other", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"}
    stage.leases.lease = {"metadata": {"name": "berth"}, "spec": spec}
    task = stage.run()
    await asyncio.sleep(10)
    assert (stage.began, stage.leadership.leads, stage.leadership.check.run()) == (False, False, None)
    await asyncio.sleep(10)
    assert (stage.began, stage.leadership.leads) == (True, True)
    await stopped(task)


async def test_losing_the_lease_is_told_once_it_could_not_be_renewed(stage):
    task = stage.run()
    await asyncio.sleep(1)
    stage.leases.broken = True
    await task
    assert (stage.lost, stage.leadership.leads, stage.metric) == (True, False, "0")


async def test_the_check_fails_if_the_lease_ran_out_unnoticed(stage):
    task = stage.run()
    await asyncio.sleep(1)
    await stopped(task)
    await asyncio.sleep(20)
    assert stage.leadership.check.run() == "failed election to renew leadership on lease berth"


async def test_a_lease_that_is_released_is_free_at_once(stage):
    task = stage.run()
    await asyncio.sleep(1)
    await stopped(task)
    await stage.leadership.release(within=4.0)
    assert (stage.leases.holder, stage.leadership.leads, stage.metric) == ("", False, "0")
    assert stage.leadership.check.run() is None


async def test_whoever_never_led_releases_nothing(stage):
    await stage.leadership.release(within=4.0)
    assert stage.leases.lease is None


async def test_a_release_that_gets_no_answer_is_given_up(stage, caplog):
    task = stage.run()
    await asyncio.sleep(1)
    await stopped(task)
    stage.leases.silent = True
    await stage.leadership.release(within=4.0)
    assert asyncio.get_running_loop().time() == 5.0
    assert "the lease berth could not be released within 4 s" in caplog.messages
