"""The control plane that the other tests stand on: it is a real one, and it ends when it should."""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from e2e.controlplane import ApiClient, ApiError, ControlPlane, resident, wait_until
from e2e.controlplane.folders import OwnedFolder


def pod(name: str, namespace: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [{"name": "app", "image": "registry.example.com/app:v1"}], **spec},
    }


class TestObjects:
    def test_a_node_is_ready_and_has_no_taint(self, control_plane: ControlPlane, nodes: list[str]):
        node = control_plane.api.get(f"/api/v1/nodes/{nodes[0]}")
        conditions = {one["type"]: one["status"] for one in node["status"]["conditions"]}
        assert conditions == {"Ready": "True"}
        assert "taints" not in node["spec"]
        assert node["status"]["allocatable"]["cpu"] == "8"

    def test_a_pod_passes_admission_and_is_defaulted(self, control_plane: ControlPlane, emptied: str):
        created = control_plane.api.create(pod("a", emptied))
        assert created["spec"]["serviceAccountName"] == "default"
        assert created["spec"]["schedulerName"] == "default-scheduler"
        assert {one["key"] for one in created["spec"]["tolerations"]} == {
            "node.kubernetes.io/not-ready",
            "node.kubernetes.io/unreachable",
        }

    def test_a_pod_without_a_scheduler_stays_pending(self, control_plane: ControlPlane, emptied: str):
        control_plane.api.create(pod("a", emptied))
        shown = control_plane.kubectl("get", "pods", "-n", emptied, "--no-headers")
        assert shown.split()[:3] == ["a", "0/1", "Pending"]

    def test_kubectl_creates_and_lists(self, control_plane: ControlPlane, emptied: str):
        control_plane.kubectl("apply", "-f", "-", stdin=json.dumps(pod("b", emptied)))
        listed = control_plane.api.list(f"/api/v1/namespaces/{emptied}/pods")
        assert [one["metadata"]["name"] for one in listed] == ["b"]

    def test_kubectl_tells_why_it_failed(self, control_plane: ControlPlane):
        with pytest.raises(subprocess.CalledProcessError) as failed:
            control_plane.kubectl("get", "pod", "missing")
        assert 'pods "missing" not found' in failed.value.stderr

    def test_a_list_is_read_page_by_page(self, control_plane: ControlPlane, emptied: str):
        control_plane.api.create_all(pod(f"p-{number}", emptied) for number in range(7))
        listed = control_plane.api.list(f"/api/v1/namespaces/{emptied}/pods", page=3)
        assert sorted(one["metadata"]["name"] for one in listed) == [f"p-{number}" for number in range(7)]


class TestAuthorization:
    def test_an_anonymous_user_is_refused(self, control_plane: ControlPlane):
        with pytest.raises(ApiError) as refused:
            control_plane.client().get("/api/v1/pods")
        assert (refused.value.code, refused.value.reason) == (403, "Forbidden")

    def test_an_unknown_token_is_refused(self, control_plane: ControlPlane):
        with pytest.raises(ApiError) as refused:
            control_plane.client(token="nonsense").get("/api/v1/pods")
        assert refused.value.code == 401

    def test_a_user_without_a_role_may_nothing(self, control_plane: ControlPlane):
        control_plane.kubeconfig("nobody")
        with pytest.raises(subprocess.CalledProcessError) as refused:
            control_plane.kubectl("get", "nodes", user="nobody")
        assert 'User "nobody" cannot list resource "nodes"' in refused.value.stderr

    def test_a_service_account_may_what_its_role_says(self, control_plane: ControlPlane, emptied: str):
        account = {"kind": "ServiceAccount", "name": "reader", "namespace": emptied}
        metadata = {"name": "reader", "namespace": emptied}
        group = "rbac.authorization.k8s.io"
        control_plane.api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
        control_plane.api.create(
            {
                "apiVersion": f"{group}/v1",
                "kind": "Role",
                "metadata": metadata,
                "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}],
            }
        )
        control_plane.api.create(
            {
                "apiVersion": f"{group}/v1",
                "kind": "RoleBinding",
                "metadata": metadata,
                "roleRef": {"apiGroup": group, "kind": "Role", "name": "reader"},
                "subjects": [account],
            }
        )
        client = control_plane.client(token=control_plane.service_account_token(emptied, "reader"))
        assert client.list(f"/api/v1/namespaces/{emptied}/pods") == []
        with pytest.raises(ApiError) as refused:
            client.create(pod("a", emptied))
        assert refused.value.code == 403

    @pytest.mark.parametrize("token_file", [False, True])
    def test_a_kubeconfig_of_a_service_account_authenticates_as_it(
        self, control_plane: ControlPlane, namespace: str, token_file: bool
    ):
        path = control_plane.kubeconfig_for_service_account(namespace, "default", token_file=token_file)
        told = control_plane.kubectl("auth", "whoami", "-o", "json", f"--kubeconfig={path}")
        user = json.loads(told)["status"]["userInfo"]["username"]
        assert user == f"system:serviceaccount:{namespace}:default"

    def test_the_server_is_verified(self, control_plane: ControlPlane):
        with pytest.raises(ssl.SSLCertVerificationError):
            ApiClient(control_plane.server, ssl.create_default_context()).get("/version")


class TestHollowKubelet:
    def test_a_bound_pod_runs_and_a_deleted_one_goes(
        self, control_plane: ControlPlane, emptied: str, nodes: list[str], hollow_kubelet: object
    ):
        path = f"/api/v1/namespaces/{emptied}/pods/a"
        control_plane.api.create(pod("a", emptied, nodeName=nodes[0]))
        wait_until("the pod runs", lambda: control_plane.api.get(path)["status"]["phase"] == "Running")
        shown = control_plane.kubectl("get", "pods", "-n", emptied, "--no-headers")
        assert shown.split()[:3] == ["a", "1/1", "Running"]
        control_plane.api.delete(path)
        wait_until("the pod is gone", lambda: not control_plane.api.list(f"/api/v1/namespaces/{emptied}/pods"))

    def test_a_pod_that_is_not_bound_is_left_alone(
        self, control_plane: ControlPlane, emptied: str, nodes: list[str], hollow_kubelet: object
    ):
        control_plane.api.create(pod("waiting", emptied))
        control_plane.api.create(pod("bound", emptied, nodeName=nodes[0]))
        path = f"/api/v1/namespaces/{emptied}/pods"
        wait_until("the other runs", lambda: control_plane.api.get(f"{path}/bound")["status"]["phase"] == "Running")
        assert control_plane.api.get(f"{path}/waiting")["status"] == {
            "phase": "Pending",
            "qosClass": "BestEffort",
        }


class TestResident:
    @pytest.fixture
    def directory(self, control_plane: ControlPlane, tmp_path: Path):
        yield tmp_path
        resident.down(tmp_path)

    def test_it_comes_up_with_nodes_and_ends_without_a_trace(self, directory: Path):
        state = resident.up(directory, 4, 2, frozenset())
        assert resident.running(directory) == state
        assert sorted(state.processes) == ["etcd", "kube-apiserver"]
        assert resident.down(directory)
        assert resident.running(directory) is None
        assert not any(_lives(pid) for pid in state.processes.values())

    def test_its_processes_do_not_outlive_it(self, directory: Path):
        state = resident.up(directory, 1, 1, frozenset())
        os.kill(state.pid, signal.SIGKILL)
        wait_until("all have ended", lambda: not any(_lives(pid) for pid in state.processes.values()))
        assert resident.running(directory) is None


class TestTemporaryFolder:
    def test_one_whose_owner_was_killed_goes_with_the_next(self):
        program = "from e2e.controlplane.folders import OwnedFolder; import os; "
        program += "print(OwnedFolder().path, flush=True); os.kill(os.getpid(), 9)"
        killed = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, cwd=resident.REPOSITORY
        )
        left = Path(killed.stdout.strip())
        assert left.is_dir()
        OwnedFolder().remove()
        assert not left.exists()

    def test_one_that_is_in_use_stays(self):
        used = OwnedFolder()
        OwnedFolder().remove()
        assert used.path.is_dir()
        used.remove()
        assert not used.path.exists()


def _lives(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_api_server_comes_back_with_its_data_after_a_crash(control_plane: ControlPlane, nodes: list[str]):
    control_plane.restart_apiserver()
    assert control_plane.api.get(f"/api/v1/nodes/{nodes[0]}")["metadata"]["name"] == nodes[0]
