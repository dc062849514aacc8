"""`berth simulate --from-cluster` on the real API server, with the rights of somebody who may read a few kinds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from e2e.berth import pod
from e2e.controlplane import wait_until
from e2e.test_explain import allow, person, run
from scheduler.app.live import READ

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from e2e.controlplane import ControlPlane

LIST = {"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["list"]}
BUDGETS = {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": ["list"]}


def fill(cluster: ControlPlane, namespace: str, first: str, second: str) -> None:
    """Two full nodes: a pod that a budget protects on one, two pods on the other; and one that wants either."""
    version = "scheduling.k8s.io/v1"
    name = f"{namespace}-high"
    cluster.api.apply({"apiVersion": version, "kind": "PriorityClass", "metadata": {"name": name}, "value": 1000})
    cluster.api.create(
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "guards", "namespace": namespace},
            "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "guarded"}}},
        }
    )
    cluster.api.create(pod("guarded-1", namespace, cpu="2", nodeName=first))
    for number in (1, 2):
        cluster.api.create(pod(f"cheap-{number}", namespace, cpu="1", nodeName=second))
    cluster.api.create(pod("urgent-1", namespace, cpu="2", priorityClassName=name))


def simulated(kubeconfig: Path, namespace: str) -> tuple[dict[str, Any], str]:
    """What becomes of the pod that waits, and what is said of what could not be read."""
    told = run(kubeconfig, "simulate", "--from-cluster", "-o", "json")
    assert told.returncode == 0, told.stderr
    decisions = {one["pod"]: one for one in json.loads(told.stdout)["decisions"]}
    return decisions[f"{namespace}/urgent-1"], told.stderr


def test_what_may_not_be_read_is_left_out_and_said(
    control_plane: ControlPlane, add_nodes: Callable[..., list[str]], emptied: str
) -> None:
    first, second = add_nodes(2, cpu="2")
    fill(control_plane, emptied, first, second)
    user, kubeconfig = person("planner"), control_plane.kubeconfig("planner")
    pods = f"/api/v1/namespaces/{emptied}/pods"
    before = {one["metadata"]["name"]: one["metadata"]["resourceVersion"] for one in control_plane.api.list(pods)}

    told = run(kubeconfig, "simulate", "--from-cluster")
    assert (told.returncode, told.stdout) == (2, "")
    for plural in ("nodes", "pods"):
        assert f"you have no right to list {plural} in all namespaces, which a simulation needs" in told.stderr
        assert f'apiGroups: [""], resources: ["{plural}"], verbs: ["list"]' in told.stderr

    allow(control_plane, user, LIST, everywhere=True)
    wait_until("the right to list", lambda: run(kubeconfig, "simulate", "--from-cluster").returncode == 0)
    decision, notes = simulated(kubeconfig, emptied)
    assert (decision["nominatedNode"], decision["victims"]) == (first, [f"{emptied}/guarded-1"])
    for plural in {resource.plural for resource in READ} - {"nodes", "pods"}:
        assert f"Left out, as you have no right to list {plural} in all namespaces: " in notes
    assert "poddisruptionbudgets in all namespaces: preemption spares nobody." in notes

    allow(control_plane, user, BUDGETS, everywhere=True)
    wait_until("the budget to be read", lambda: "poddisruptionbudgets" not in simulated(kubeconfig, emptied)[1])
    decision, notes = simulated(kubeconfig, emptied)
    assert decision["nominatedNode"] == second
    assert sorted(decision["victims"]) == [f"{emptied}/cheap-1", f"{emptied}/cheap-2"]
    assert "no right to list services" in notes

    after = {one["metadata"]["name"]: one["metadata"]["resourceVersion"] for one in control_plane.api.list(pods)}
    assert after == before, "a simulation writes nothing"
