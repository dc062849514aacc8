"""A small API server for a whole scheduler, and the settings of a scheduler that talks to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import yaml

from scheduler.app.assembly import LOOKED_UP
from scheduler.app.configuration import all_plugins, read_config
from scheduler.app.settings import Settings
from scheduler.client import kinds
from scheduler.config.features import FeatureGates
from scheduler.config.options import Options
from tests.fakes.apiserver import bookmark, reply, stream

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.fakes.apiserver import FakeApiServer

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
LEASE = f"{LEASES}/berth"


def serve(server: FakeApiServer, *, nodes: Iterable[Any] = (), pods: Iterable[Any] = ()) -> None:
    """Let the server list these objects, and say nothing more of them or of anything else."""
    objects = {kinds.NODES: nodes, kinds.PODS: pods}
    for resource in (kinds.NODES, kinds.PODS, kinds.NAMESPACES, *LOOKED_UP):
        listed = [msgspec.to_builtins(item) for item in objects.get(resource, ())]
        for item in listed:
            item["metadata"]["resourceVersion"] = "1"
        events = [{"type": "ADDED", "object": item} for item in listed]
        server.on("GET", resource.path(), stream(*events, bookmark(1, initial_end=True), end="silence"))


def bindings(server: FakeApiServer) -> list[str]:
    """The nodes that pods were bound to, in order."""
    return [seen.body["target"]["name"] for seen in server.seen("POST") if seen.path.endswith("/binding")]


def accept_bindings(server: FakeApiServer, *names: str) -> None:
    """Let pods of the namespace default be bound, and take their events."""
    server.on("POST", "/apis/events.k8s.io/v1/namespaces/default/events", reply({}, 201))
    for name in names:
        server.on("POST", kinds.PODS.path("default", name, "binding"), reply({"kind": "Status"}, 201))


def write_kubeconfig(path: Path, server: FakeApiServer) -> str:
    """The path of a kubeconfig for a fake server."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": server.url}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path.write_text(yaml.safe_dump(content))
    return str(path)


def settings(kubeconfig: str, *, elects: bool = False, **changes: Any) -> Settings:
    """Settings without a server of its own; `changes` are fields of Settings, or options by their names."""
    gates = FeatureGates()
    registry = all_plugins()
    config = read_config("", gates=gates, registry=registry)
    client = msgspec.structs.replace(config.client_connection, kubeconfig=kubeconfig, qps=0.0)
    election = msgspec.structs.replace(config.leader_election, leader_elect=elects)
    config = msgspec.structs.replace(config, client_connection=client, leader_election=election)
    options = {name: changes.pop(name) for name in [*changes] if name in Options.__struct_fields__}
    return Settings(
        config=config,
        options=Options(**{"secure_port": 0, **options}),
        registry=registry,
        **{"grace": 5.0, **changes},
    )
