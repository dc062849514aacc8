"""A node whose kubelet can be asked to forward ports, and a pod on it that stands for a process of ours.

No containers run here: `kubelet/` serves port forwards with the code that kubelets and container runtimes serve them
with, and connects to the same port on loopback.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from e2e import tools
from e2e.berth import get
from e2e.controlplane.nodes import node
from e2e.controlplane.process import Process, free_port

if TYPE_CHECKING:
    from types import TracebackType

    from e2e.controlplane import ControlPlane

_START = 20.0


class ForwardingNode:
    """The node and its kubelet's stand-in, while the context lasts."""

    def __init__(self, cluster: ControlPlane, name: str) -> None:
        self.name = name
        self._cluster = cluster
        self._port = free_port()
        files = cluster.directory
        self._client = files / "kubelet-client.crt", files / "kubelet-client.key"
        self._process = Process(
            name,
            [
                str(tools.binary("kubelet")),
                f"--port={self._port}",
                f"--tls-cert-file={files / 'server.crt'}",
                f"--tls-private-key-file={files / 'server.key'}",
                f"--client-ca-file={files / 'ca.crt'}",
            ],
            files / f"{name}.log",
        )

    def __enter__(self) -> Self:
        try:
            self._process.wait_ready(self._ready, _START)
            # Closed to pods, so that no test's pods land where nobody runs them.
            self._cluster.api.create(node(self.name, unschedulable=True))
            status = {
                "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": self._port}},
            }
            self._cluster.api.patch(f"/api/v1/nodes/{self.name}/status", {"status": status}, kind="merge")
        except BaseException:
            self._process.kill()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            error.add_note(self._process.tail())
        self._cluster.api.delete(f"/api/v1/nodes/{self.name}")
        self._process.stop()

    def stand_for(self, namespace: str, name: str, port: int, *, hostname: str = "") -> None:
        """Create a running pod whose port `https` is that port on loopback."""
        container = {"name": "berth", "image": "berth", "ports": [{"name": "https", "containerPort": port}]}
        labels = {"app.kubernetes.io/name": "berth", "app.kubernetes.io/component": "scheduler"}
        spec: dict[str, Any] = {"nodeName": self.name, "containers": [container]}
        if hostname:
            spec["hostname"] = hostname
        pods = f"/api/v1/namespaces/{namespace}/pods"
        self._cluster.api.create(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "namespace": namespace, "labels": labels},
                "spec": spec,
            }
        )
        self._cluster.api.patch(f"{pods}/{name}/status", {"status": {"phase": "Running"}}, kind="merge")

    def _ready(self) -> bool:
        try:
            return get(self._port, "/healthz", certificate=self._client)[0] == 200
        except OSError:
            return False
