"""A scheduler from its start to its end, on a small API server."""

from __future__ import annotations

import asyncio
import ssl

import pytest

from scheduler.app.problems import SettingsError
from scheduler.app.reach import SERVING_CERTIFICATE
from scheduler.app.service import SchedulerService
from scheduler.client import kinds
from scheduler.client.tunnel import fingerprint
from tests.app.live import LEASE, LEASES, accept_bindings, bindings, serve, settings
from tests.builders import node, pod
from tests.fakes.apiserver import gated, reply, status
from tests.fakes.ports import free_port

NODE = node("n").build()
POD = pod("p").scheduler("berth").build()
BINDING = kinds.PODS.path("default", "p", "binding")


def lease(holder="", version="1"):
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": 0} if holder else None
    return {"metadata": {"name": "berth", "namespace": "kube-system", "resourceVersion": version}, "spec": spec}


def free_lease(server):
    """A lease that nobody has, and that is taken by whoever comes."""
    server.on("GET", LEASE, status(404, "NotFound"))
    server.on("POST", LEASES, reply(lease(), 201))
    server.on("PUT", LEASE, reply(lease()))


@pytest.fixture
def start(kubeconfig, server):
    """Starts a service as a task."""

    def start(**changes):
        service = SchedulerService(settings(kubeconfig(server), **changes))
        return service, asyncio.create_task(service.run())

    return start


async def test_a_pod_is_bound_and_a_stop_ends_it_well(server, start, eventually):
    serve(server, nodes=[NODE], pods=[POD])
    accept_bindings(server, "p")
    service, task = start()
    await eventually(lambda: bindings(server) == ["n"])
    service.stop()
    assert await task == 0
    (event,) = server.seen("POST", "/apis/events.k8s.io/v1/namespaces/default/events")
    assert event.body["reason"] == "Scheduled"


async def test_a_stop_waits_for_binds_under_way(server, start, eventually):
    serve(server, nodes=[NODE], pods=[POD])
    accept_bindings(server, "p")
    answered = asyncio.Event()
    server.on("POST", BINDING, gated(answered, reply({"kind": "Status"}, 201)))
    service, task = start()
    await eventually(lambda: bindings(server) == ["n"])
    service.stop()
    for _ in range(100):
        await asyncio.sleep(0)
    assert not task.done()
    answered.set()
    assert await task == 0
    assert len(server.seen("POST", "/apis/events.k8s.io")) == 1


async def test_a_stop_before_the_start_is_heeded(server, start):
    service, task = start()
    service.stop()
    assert await task == 0


async def test_a_stop_is_heeded_while_the_cluster_can_not_be_read(server, start, eventually):
    server.on("GET", "/api/v1/nodes", status(503, "ServiceUnavailable"))
    service, task = start()
    await eventually(lambda: server.seen("GET", "/api/v1/nodes"))
    service.stop()
    assert await task == 0


async def test_the_leader_schedules_and_releases_its_lease_in_the_end(server, start, eventually):
    serve(server, nodes=[NODE], pods=[POD])
    accept_bindings(server, "p")
    free_lease(server)
    service, task = start(elects=True)
    await eventually(lambda: bindings(server) == ["n"])
    (taken,) = server.seen("POST", LEASES)
    holder = taken.body["spec"]["holderIdentity"]
    server.on("GET", LEASE, reply(lease(holder)))
    service.stop()
    assert await task == 0
    assert server.seen("PUT", LEASE)[-1].body["spec"]["holderIdentity"] == ""


async def test_the_leader_writes_its_certificate_to_its_lease(server, start, eventually):
    serve(server)
    free_lease(server)
    port = free_port()
    service, task = start(elects=True, secure_port=port, bind_address="127.0.0.1")
    await eventually(lambda: server.seen("POST", LEASES))
    written = server.seen("POST", LEASES)[0].body["metadata"]["annotations"][SERVING_CERTIFICATE]
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    served = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    assert written == fingerprint(served)
    service.stop()
    assert await task == 0


async def test_a_standby_reads_the_cluster_but_schedules_nothing(server, start, eventually):
    serve(server, nodes=[NODE], pods=[POD])
    server.on("GET", LEASE, reply(lease("other")))
    service, task = start(elects=True)
    await eventually(lambda: server.seen("GET", LEASE))
    assert server.seen("GET", "/api/v1/pods")
    service.stop()
    assert await task == 0
    assert bindings(server) == []
    assert server.seen("PUT", LEASE) == []


async def test_losing_the_lease_ends_it_with_1_once_binds_have_settled(server, start, eventually):
    serve(server, nodes=[NODE], pods=[POD])
    accept_bindings(server, "p")
    free_lease(server)
    _, task = start(elects=True)
    await eventually(lambda: bindings(server) == ["n"])
    server.on("PUT", LEASE, status(409, "Conflict"))
    server.on("GET", LEASE, reply(lease("other", "2")))
    assert await task == 1
    assert all(seen.body["spec"]["holderIdentity"] for seen in server.seen("PUT", LEASE))


async def test_a_part_that_fails_ends_it_with_1_and_its_reason(server, start, eventually, caplog, monkeypatch):
    serve(server, nodes=[NODE])

    def fail(_handlers, _old, _new):
        raise RuntimeError("broken handler")

    monkeypatch.setattr("scheduler.cycle.handlers.EventHandlers.node", fail)
    _, task = start()
    assert await task == 1
    assert "background task reflector /api/v1/nodes failed: broken handler" in caplog.messages


async def test_credentials_that_can_not_be_used_are_named(tmp_path):
    missing = str(tmp_path / "none")
    with pytest.raises(SettingsError, match=missing):
        await SchedulerService(settings(missing)).run()


async def test_the_caches_can_be_looked_at(server, start, eventually, caplog):
    caplog.set_level("INFO")
    serve(server, nodes=[NODE], pods=[POD])
    accept_bindings(server, "p")
    service, task = start()
    service.debug()
    await eventually(lambda: bindings(server))
    service.debug()
    service.stop()
    await task
    assert any(message.startswith("Dump of cached NodeInfo:\nNode name: n\n") for message in caplog.messages)
    assert not any("Cache mismatch" in message for message in caplog.messages)


async def test_decisions_are_checked_where_that_is_asked_for(server, start, eventually, monkeypatch):
    serve(server, nodes=[NODE], pods=[POD])
    accept_bindings(server, "p")
    checked = []
    monkeypatch.setattr("scheduler.cycle.self_check.check", lambda *decision: checked.append(decision))
    service, task = start(self_check=True)
    await eventually(lambda: bindings(server))
    service.stop()
    await task
    assert len(checked) == 1


@pytest.mark.parametrize("annotate", [True, False])
async def test_a_decision_is_written_to_its_pod_if_that_is_wanted(server, start, eventually, annotate):
    serve(server, nodes=[NODE], pods=[POD])
    accept_bindings(server, "p")
    path = kinds.PODS.path("default", "p")
    server.on("GET", path, reply({"metadata": {"uid": POD.metadata.uid}}))
    server.on("PATCH", path, reply({}))
    service, task = start(annotate=annotate)
    await eventually(lambda: bindings(server) == ["n"])
    if annotate:
        await eventually(lambda: server.seen("PATCH", path))
        (patch,) = server.seen("PATCH", path)
        assert patch.body["metadata"]["annotations"]["kube-scheduler-simulator.sigs.k8s.io/selected-node"] == "n"
    service.stop()
    assert await task == 0
    assert len(server.seen("PATCH", path)) == annotate
