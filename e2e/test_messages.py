"""What Berth says of a pod that it can't place, beside what kube-scheduler says of the same pod at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from e2e.berth import Berth, events, pod
from e2e.controlplane import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from e2e.controlplane import ControlPlane

LABEL = "example.com/rack"
PATIENT = "patient"
SELF = {"labelSelector": {"matchLabels": {"app": "spread"}}, "topologyKey": LABEL}


def affinity(kind: str, **term: Any) -> dict[str, Any]:
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


#: Pods that fit nowhere, by what keeps them off.
CASES: dict[str, dict[str, Any]] = {
    "too much CPU": {"cpu": "100"},
    "no node has the label": {"nodeSelector": {"example.com/missing": "x"}},
    "one node has the label and too little CPU": {"nodeSelector": {LABEL: "a"}, "cpu": "100"},
    "a node that does not exist": {
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["missing"]}]}
                    ]
                }
            }
        }
    },
    "no pod to be near to": affinity("podAffinity", **SELF),
    "no rack is free of pods": {
        "topologySpreadConstraints": [
            {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "topologyKey": "example.com/missing"}
            | {"labelSelector": {"matchLabels": {"app": "x"}}}
        ]
    },
    "no wish to preempt": {"cpu": "100", "priorityClassName": PATIENT},
    "an extended resource that nobody has": {
        "containers": [
            {
                "name": "app",
                "image": "registry.example.com/app:v1",
                "resources": {"requests": {"example.com/gpu": "2"}, "limits": {"example.com/gpu": "2"}},
            }
        ]
    },
}


@pytest.fixture(scope="module")
def schedulers(control_plane: ControlPlane, rights: None) -> Iterator[None]:
    kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    control_plane.api.apply({**kind, "metadata": {"name": PATIENT}, "value": 0, "preemptionPolicy": "Never"})
    control_plane.start_kube_scheduler()
    with Berth(control_plane):
        yield
    control_plane.stop_component("kube-scheduler")


@pytest.fixture
def cluster(add_nodes: Callable[..., list[str]]) -> None:
    """Four nodes that differ in what keeps pods off them."""
    add_nodes(1, cpu="2", labels={LABEL: "a"})
    add_nodes(
        1, cpu="2", labels={LABEL: "b"}, taints=[{"key": "example.com/for", "value": "x", "effect": "NoSchedule"}]
    )
    add_nodes(2, cpu="4", unschedulable=True)


@pytest.mark.usefixtures("schedulers", "cluster")
@pytest.mark.parametrize("spec", CASES.values(), ids=CASES.keys())
def test_event_and_condition_read_as_those_of_kube_scheduler(
    control_plane: ControlPlane, emptied: str, spec: dict[str, Any]
) -> None:
    for name, scheduler in (("ours", "berth"), ("theirs", "default-scheduler")):
        made = pod(name, emptied, scheduler=scheduler, **spec)
        made["metadata"]["labels"] = {"app": "same"}
        control_plane.api.create(made)
    ours, theirs = said(control_plane, emptied, "ours"), said(control_plane, emptied, "theirs")
    assert ours == theirs
    assert theirs["event"]["note"].startswith("0/4 nodes are available: ")


def said(control_plane: ControlPlane, namespace: str, name: str) -> dict[str, Any]:
    """Event and condition of a pod, without names and times."""

    def condition() -> dict[str, Any] | None:
        status = control_plane.api.get(f"/api/v1/namespaces/{namespace}/pods/{name}")["status"]
        return next((one for one in status.get("conditions", ()) if one["type"] == "PodScheduled"), None)

    event = wait_until(f"the event of {name}", lambda: events(control_plane, namespace, name))[0]
    found = wait_until(f"the condition of {name}", condition)
    return {
        "event": {key: event[key] for key in ("type", "reason", "action", "note")},
        "condition": {key: value for key, value in found.items() if key != "lastTransitionTime"},
    }
