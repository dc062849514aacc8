from __future__ import annotations

import pytest

from scheduler.client.informers import Informers, SyncTimeoutError
from scheduler.client.kinds import DEVICE_CLASSES, NODES, PODS
from scheduler.client.reflector import WatchSettings
from scheduler.client.supervise import Supervisor
from tests.fakes.apiserver import bookmark, event, pod, status, stream

QUICK = WatchSettings(backoff_base=0.005, backoff_cap=0.02)


@pytest.fixture
async def supervisor():
    supervisor = Supervisor()
    yield supervisor
    await supervisor.stop()


async def test_each_resource_is_read_once_however_often_it_is_asked_for(server, session, supervisor):
    server.on("GET", "/api/v1/pods", stream(event("ADDED", pod("a", 1)), bookmark(2, initial_end=True), end="silence"))
    informers = Informers(session, settings=QUICK)
    pods = informers.informer(PODS)
    assert informers.informer(PODS) is pods
    informers.start(supervisor)
    await informers.wait_for_sync(5)
    assert pods.get("ns", "a").metadata.uid == "uid-a"
    assert len(server.requests) == 1


async def test_an_informer_asked_for_later_begins_at_once(server, session, supervisor):
    server.on("GET", "/api/v1/nodes", stream(bookmark(2, initial_end=True), end="silence"))
    informers = Informers(session, settings=QUICK)
    informers.start(supervisor)
    nodes = informers.informer(NODES)
    await informers.wait_for_sync(5)
    assert nodes.has_synced


async def test_what_can_not_be_listed_in_time_is_named_with_the_reason(server, session, supervisor):
    server.on("GET", "/api/v1/pods", status(403, "Forbidden", "pods is forbidden: no such right"))
    informers = Informers(session, settings=QUICK)
    informers.informer(PODS)
    informers.informer(DEVICE_CLASSES, optional=True)
    informers.start(supervisor)
    with pytest.raises(SyncTimeoutError) as failure:
        await informers.wait_for_sync(0.3)
    assert str(failure.value) == "not listed within 0.3 s: /api/v1/pods: pods is forbidden: no such right"
