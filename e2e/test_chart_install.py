"""The Helm chart and the examples on the real API server."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest
import yaml

from e2e.chart import CHART, ROOT, VALUES, Helm, configuration
from e2e.tools import binary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from e2e.controlplane import ControlPlane

EXAMPLES = ROOT / "deploy" / "examples"

each_values_file = pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())


@pytest.fixture(scope="module", name="helm")
def real_helm(helm: str, tmp_path_factory: pytest.TempPathFactory) -> Helm:
    return Helm(helm, tmp_path_factory.mktemp("helm"))


@pytest.mark.timeout(900)  # kube-scheduler may have to be built first
@each_values_file
def test_kube_scheduler_reads_the_configuration(
    helm: Helm, values: list[str], control_plane: ControlPlane, tmp_path: Path
) -> None:
    config = configuration(helm.render(*values))
    config.setdefault("clientConnection", {})["kubeconfig"] = str(control_plane.kubeconfig())
    given, written = tmp_path / "given.yaml", tmp_path / "written.yaml"
    given.write_text(yaml.safe_dump(config))
    subprocess.run(
        [binary("kube-scheduler"), "--config", given, "--write-config-to", written],
        check=True,
        capture_output=True,
    )
    names = [profile["schedulerName"] for profile in yaml.safe_load(written.read_text())["profiles"]]
    assert names == [profile["schedulerName"] for profile in config["profiles"]]


@pytest.fixture(scope="module")
def monitoring_kinds(control_plane: ControlPlane) -> Iterator[None]:
    """The kinds of the Prometheus operator, as far as the API server has to know them."""
    names = [("ServiceMonitor", "servicemonitors"), ("PrometheusRule", "prometheusrules")]
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    definitions = [
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.monitoring.coreos.com"},
            "spec": {
                "group": "monitoring.coreos.com",
                "scope": "Namespaced",
                "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
            },
        }
        for kind, plural in names
    ]
    text = yaml.safe_dump_all(definitions)
    control_plane.kubectl("apply", "-f", "-", stdin=text)
    control_plane.kubectl("wait", "--for=condition=Established", "--timeout=30s", "-f", "-", stdin=text)
    yield
    control_plane.kubectl("delete", "-f", "-", stdin=text)


@pytest.mark.usefixtures("monitoring_kinds")
@each_values_file
def test_the_api_server_accepts_every_object(helm: Helm, values: list[str], control_plane: ControlPlane) -> None:
    objects = helm.render(*values)
    told = control_plane.kubectl(
        "apply", "--dry-run=server", "--validate=strict", "-f", "-", stdin=yaml.safe_dump_all(objects)
    )
    assert told.count("(server dry run)") == len(objects), told


def test_the_api_server_accepts_the_plain_manifests_and_the_examples(control_plane: ControlPlane) -> None:
    files = [ROOT / "deploy" / "berth.yaml", *EXAMPLES.glob("*.yaml"), *EXAMPLES.glob("kubectl/*.yaml")]
    for file in files:
        documents = list(yaml.safe_load_all(file.read_text()))
        told = control_plane.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", str(file))
        assert told.count("(server dry run)") == len(documents), file


@pytest.fixture(scope="module")
def release(helm: Helm, control_plane: ControlPlane) -> Iterator[str]:
    """The chart with default values as ``berth``, in a namespace that enforces the strictest pod security."""
    namespace = control_plane.create_namespace("chart", {"pod-security.kubernetes.io/enforce": "restricted"})
    target = ["--namespace", namespace, "--kubeconfig", str(control_plane.kubeconfig())]

    def rights() -> str:
        kinds = "clusterroles,clusterrolebindings,roles,rolebindings"
        return control_plane.kubectl("get", kinds, "-A", "-o=name", "-l=app.kubernetes.io/instance=berth")

    before = rights()  # those of the plain manifests, if a test has applied them
    told = helm("install", "berth", str(CHART), *target)
    assert "schedulerName: berth" in told
    assert rights() != before
    yield namespace
    helm("uninstall", "berth", *target)
    assert rights() == before


def test_an_installed_release_can_be_upgraded(helm: Helm, control_plane: ControlPlane, release: str) -> None:
    target = ["--namespace", release, "--kubeconfig", str(control_plane.kubeconfig())]

    def generation() -> int:
        deployment = control_plane.api.get(f"/apis/apps/v1/namespaces/{release}/deployments/berth")
        found: int = deployment["metadata"]["generation"]
        return found

    before = generation()
    helm("upgrade", "berth", str(CHART), *target)
    assert generation() == before
    helm("upgrade", "berth", str(CHART), *target, "--set", "config.parallelism=8")
    assert generation() == before + 1
    helm("rollback", "berth", "1", *target)


def test_its_pods_keep_to_the_restricted_pod_security_standard(control_plane: ControlPlane, release: str) -> None:
    deployment = control_plane.api.get(f"/apis/apps/v1/namespaces/{release}/deployments/berth")
    template = deployment["spec"]["template"]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "berth-0"}, "spec": template["spec"]}
    told = control_plane.kubectl("create", "--dry-run=server", "--namespace", release, "-f", "-", stdin=json.dumps(pod))
    assert told == "pod/berth-0 created (server dry run)\n"
    security = template["spec"]["containers"][0]["securityContext"]
    assert security["readOnlyRootFilesystem"] is True


PROFILES = ("berth.dev", "schedulerprofiles")
EVENTS, LEASES = ("events.k8s.io", "events"), ("coordination.k8s.io", "leases")


@pytest.mark.parametrize(
    ("verb", "resource", "namespace", "name", "expected"),
    [
        ("create", ("", "pods/binding"), "default", "", True),
        ("patch", ("", "pods/status"), "default", "", True),
        ("watch", ("", "nodes"), "", "", True),
        ("list", ("storage.k8s.io", "csistoragecapacities"), "", "", True),
        ("create", EVENTS, "default", "", True),
        ("create", ("authentication.k8s.io", "tokenreviews"), "", "", True),
        ("create", LEASES, "chart", "", True),
        ("update", LEASES, "chart", "berth", True),
        ("get", ("", "configmaps"), "kube-system", "extension-apiserver-authentication", True),
        ("update", LEASES, "chart", "other", False),
        ("update", LEASES, "kube-system", "kube-scheduler", False),
        ("create", ("", "pods"), "default", "", False),
        ("update", ("", "pods"), "default", "", False),
        ("delete", ("", "pods"), "default", "", True),  # preemption
        ("patch", ("", "nodes"), "", "", False),
        ("watch", PROFILES, "", "", True),
        ("patch", (PROFILES[0], f"{PROFILES[1]}/status"), "", "any", True),
        ("patch", PROFILES, "", "any", False),
        ("create", PROFILES, "", "", False),
        ("get", ("", "secrets"), "chart", "", False),
        ("list", ("", "configmaps"), "kube-system", "", False),
    ],
)
def test_rbac_lets_the_service_account_do_its_work_and_no_more(
    control_plane: ControlPlane,
    release: str,
    verb: str,
    resource: tuple[str, str],
    namespace: str,
    name: str,
    expected: bool,
) -> None:
    plural, _, subresource = resource[1].partition("/")
    attributes = {
        "verb": verb,
        "group": resource[0],
        "resource": plural,
        "subresource": subresource,
        "namespace": namespace,
        "name": name,
    }
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{release}", "system:authenticated"]
    account = f"system:serviceaccount:{release}:berth"
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": account, "groups": groups, "resourceAttributes": attributes},
    }
    answer = control_plane.api.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    assert answer["status"].get("allowed", False) is expected
