"""Berth and kube-scheduler beside each other, each with pods and a node of its own behind a proxy that can fail it."""

from __future__ import annotations

import itertools
import re
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from e2e import berth
from e2e.berth import Berth
from e2e.controlplane import ControlPlane, Options, wait_until
from e2e.faults import FaultyApiServer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from e2e.faults import Fault, Refusal

URGENT, PATIENT = "urgent", "patient"
"""Classes of priority, one of which preempts nobody."""
LOCAL, MADE = "local", "made"
"""Classes of volumes: those that are there, and those that are made by DRIVER, which a stand-in must play."""
DRIVER = "disk.example.com"
OURS, THEIRS = "ours", "theirs"
SCHEDULERS = {OURS: "berth", THEIRS: "default-scheduler"}
_numbers = itertools.count(1)
_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TOLD = ("type", "reason", "action", "note")


@contextmanager
def control_plane() -> Iterator[ControlPlane]:
    """A control plane with the volume controller, and the classes that both are tried with."""
    with ControlPlane(Options(kube_controller_manager=True)) as running:
        berth.grant(running)
        kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        running.api.create({**kind, "metadata": {"name": URGENT}, "value": 1000})
        patience = {"value": 10, "preemptionPolicy": "Never"}
        running.api.create({**kind, "metadata": {"name": PATIENT}, **patience})
        for name, provisioner in ((LOCAL, "kubernetes.io/no-provisioner"), (MADE, DRIVER)):
            kind = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass"}
            binding = {"provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"}
            running.api.create({**kind, "metadata": {"name": name}, **binding})
        yield running


@contextmanager
def behind_proxy(cluster: ControlPlane, name: str, profile: str = "") -> Iterator[tuple[FaultyApiServer, int]]:
    """One of the two, behind a proxy, and with that scheduler name; gives the proxy and the port it serves at."""
    if name == OURS:
        kubeconfig = cluster.kubeconfig_for_service_account(berth.NAMESPACE, berth.ACCOUNT)
    else:
        kubeconfig = cluster.kubeconfig("system:kube-scheduler")
    profiles = [{"schedulerName": profile or SCHEDULERS[name]}]
    files = (cluster.directory / "server.crt", cluster.directory / "server.key")
    with FaultyApiServer(kubeconfig, *files) as proxy, ExitStack() as stack:
        if name == OURS:
            config = berth.configuration(profiles=profiles)
            running = Berth(cluster, name="berth-behind-proxy", config=config, kubeconfig=proxy.kubeconfig)
            yield proxy, stack.enter_context(running).port
            return
        connection = {"kubeconfig": str(proxy.kubeconfig), "qps": 5000, "burst": 5000}
        process = cluster.start_kube_scheduler({"clientConnection": connection, "profiles": profiles})
        stack.callback(cluster.stop_component, "kube-scheduler")
        flag = "--secure-port="
        yield proxy, next(int(part.removeprefix(flag)) for part in process.command if part.startswith(flag))


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Where one of them plays: a namespace, and a node that alone has the resource that its pods ask for."""

    cluster: ControlPlane
    proxy: FaultyApiServer
    scheduler: str
    namespace: str
    node: str

    @property
    def resource(self) -> str:
        """An extended resource that no other stage knows."""
        return f"example.com/{self.namespace}"

    def pod(self, name: str, *, units: str = "1", **spec: Any) -> dict[str, Any]:
        """A pod that asks for some of the node's resource; it goes at once when it is deleted."""
        amount = {self.resource: units}
        container = {"name": "app", "image": "registry.example.com/app:v1"} | {
            "resources": {"requests": amount, "limits": amount}
        }
        made = berth.pod(name, self.namespace, scheduler=self.scheduler, containers=[container], **spec)
        made["spec"].update({"terminationGracePeriodSeconds": 0, "automountServiceAccountToken": False})
        return made

    def create(self, body: dict[str, Any]) -> dict[str, Any]:
        """Create an object."""
        return self.cluster.api.create(body)

    def fail(self, *patterns: str, outcome: Refusal | str, times: int = 1) -> Fault:
        """Let the scheduler's requests fail that match; NAMESPACE in a pattern is the stage's."""
        named = (pattern.replace("NAMESPACE", self.namespace) for pattern in patterns)
        return self.proxy.fail(*named, outcome=outcome, times=times)

    def read(self, name: str) -> dict[str, Any]:
        """A pod as it is."""
        return self.cluster.api.get(f"/api/v1/namespaces/{self.namespace}/pods/{name}")

    def delete(self, name: str) -> None:
        """Delete a pod."""
        self.cluster.api.delete(f"/api/v1/namespaces/{self.namespace}/pods/{name}", grace=0)

    def clear(self) -> None:
        """Take away the pods and the node."""
        query = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
        self.cluster.api.request("DELETE", f"/api/v1/namespaces/{self.namespace}/pods", query)
        self.cluster.api.delete(f"/api/v1/nodes/{self.node}")

    def wait_event(self, name: str, reason: str) -> None:
        """Wait for an event about a pod."""
        wait_until(
            f"{self.scheduler}: {reason} of {name}", lambda: reason in [event["reason"] for event in self.events(name)]
        )

    def events(self, name: str) -> list[dict[str, str]]:
        """What was told of a pod, without names and times.

        Repetitions are left out. Whether they are a series or events of their own depends on what the scheduler had
        heard of the pod by then.
        """
        told: list[dict[str, str]] = []
        for event in berth.events(self.cluster, self.namespace, name):
            shown = {key: self.plain(event.get(key, "")) for key in _TOLD}
            if shown not in told:
                told.append(shown)
        return told

    def history(self, *names: str) -> list[dict[str, Any]]:
        """The states that these pods went through, one after the other, as far as a scheduler has a say in them."""
        path = f"/api/v1/namespaces/{self.namespace}/pods"
        now = {one["metadata"]["name"]: one["metadata"]["resourceVersion"] for one in self.cluster.api.list(path)}
        left = {name: now.get(name, "deleted") for name in names}
        start = self.cluster.api.get(f"/api/v1/namespaces/{self.namespace}")["metadata"]["resourceVersion"]
        states: list[dict[str, Any]] = []
        for change in self.cluster.api.watch(path, seconds=5, resourceVersion=start):
            meta = change["object"]["metadata"]
            name, gone = meta["name"], change["type"] == "DELETED"
            if name in names:
                state = {"pod": name, "deleted": gone, **self._state(change["object"])}
                if state not in states:
                    states.append(state)
                if left.get(name) in (meta["resourceVersion"], "deleted" if gone else ""):
                    del left[name]
                if not left:
                    break
        return states

    def plain(self, text: str) -> str:
        """Without what differs between stages."""
        port = f"127.0.0.1:{self.proxy.port}"
        for own, common in ((self.node, "NODE"), (self.namespace, "NAMESPACE"), (port, "SERVER")):
            text = text.replace(own, common)
        text = _UID.sub("UID", text).replace("(put ", "(patch ")  # kube-scheduler writes volumes and claims whole
        return text.replace(f"{self.scheduler}:", "SCHEDULER:")

    def _state(self, pod: dict[str, Any]) -> dict[str, Any]:
        status = pod["status"]
        conditions = [
            {key: self.plain(str(value)) for key, value in one.items() if not key.startswith("last")}
            for one in status.get("conditions", ())
        ]
        return {
            "node": self.plain(pod["spec"].get("nodeName", "")),
            "nominated": self.plain(status.get("nominatedNodeName", "")),
            "conditions": conditions,
        }


@contextmanager
def staged(
    cluster: ControlPlane, proxies: Mapping[str, FaultyApiServer], cases: Iterable[str]
) -> Iterator[dict[str, dict[str, Stage]]]:
    """For each case a namespace and a node for each of the two, which are gone after it."""
    made: dict[str, dict[str, Stage]] = {}
    for case in cases:
        number = next(_numbers)
        for name, proxy in proxies.items():
            space = cluster.create_namespace(f"{name}-{number}")
            (node,) = cluster.add_nodes(1, prefix=f"node-{name}-{number}", resources={f"example.com/{space}": "2"})
            stage = Stage(cluster=cluster, proxy=proxy, scheduler=SCHEDULERS[name], namespace=space, node=node)
            made.setdefault(case, {})[name] = stage
    yield made
    for stages in made.values():
        for stage in stages.values():
            stage.clear()
