"""Pods evicted on a real API server by Berth, beside what kube-scheduler does in the same situation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from e2e.berth import Berth, events, pod
from e2e.controlplane import HollowKubelet, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from e2e.controlplane import ControlPlane

URGENT = "urgent"
VICTIMS = ("cheap-0", "cheap-1")


@pytest.fixture(scope="module")
def schedulers(control_plane: ControlPlane, rights: None) -> Iterator[None]:
    kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    control_plane.api.apply({**kind, "metadata": {"name": URGENT}, "value": 1000})
    control_plane.start_kube_scheduler()
    with Berth(control_plane):
        yield
    control_plane.stop_component("kube-scheduler")


def read(control_plane: ControlPlane, namespace: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = control_plane.api.get(f"/api/v1/namespaces/{namespace}/pods/{name}")
    return found


def preempt(control_plane: ControlPlane, namespace: str, scheduler: str, node: str) -> dict[str, Any]:
    """Fill a node, ask for its room with a pod that matters more, and tell what was seen."""
    on_node = {"nodeSelector": {"kubernetes.io/hostname": node}}
    for name in VICTIMS:
        control_plane.api.create(pod(name, namespace, scheduler=scheduler, cpu="1", **on_node))
    wait_until(
        "the victims are bound", lambda: all(read(control_plane, namespace, v)["spec"].get("nodeName") for v in VICTIMS)
    )
    control_plane.api.create(
        pod("urgent", namespace, scheduler=scheduler, cpu="2", priorityClassName=URGENT, **on_node)
    )

    def leaving() -> list[dict[str, Any]]:
        victims = [read(control_plane, namespace, name) for name in VICTIMS]
        return victims if all("deletionTimestamp" in victim["metadata"] for victim in victims) else []

    victims = wait_until("the victims are being deleted", leaving)
    nominated = wait_until(
        "the pod is nominated", lambda: read(control_plane, namespace, "urgent")["status"].get("nominatedNodeName")
    )
    with HollowKubelet(control_plane.api):
        wait_until("the pod is bound", lambda: read(control_plane, namespace, "urgent")["spec"].get("nodeName"))
    uid = read(control_plane, namespace, "urgent")["metadata"]["uid"]

    def told(name: str) -> list[dict[str, Any]]:
        def several() -> list[dict[str, Any]]:
            found = events(control_plane, namespace, name)
            return found if len(found) > 1 else []

        found = wait_until(f"the events about {name}", several)
        return sorted((_event(event, uid, node) for event in found), key=str)

    return {
        "nominated": nominated == node,
        "conditions": [_condition(victim, scheduler) for victim in victims],
        "events": {name: told(name) for name in (*VICTIMS, "urgent")},
    }


def _event(event: dict[str, Any], uid: str, node: str) -> dict[str, Any]:
    shown = {key: event.get(key) for key in ("type", "reason", "action", "note", "related")}
    shown["note"] = (
        str(shown["note"])
        .replace(uid, "UID")
        .replace(node, "NODE")
        .replace(event["metadata"]["namespace"], "NAMESPACE")
    )
    return shown


def _condition(victim: dict[str, Any], scheduler: str) -> dict[str, Any]:
    (condition,) = (one for one in victim["status"]["conditions"] if one["type"] == "DisruptionTarget")
    shown = {key: value for key, value in condition.items() if key not in ("lastTransitionTime", "lastProbeTime")}
    return {**shown, "message": condition["message"].replace(scheduler, "SCHEDULER")}


@pytest.mark.usefixtures("schedulers")
def test_victims_are_told_and_deleted_as_by_kube_scheduler(
    control_plane: ControlPlane, add_nodes: Callable[..., list[str]], emptied: str
) -> None:
    seen = {}
    for scheduler, node in zip(("berth", "default-scheduler"), add_nodes(2, cpu="2"), strict=True):
        namespace = control_plane.create_namespace(f"{emptied}-{scheduler}")
        seen[scheduler] = preempt(control_plane, namespace, scheduler, node)
        query = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
        control_plane.api.request("DELETE", f"/api/v1/namespaces/{namespace}/pods", query)
    assert seen["berth"] == seen["default-scheduler"]
    assert seen["berth"]["nominated"]
