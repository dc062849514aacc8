"""`berth explain` with nothing but a user's kubeconfig and rights, through the real API server's port forward."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from e2e import tools
from e2e.berth import ROOT, Berth, configuration, placements, pod
from e2e.controlplane import wait_until
from e2e.forwarding import ForwardingNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from e2e.controlplane import ControlPlane

ELECTION = {
    "leaderElect": True,
    "resourceName": "berth",
    "leaseDuration": "4s",
    "renewDeadline": "3s",
    "retryPeriod": "500ms",
}
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/berth"
RBAC = "rbac.authorization.k8s.io"
pytestmark = pytest.mark.usefixtures("rights")


@pytest.fixture(scope="module")
def explained(control_plane: ControlPlane, rights: None, kubelet_stand_in: None) -> Iterator[Berth]:
    """Berth with leader election, and a pod that stands for it on a node that forwards ports."""
    with (
        ForwardingNode(control_plane, "forwards") as node,
        Berth(control_plane, name="explained", config=configuration(leaderElection=ELECTION)) as berth,
    ):
        node.stand_for("kube-system", "berth-explained-0", berth.port, hostname=socket.gethostname())
        wait_until("a leader", lambda: holder(control_plane))
        yield berth
        control_plane.api.delete("/api/v1/namespaces/kube-system/pods/berth-explained-0", grace=0)
        control_plane.api.delete(LEASE)


def holder(cluster: ControlPlane) -> str:
    leases = cluster.api.list(LEASE.rpartition("/")[0])
    return next((one["spec"]["holderIdentity"] for one in leases if one["metadata"]["name"] == "berth"), "")


def bind(cluster: ControlPlane, user: dict[str, str]) -> None:
    """Give a user what the chart gives to rbac.explain.subjects."""
    for kind, role in (("ClusterRoleBinding", "ClusterRole"), ("RoleBinding", "Role")):
        metadata = {"name": f"explains-{user['name']}"}
        if kind == "RoleBinding":
            metadata["namespace"] = "kube-system"
        reference = {"apiGroup": RBAC, "kind": role, "name": "kube-system:berth:explain"}
        cluster.api.apply(
            {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": metadata, "roleRef": reference, "subjects": [user]}
        )


def allow(cluster: ControlPlane, user: dict[str, str], rule: dict[str, Any], *, everywhere: bool = False) -> None:
    """Give a user one more rule."""
    name = f"{user['name']}-{abs(hash(json.dumps(rule))):x}"
    metadata = {"name": name} if everywhere else {"name": name, "namespace": "kube-system"}
    kind = "ClusterRole" if everywhere else "Role"
    version = f"{RBAC}/v1"
    cluster.api.apply({"apiVersion": version, "kind": kind, "metadata": metadata, "rules": [rule]})
    reference = {"apiGroup": RBAC, "kind": kind, "name": name}
    cluster.api.apply(
        {
            "apiVersion": version,
            "kind": f"{kind}Binding",
            "metadata": metadata,
            "roleRef": reference,
            "subjects": [user],
        }
    )


def person(name: str) -> dict[str, str]:
    return {"kind": "User", "apiGroup": RBAC, "name": name}


def run(kubeconfig: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scheduler", *arguments, f"--kubeconfig={kubeconfig}"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=60)


def test_a_user_with_a_client_certificate_is_told_why_a_pod_is_where_it_is(
    control_plane: ControlPlane, explained: Berth, emptied: str, nodes: list[str]
) -> None:
    control_plane.api.create(pod("web-1", emptied))
    wait_until("web-1 to be bound", lambda: placements(control_plane, emptied).get("web-1"))
    node = placements(control_plane, emptied)["web-1"]
    bind(control_plane, person("jane"))
    told = run(control_plane.kubeconfig("jane"), "explain", "pod", "web-1", "-n", emptied, "-o", "json")
    assert told.returncode == 0, told.stderr
    value = json.loads(told.stdout)
    assert (value["pod"]["node"], value["pod"]["state"], value["source"]) == (node, "Scheduled", "recorded")
    assert value["decision"]["summary"]["node"] == node
    assert value["compared"][0]["node"] == node
    told = run(control_plane.kubeconfig("jane"), "explain", "pod", "web-1", "-n", emptied)
    assert f"{emptied}/web-1" in told.stdout


def test_a_user_with_a_token_is_told_what_a_pod_waits_for(
    control_plane: ControlPlane, explained: Berth, emptied: str, nodes: list[str]
) -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot", "namespace": emptied}}
    control_plane.api.create(account)
    bind(control_plane, {"kind": "ServiceAccount", "name": "robot", "namespace": emptied})
    kubeconfig = control_plane.kubeconfig_for_service_account(emptied, "robot")
    control_plane.api.create(pod("big-1", emptied, cpu="900"))

    def waits() -> bool:
        told = run(kubeconfig, "pending", "-n", emptied)
        assert told.returncode == 0, told.stderr
        return "NodeResourcesFit" in told.stdout

    wait_until("big-1 to be turned down", waits)
    told = run(kubeconfig, "explain", "pod", "big-1", "-n", emptied)
    assert told.returncode == 0, told.stderr
    assert f"{emptied}/big-1 is pending" in told.stdout
    assert "Insufficient cpu" in told.stdout
    assert "would help" in told.stdout


def test_each_missing_right_is_named_until_there_is_none(
    control_plane: ControlPlane, explained: Berth, emptied: str
) -> None:
    user, kubeconfig = person("newcomer"), control_plane.kubeconfig("newcomer")

    def refused(*words: str) -> None:
        told = run(kubeconfig, "pending", "-A")
        assert told.returncode == 1
        assert all(word in told.stderr for word in ('User "newcomer"', *words)), told.stderr

    refused('resources: ["leases"]', 'resourceNames: ["berth"]')
    lease = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get"]}
    allow(control_plane, user, {**lease, "resourceNames": ["berth"]})
    allow(control_plane, user, {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]})
    refused('resources: ["pods"], verbs: [get, list]')
    allow(control_plane, user, {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]})
    refused('resources: ["pods/portforward"], verbs: [get, create]')
    allow(control_plane, user, {"apiGroups": [""], "resources": ["pods/portforward"], "verbs": ["get", "create"]})
    refused('nonResourceURLs: ["/explain/v1/*"], verbs: [get]')
    rule = {"nonResourceURLs": ["/explain/v1/*"], "verbs": ["get"]}
    allow(control_plane, user, rule, everywhere=True)
    # The scheduler keeps a refusal for ten seconds, as kube-scheduler does.
    wait_until("the right to be seen", lambda: run(kubeconfig, "pending", "-A").returncode == 0)


def test_a_pod_that_is_not_the_leader_is_sent_nothing(control_plane: ControlPlane, explained: Berth) -> None:
    bind(control_plane, person("jane"))
    name = "explain.berth.dev/serving-certificate"
    written = control_plane.api.get(LEASE)["metadata"]["annotations"][name]
    assert written.startswith("sha256:")
    notes = {name: f"sha256:{'0' * 64}"}
    control_plane.api.create(
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": "berth-elsewhere", "namespace": "kube-system", "annotations": notes},
            "spec": {"holderIdentity": holder(control_plane), "leaseDurationSeconds": 15},
        }
    )
    try:
        rule = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get"]}
        allow(control_plane, person("jane"), rule)
        told = run(control_plane.kubeconfig("jane"), "pending", "-A", "--lease-name=berth-elsewhere")
    finally:
        control_plane.api.delete(f"{LEASE}-elsewhere")
    assert told.returncode == 1
    assert "nothing was sent to it" in told.stderr


def test_the_same_as_a_kubectl_plugin(
    control_plane: ControlPlane, explained: Berth, emptied: str, tmp_path: Path, add_nodes: Callable[..., list[str]]
) -> None:
    add_nodes(1)
    plugin = tmp_path / "kubectl-berth"
    code = "import sys; from scheduler.cli.main import kubectl; sys.exit(kubectl())"
    plugin.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -c "{code}" "$@"\n')
    plugin.chmod(0o755)
    bind(control_plane, person("jane"))
    env = {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "KUBECONFIG": str(control_plane.kubeconfig("jane")),
    }

    command = [str(tools.binary("kubectl")), "berth", "pending", "-n", emptied]
    told = subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=60)
    assert (told.returncode, told.stdout) == (0, "No pods are waiting.\n"), told.stderr
    helped = subprocess.run([*command[:3], "--help"], capture_output=True, text=True, check=False, env=env, timeout=60)
    assert helped.stdout.startswith("usage: kubectl berth pending")
