"""A scheduler that serves its decisions on loopback, and a cluster through which it is reached."""

from __future__ import annotations

import socket
from contextlib import asynccontextmanager

from scheduler.app.reach import SERVING_CERTIFICATE
from scheduler.client.tunnel import fingerprint
from scheduler.server.endpoints import Endpoints
from scheduler.server.explain import ExplainApi
from scheduler.server.identity import Decision, User
from scheduler.server.options import ServerOptions
from scheduler.server.secure import Access, SecureServer
from tests.fakes.apiserver import reply
from tests.fakes.decisions import FakeDecisions
from tests.fakes.portforward import forwarding

LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/berth"
PODS = "/api/v1/namespaces/kube-system/pods"
HOLDER = "berth-0_1f0a"


class Judge:
    """Knows the token "t" as jane, who may read what begins with one of these paths."""

    def __init__(self, *paths):
        self.paths = paths or ("/explain/v1/",)

    async def review_token(self, token):
        return User("jane") if token == "t" else None

    async def authorize(self, user, verb, path):
        return Decision(user.name == "jane" and verb == "get" and path.startswith(self.paths))


@asynccontextmanager
async def scheduler(judge=None, **files):
    """A server with decisions, and what it decides from."""
    decisions = FakeDecisions()
    api = ExplainApi(decisions, version="1")
    judge = judge or Judge()
    with socket.create_server(("127.0.0.1", 0)) as listen:
        server = SecureServer(
            ServerOptions(bind_address="127.0.0.1", **files),
            Endpoints(metrics=lambda: b"", extra={"/explain/v1/*": api.handle}),
            Access(tokens=judge, authorizer=judge),
            listen=listen,
        )
        await server.start()
        try:
            yield server, decisions
        finally:
            await server.stop()


def lease(holder=HOLDER, certificate=b""):
    notes = {SERVING_CERTIFICATE: fingerprint(certificate)} if certificate else {}
    return {"metadata": {"name": "berth", "annotations": notes}, "spec": {"holderIdentity": holder}}


def pod(name="berth-0", *, port=10259, node="n1", phase="Running"):
    return {
        "metadata": {"name": name},
        "spec": {"nodeName": node, "containers": [{"ports": [{"name": "https", "containerPort": port}]}]},
        "status": {"phase": phase},
    }


def lead_to(cluster, server, *, pinned=True):
    """Let the cluster's Lease, pod and forwarded port lead to the server."""
    cluster.on("GET", LEASE, reply(lease(certificate=server.certificate if pinned else b"")))
    cluster.on("GET", f"{PODS}/berth-0", reply(pod()))
    cluster.on("GET", f"{PODS}/berth-0/portforward", forwarding(10259, to=server.port))
