"""Berth as a process beside a control plane, with the rights that the chart gives it and no more."""

from __future__ import annotations

import json
import os
import re
import ssl
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import yaml

from e2e.controlplane.process import Process, free_port

if TYPE_CHECKING:
    import signal
    from collections.abc import Sequence
    from types import TracebackType

    from e2e.controlplane import ControlPlane

ROOT = Path(__file__).resolve().parent.parent
NAMESPACE, ACCOUNT = "kube-system", "berth"
_RIGHTS = frozenset({"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"})
_START = 60.0


def grant(cluster: ControlPlane) -> None:
    """Create the ServiceAccount and the roles of ``deploy/berth.yaml``."""
    for document in yaml.safe_load_all((ROOT / "deploy" / "berth.yaml").read_text()):
        if document is not None and document["kind"] in _RIGHTS:
            cluster.api.apply(document)


def configuration(**fields: Any) -> dict[str, Any]:
    """A KubeSchedulerConfiguration with the profile ``berth``, no leader election and no limit on requests."""
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"qps": 5000, "burst": 5000},
        "profiles": [{"schedulerName": "berth"}],
        **fields,
    }


class Berth:
    """``berth run``; a context manager that ends it. ``log`` is its whole log, also of earlier starts of that name."""

    def __init__(
        self,
        cluster: ControlPlane,
        *flags: str,
        name: str = "berth",
        config: dict[str, Any] | None = None,
        kubeconfig: Path | None = None,
    ):
        """``kubeconfig`` is for another way to the API server than the straight one."""
        kubeconfig = kubeconfig or cluster.kubeconfig_for_service_account(NAMESPACE, ACCOUNT)
        config = config or configuration()
        config["clientConnection"] = {**config.get("clientConnection", {}), "kubeconfig": str(kubeconfig)}
        file = cluster.directory / f"{name}.yaml"
        file.write_text(yaml.safe_dump(config))
        self.port = free_port()
        self._process = Process(
            name,
            [
                sys.executable,
                "-m",
                "scheduler",
                "run",
                f"--config={file}",
                f"--authentication-kubeconfig={kubeconfig}",
                f"--authorization-kubeconfig={kubeconfig}",
                "--bind-address=127.0.0.1",
                f"--secure-port={self.port}",
                "-v=4",
                *flags,
            ],
            cluster.directory / f"{name}.log",
            env={**os.environ, "PYTHONPATH": str(ROOT), "BERTH_SELF_CHECK": "true"},
        )

    def __enter__(self) -> Self:
        try:
            self._process.wait_ready(self.ready, _START)
        except BaseException:
            self._process.kill()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            error.add_note(self._process.tail())
        self._process.stop(grace=30.0)

    @property
    def log(self) -> str:
        """What it has written."""
        return self._process.log.read_text(errors="replace")

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.running

    def ready(self) -> bool:
        """Whether /readyz answers 200."""
        try:
            return self.get("/readyz")[0] == 200
        except OSError:
            return False

    def get(self, path: str, *, token: str = "") -> tuple[int, str]:
        """Status and text of an endpoint, asked for with a bearer token or anonymously."""
        return get(self.port, path, token)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        os.kill(self._process.pid, number)

    def stop(self) -> int:
        """SIGTERM; the exit code."""
        return self._process.stop(grace=30.0)

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()

    def wait(self) -> int:
        """The exit code, once it has ended of itself."""
        return self._process.wait(30.0)


def get(port: int | str, path: str, token: str = "", certificate: Sequence[Path] = ()) -> tuple[int, str]:
    """Status and text of an HTTPS endpoint on loopback, whatever its certificate; ours is a file and its key's."""
    context = ssl._create_unverified_context()
    if certificate:
        context.load_cert_chain(*certificate)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(f"https://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, context=context, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()


def pod(name: str, namespace: str, *, scheduler: str = "berth", cpu: str = "100m", **spec: Any) -> dict[str, Any]:
    """A pod that requests CPU."""
    container = {"name": "app", "image": "registry.example.com/app:v1", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name.rpartition("-")[0] or name}},
        "spec": {"schedulerName": scheduler, "containers": [container], **spec},
    }


def placements(cluster: ControlPlane, namespace: str) -> dict[str, str]:
    """The node of each pod, "" for those that have none."""
    pods = cluster.api.list(f"/api/v1/namespaces/{namespace}/pods")
    return {one["metadata"]["name"]: one["spec"].get("nodeName", "") for one in pods}


def overcommitted(cluster: ControlPlane) -> dict[str, int]:
    """Nodes that have more CPU requested (milli-CPU) than they have, or more pods, with the surplus."""
    free: dict[str, int] = {}
    room: dict[str, int] = {}
    for node in cluster.api.list("/api/v1/nodes"):
        free[node["metadata"]["name"]] = milli(node["status"]["allocatable"]["cpu"])
        room[node["metadata"]["name"]] = int(node["status"]["allocatable"]["pods"])
    for one in cluster.api.list("/api/v1/pods", fieldSelector="status.phase!=Succeeded,status.phase!=Failed"):
        node = one["spec"].get("nodeName", "")
        if node in free:
            room[node] -= 1
            for container in one["spec"]["containers"]:
                free[node] -= milli(container["resources"].get("requests", {}).get("cpu", "0"))
    return {name: -free[name] for name in free if free[name] < 0 or room[name] < 0}


def milli(quantity: str) -> int:
    """Milli-CPU of a quantity in the forms that these tests use."""
    return int(quantity.removesuffix("m")) if quantity.endswith("m") else int(quantity) * 1000


def events(cluster: ControlPlane, namespace: str, name: str = "") -> list[dict[str, Any]]:
    """The events about an object, or all of a namespace, oldest first.

    In the namespace default there are also the API server's own, some of which are about nothing that has a name.
    """
    found = cluster.api.list(f"/apis/events.k8s.io/v1/namespaces/{namespace}/events")
    found = [event for event in found if name in ("", event.get("regarding", {}).get("name"))]
    return sorted(found, key=lambda event: event["eventTime"] or "")


def families(metrics: str) -> dict[str, str]:
    """The type of each metric in a text of /metrics."""
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", metrics, re.MULTILINE))


def dumps(objects: list[dict[str, Any]]) -> str:
    """Objects as one document for kubectl."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
