"""Decisions in the annotations of pods on a real API server: only with the right to it, and without a loop."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from e2e.berth import ACCOUNT, NAMESPACE, Berth, pod
from e2e.controlplane import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from e2e.controlplane import ControlPlane

KEY = "kube-scheduler-simulator.sigs.k8s.io/"
RBAC = "rbac.authorization.k8s.io"


@pytest.fixture(scope="module")
def annotating(control_plane: ControlPlane, rights: None) -> Iterator[Berth]:
    with Berth(control_plane, "--annotate-decisions", name="annotating") as running:
        yield running


@pytest.fixture
def may_patch(control_plane: ControlPlane, annotating: Berth, namespace: str) -> None:
    """The right that the chart gives with annotateDecisions.enabled."""
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["patch"]}
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}
    metadata = {"name": "annotates", "namespace": namespace}
    version, role = f"{RBAC}/v1", {"apiGroup": RBAC, "kind": "Role", "name": "annotates"}
    control_plane.api.apply({"apiVersion": version, "kind": "Role", "metadata": metadata, "rules": [rule]})
    control_plane.api.apply(
        {"apiVersion": version, "kind": "RoleBinding", "metadata": metadata, "roleRef": role, "subjects": [subject]}
    )


def annotations(cluster: ControlPlane, namespace: str, name: str) -> dict[str, Any]:
    metadata = cluster.api.get(f"/api/v1/namespaces/{namespace}/pods/{name}")["metadata"]
    found = metadata.get("annotations", {}).items()
    return {key.removeprefix(KEY): text for key, text in found if key.startswith(KEY)}


def test_without_the_right_pods_are_bound_and_the_log_says_what_is_missing(
    control_plane: ControlPlane, annotating: Berth, add_nodes: Callable[..., list[str]], emptied: str
) -> None:
    (node,) = add_nodes(1, cpu="4")
    control_plane.api.create(pod("a", emptied))
    wait_until("the complaint", lambda: "annotateDecisions.enabled" in annotating.log)
    assert control_plane.api.get(f"/api/v1/namespaces/{emptied}/pods/a")["spec"]["nodeName"] == node
    assert annotations(control_plane, emptied, "a") == {}


@pytest.mark.usefixtures("may_patch")
def test_bound_and_waiting_pods_are_annotated_once(
    control_plane: ControlPlane, annotating: Berth, add_nodes: Callable[..., list[str]], emptied: str
) -> None:
    (node,) = add_nodes(1, cpu="4")
    control_plane.api.create(pod("large", emptied, cpu="9"))
    control_plane.api.create(pod("small", emptied))
    wait_until(
        "both annotations",
        lambda: all(annotations(control_plane, emptied, name) for name in ("small", "large")),
    )
    small, large = (annotations(control_plane, emptied, name) for name in ("small", "large"))
    assert (small["selected-node"], large["selected-node"]) == (node, "")
    assert json.loads(small["filter-result"])[node]["NodeResourcesFit"] == "passed"
    assert json.loads(large["filter-result"])[node]["NodeResourcesFit"] == "Insufficient cpu"
    # Another pod is scheduled long after the annotation of the large one was heard of, and that one is not tried again.
    control_plane.api.create(pod("later", emptied))
    wait_until("the annotation of the later pod", lambda: annotations(control_plane, emptied, "later"))
    large = annotations(control_plane, emptied, "large")
    assert len(json.loads(large["result-history"])) == 1
