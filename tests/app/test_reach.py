"""The way to a running scheduler with nothing but a kubeconfig."""

from __future__ import annotations

import pytest

from scheduler.app.asking import Asking, RefusedError
from scheduler.app.reach import NoSchedulerError, Place, ReachError, find, through_api_server
from scheduler.client.answers import unpacked
from scheduler.client.auth import Connection
from scheduler.client.http import Session
from tests.app.explaining import LEASE, PODS, Judge, lead_to, lease, pod, scheduler
from tests.fakes.apiserver import reply, status
from tests.fakes.decisions import BIG, DECISION, WEB


def jane(cluster, token="t"):
    async def authorize(*, renew=False):
        return {"Authorization": f"Bearer {token}"}

    return Connection(cluster.url, authorize=authorize)


async def found(cluster, **place):
    async with Session(cluster.connection, qps=0) as session:
        one = await find(session, Place(**place))
    return one.pod, one.port, one.pin


class TestFinding:
    async def test_the_holder_of_the_lease_is_a_pod_by_that_name(self, server):
        server.on("GET", LEASE, reply(lease(certificate=b"der")))
        server.on("GET", f"{PODS}/berth-0", reply(pod(port=4433)))
        name, port, pin = await found(server)
        assert (name, port) == ("berth-0", 4433)
        assert pin.startswith("sha256:")
        assert (await found(server, port=99))[1] == 99

    async def test_the_usual_port_is_taken_where_the_pod_may_not_be_read(self, server):
        server.on("GET", LEASE, reply(lease()))
        server.on("GET", f"{PODS}/berth-0", status(403, "Forbidden", "no"))
        assert await found(server) == ("berth-0", 10259, "")

    async def test_on_the_hosts_network_the_holder_is_the_hosts_name(self, server):
        server.on("GET", LEASE, reply(lease("n2_1f0a", b"der")))
        server.on("GET", PODS, reply({"items": [pod("a", node="n1"), pod("b", node="n2")]}))
        assert (await found(server))[0] == "b"
        assert server.requests[-1].query["labelSelector"].startswith("app.kubernetes.io/name=berth")

    @pytest.mark.parametrize("answer", [status(404, "NotFound", "no lease"), reply(lease(""))])
    async def test_without_a_leader_any_running_pod_will_do_and_nothing_is_known_of_its_certificate(
        self, server, answer
    ):
        server.on("GET", LEASE, answer)
        server.on("GET", PODS, reply({"items": [pod("c"), pod("b"), pod("a", phase="Pending")]}))
        assert await found(server) == ("b", 10259, "")

    async def test_no_scheduler_at_all(self, server):
        server.on("GET", PODS, reply({"items": []}))
        with pytest.raises(NoSchedulerError, match="no Berth in namespace kube-system") as caught:
            await found(server)
        assert "--scheduler-namespace" in str(caught.value)

    async def test_a_leader_outside_of_the_cluster_is_told_of(self, server):
        server.on("GET", LEASE, reply(lease("laptop_1f0a")))
        server.on("GET", PODS, reply({"items": [pod()]}))
        with pytest.raises(NoSchedulerError, match="--server https://laptop:10259 asks it there"):
            await found(server)

    async def test_a_missing_right_is_named_with_the_rule_that_gives_it(self, server):
        server.on("GET", LEASE, status(403, "Forbidden", 'User "jane" cannot get resource "leases"'))
        with pytest.raises(ReachError) as caught:
            await found(server)
        text = str(caught.value)
        assert 'User "jane" cannot get resource "leases"' in text
        assert '{apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: [get], ' in text
        assert 'resourceNames: ["berth"]}' in text
        assert "rbac.explain.subjects" in text

    async def test_so_is_that_to_list_pods(self, server):
        server.on("GET", PODS, status(403, "Forbidden", "no"))
        with pytest.raises(ReachError, match='resources: \\["pods"\\], verbs: \\[get, list\\]'):
            await found(server)


class TestAsking:
    async def test_what_the_scheduler_knows_comes_through_the_api_server(self, server):
        async with scheduler() as (berth, decisions):
            lead_to(server, berth)
            async with through_api_server(jane(server), Place()) as requests:
                asking = Asking(requests)
                assert await asking.pod("shop", "web-1") == WEB
                assert await asking.pod("shop", "gone") is None
                assert await asking.decision(7) == DECISION
                assert (await asking.comparison(7)).lead == 57
                assert await asking.comparison(7, "zzz") is None
                assert (await asking.evaluation("shop", "big")).decision == BIG.latest
                assert (await asking.overview()).leader
                assert (await asking.pending()).total == 1
                assert (await asking.nodes()).names == ("node-0", "node-1", "node-2")
                assert (await asking.node("a")).pods == ("shop/web-1",)
                page = await asking.decisions(limit=2, before=9, namespace="shop")
                assert [one.id for one in page.items] == [8, 7]
        assert (decisions.asked[0].limit, decisions.asked[0].before, decisions.asked[0].namespace) == (2, 9, "shop")

    async def test_answers_come_compressed_and_what_has_not_changed_does_not_come_again(self, server):
        async with scheduler() as (berth, decisions):
            decisions.nodes_count = 5000
            lead_to(server, berth)
            async with through_api_server(jane(server), Place()) as requests:
                answer = await requests.get("/explain/v1/nodes")
                assert (answer.status, answer.encoding) == (200, "gzip")
                assert len(answer.body) < len(unpacked(answer)) / 3
                decisions.time = "2026-01-02T03:04:06Z"
                again = await requests.get("/explain/v1/nodes", known=answer.etag)
                assert (again.status, again.body, again.etag) == (304, b"", answer.etag)
                decisions.nodes_count = 5001
                assert (await requests.get("/explain/v1/nodes", known=answer.etag)).status == 200
                assert len((await Asking(requests).nodes()).names) == 5001

    async def test_nothing_is_sent_to_a_pod_with_another_certificate_than_the_leaders(self, server):
        async with scheduler() as (leader, _), scheduler() as (other, decisions):
            lead_to(server, other)
            server.on("GET", LEASE, reply(lease(certificate=leader.certificate)))
            async with through_api_server(jane(server), Place()) as requests:
                with pytest.raises(ReachError, match="nothing was sent to it"):
                    await Asking(requests).decisions()
        assert decisions.asked == []

    async def test_the_right_to_forward_ports_is_asked_for(self, server):
        async with scheduler() as (berth, _):
            lead_to(server, berth)
        server.on("GET", f"{PODS}/berth-0/portforward", status(403, "Forbidden", 'User "jane" cannot get'))
        with pytest.raises(ReachError) as caught:
            async with through_api_server(jane(server), Place()):
                pass
        assert 'resources: ["pods/portforward"], verbs: [get, create]' in str(caught.value)

    async def test_the_right_to_read_decisions_is_asked_for(self, server):
        async with scheduler(Judge("/explain/v1/pods/shop/")) as (berth, _):
            lead_to(server, berth)
            async with through_api_server(jane(server), Place()) as requests:
                assert await Asking(requests).pod("shop", "web-1") == WEB
                with pytest.raises(RefusedError) as caught:
                    await Asking(requests).pending()
        text = str(caught.value)
        assert (caught.value.status, 'User "jane" cannot get path' in text) == (403, True)
        assert 'nonResourceURLs: ["/explain/v1/*"], verbs: [get]' in text

    async def test_credentials_that_the_scheduler_does_not_take_are_told_of(self, server):
        async with scheduler() as (berth, _):
            lead_to(server, berth)
            async with through_api_server(jane(server, "made up"), Place()) as requests:
                with pytest.raises(RefusedError, match="does not take the credentials of your kubeconfig"):
                    await Asking(requests).overview()

    async def test_a_refusal_of_the_api_keeps_its_code_and_its_advice(self, server):
        async with scheduler() as (berth, _):
            lead_to(server, berth, pinned=False)
            async with through_api_server(jane(server), Place()) as requests:
                with pytest.raises(RefusedError, match="lists those that are") as caught:
                    await Asking(requests).decision(99)
        assert (caught.value.status, caught.value.code) == (404, "unknownDecision")

    async def test_a_scheduler_that_has_ended_meanwhile(self, server):
        async with scheduler() as (berth, _):
            lead_to(server, berth)
        async with through_api_server(jane(server), Place()) as requests:
            with pytest.raises(ReachError, match="pod kube-system/berth-0, port 10259: error forwarding port 10259"):
                await Asking(requests).overview()
