"""`berth shadow` beside the real kube-scheduler: every decision that it takes is one that Berth would have taken."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from e2e import berth
from e2e.berth import ROOT
from e2e.controlplane import ControlPlane, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

PODS = 1000
READER = "shadow-reader"
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


@pytest.fixture(scope="module")
def shadowed() -> Iterator[ControlPlane]:
    """A control plane of its own, where all pods are to be seen: 160 nodes, of which kube-scheduler scores 100."""
    with ControlPlane() as running:
        running.add_nodes(120, zones=3)
        running.add_nodes(30, prefix="big", zones=3, cpu="32", memory="64Gi", labels={"disk": "ssd"})
        taint = {"key": "dedicated", "value": "batch", "effect": "NoSchedule"}
        running.add_nodes(10, prefix="batch", zones=2, taints=[taint])
        _may_read(running)
        connection = {"kubeconfig": str(running.kubeconfig("system:kube-scheduler")), "qps": 5000, "burst": 5000}
        running.start_kube_scheduler({"clientConnection": connection})
        yield running


@pytest.fixture
def cluster(shadowed: ControlPlane) -> ControlPlane:
    """The same by a shorter name."""
    return shadowed


def _may_read(cluster: ControlPlane) -> None:
    """The rights that the documentation asks for, and no more."""
    group = "rbac.authorization.k8s.io"
    rules = [
        {"apiGroups": [""], "resources": [*_CORE], "verbs": ["list", "watch"]},
        {"apiGroups": ["apps"], "resources": ["replicasets", "statefulsets"], "verbs": ["list", "watch"]},
        {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": ["list", "watch"]},
        {"apiGroups": ["storage.k8s.io"], "resources": [*_STORAGE], "verbs": ["list", "watch"]},
        {"apiGroups": ["resource.k8s.io"], "resources": ["deviceclasses"], "verbs": ["list", "watch"]},
    ]
    metadata = {"name": READER}
    cluster.api.apply({"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules})
    cluster.api.apply(
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": READER},
            "subjects": [{"kind": "User", "name": READER, "apiGroup": group}],
        }
    )


_CORE = (
    "nodes",
    "pods",
    "namespaces",
    "services",
    "replicationcontrollers",
    "persistentvolumes",
    "persistentvolumeclaims",
)
_STORAGE = ("storageclasses", "csidrivers", "csinodes", "csistoragecapacities", "volumeattachments")


def _pod(number: int, namespace: str) -> dict[str, Any]:
    """One of eight kinds of pods, with every constraint of the default profile that needs no volumes."""
    kind = number % 8
    app = f"app-{kind}"
    selector = {"matchLabels": {"app": app}}
    spec: dict[str, Any] = {}
    if kind == 1:
        spread = {"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
        spec["topologySpreadConstraints"] = [spread]
    elif kind == 2:
        spread = {"topologyKey": HOST, "maxSkew": 2, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": selector}
        spec["topologySpreadConstraints"] = [spread]
    elif kind == 3:
        term = {"topologyKey": HOST, "labelSelector": selector}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    elif kind == 4:
        term = {"weight": 50, "podAffinityTerm": {"topologyKey": ZONE, "labelSelector": selector}}
        spec["affinity"] = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    elif kind == 5:
        spec["nodeSelector"] = {"disk": "ssd"}
    elif kind == 6:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
        expression = {"key": "disk", "operator": "Exists"}
        preference = {"weight": 10, "preference": {"matchExpressions": [expression]}}
        spec["affinity"] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preference]}}
    body = berth.pod(f"{app}-{number}", namespace, scheduler="default-scheduler", cpu=f"{100 + 50 * kind}m", **spec)
    body["metadata"]["labels"] = {"app": app}
    return body


def _shadow(cluster: ControlPlane, *flags: str) -> subprocess.Popen[str]:
    kubeconfig = cluster.kubeconfig(READER)
    command = [sys.executable, "-m", "scheduler", "shadow", f"--kubeconfig={kubeconfig}", *flags]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=cluster.directory
    )


def _observing(process: subprocess.Popen[str]) -> None:
    """Wait until it has read the cluster."""
    assert process.stderr is not None
    for line in process.stderr:
        if "Observing default-scheduler" in line:
            return
    raise AssertionError(f"berth shadow ended: {process.wait()}")


@pytest.mark.timeout(300)
def test_a_thousand_pods_of_kube_scheduler_are_all_accounted_for(cluster: ControlPlane) -> None:
    namespace = cluster.create_namespace("shadowed")
    process = _shadow(cluster, "-o", "jsonl", f"--decisions={PODS}", "--for=4m")
    try:
        _observing(process)
        cluster.api.create_all(_pod(number, namespace) for number in range(PODS))
        output, errors = process.communicate(timeout=240)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    *lines, last = output.splitlines()
    observations, report = [json.loads(line) for line in lines], json.loads(last)
    different = [line for line in observations if line["outcome"] == "Different"]
    assert not different, [(line["pod"], line["agreement"]) for line in different]
    assert report["observed"] == len(observations) >= PODS
    assert report["agreement"] == 1.0
    assert report.get("skipped", 0) == report.get("failed", 0) == 0
    # Most decisions agree as they are; where they don't, it is said what had to be assumed.
    assert all(line.get("detail") for line in observations if line["outcome"] != "Agreed")
    assert report["decisionTime"]["p50"] > 0
    placed = {line["pod"]: line["node"] for line in observations if line.get("node")}
    bound = {f"{namespace}/{name}": node for name, node in berth.placements(cluster, namespace).items() if node}
    assert placed.items() <= bound.items()


def test_another_configuration_is_told_apart_with_the_plugins_behind_it(cluster: ControlPlane) -> None:
    """kube-scheduler spreads by least allocated; compared with packing by most allocated, it does not agree."""
    namespace = cluster.create_namespace("packed")
    file = cluster.directory / "most-allocated.yaml"
    arguments = {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}}
    profile = {
        "schedulerName": "default-scheduler",
        "percentageOfNodesToScore": 100,
        "pluginConfig": [{"name": "NodeResourcesFit", "args": arguments}],
    }
    file.write_text(json.dumps(berth.configuration(profiles=[profile])))
    process = _shadow(cluster, "--config", str(file), "--decisions=20", "--for=1m", "--fail-below=90", "-o", "json")
    try:
        _observing(process)
        cluster.api.create_all(
            berth.pod(f"packed-{number}", namespace, scheduler="default-scheduler") for number in range(20)
        )
        output, errors = process.communicate(timeout=90)
    finally:
        process.kill()
    report = json.loads(output)
    assert report["outcomes"]["Different"] > 10, report
    assert "NodeResourcesFit" in report["behind"]
    assert process.returncode == 1
    assert "agree, less than 90 %" in errors


def test_ctrl_c_ends_it_with_the_report(cluster: ControlPlane) -> None:
    namespace = cluster.create_namespace("seen")
    process = _shadow(cluster)
    try:
        _observing(process)
        cluster.api.create(berth.pod("one", namespace, scheduler="default-scheduler"))
        wait_until("the pod is bound", lambda: berth.placements(cluster, namespace)["one"] != "")
        process.send_signal(signal.SIGINT)
        output, _errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0
    assert "decisions of default-scheduler agree" in output or "No decision of default-scheduler was seen" in output
