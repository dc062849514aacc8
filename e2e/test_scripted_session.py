"""The same session led by Berth and by kube-scheduler: events, conditions and nominations, one by one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from e2e.controlplane import wait_until
from e2e.rivals import OURS, PATIENT, THEIRS, URGENT, Stage, behind_proxy, staged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from e2e.controlplane import ControlPlane


@pytest.fixture(scope="module")
def stages(contested: ControlPlane) -> Iterator[dict[str, Stage]]:
    with (
        behind_proxy(contested, OURS) as (ours, _),
        behind_proxy(contested, THEIRS) as (theirs, _),
        staged(contested, {OURS: ours, THEIRS: theirs}, ["session"]) as made,
    ):
        yield made["session"]


def path(stage: Stage, name: str) -> str:
    return f"/api/v1/namespaces/{stage.namespace}/pods/{name}"


def bound(stage: Stage, name: str) -> None:
    wait_until(f"{stage.scheduler}: {name} is bound", lambda: stage.read(name)["spec"].get("nodeName"))
    stage.wait_event(name, "Scheduled")


def turned_down(stage: Stage, name: str, *words: str) -> None:
    """Wait until the pod's condition has these words, or until it has any."""

    def said() -> bool:
        conditions = stage.read(name)["status"].get("conditions", ())
        return any(all(word in one.get("message", "") for word in words) for one in conditions)

    stage.wait_event(name, "FailedScheduling")
    wait_until(f"{stage.scheduler}: {name} is turned down {words}", said)


def conditions(stage: Stage, name: str) -> list[dict[str, Any]]:
    return list(stage.read(name)["status"].get("conditions", ()))


def play(stage: Stage) -> Iterator[None]:
    """The session; what both must have come to before either goes on ends with a yield."""
    create, api = stage.create, stage.cluster.api
    create(stage.pod("web"))
    bound(stage, "web")
    yield
    here = {"kubernetes.io/hostname": stage.node}
    create(stage.pod("gated", units="0", nodeSelector=here, schedulingGates=[{"name": "example.com/quota"}]))
    wait_until("it is gated", partial(conditions, stage, "gated"))
    api.patch(path(stage, "gated"), {"spec": {"schedulingGates": None}}, kind="merge")
    bound(stage, "gated")
    yield
    create(stage.pod("picky", nodeSelector={f"example.com/{stage.namespace}": "x"}))
    create(stage.pod("patient", units="2", priorityClassName=PATIENT))
    create(stage.pod("huge", units="9"))
    create(stage.pod("lost", units="0", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "none"}}]))
    turned_down(stage, "picky", "affinity/selector")
    turned_down(stage, "patient", "preemptionPolicy=Never")
    turned_down(stage, "huge", "Insufficient")
    turned_down(stage, "lost", "not found")
    yield
    labels = {"metadata": {"labels": {f"example.com/{stage.namespace}": "x"}}}
    api.patch(f"/api/v1/nodes/{stage.node}", labels, kind="merge")
    bound(stage, "picky")
    yield
    stage.delete("huge")
    stage.delete("patient")
    yield
    api.create(
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "budget", "namespace": stage.namespace},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        }
    )
    create(stage.pod("urgent", units="2", priorityClassName=URGENT))
    bound(stage, "urgent")
    yield
    create(stage.pod("picky", units="1"))
    turned_down(stage, "picky", "Insufficient")
    stage.delete("urgent")
    bound(stage, "picky")
    yield


def test_all_that_can_be_seen_of_the_pods_is_the_same(stages: dict[str, Stage]) -> None:
    for _ in zip(*(play(stage) for stage in stages.values()), strict=True):
        pass
    names = ("web", "gated", "picky", "patient", "huge", "lost", "urgent")
    seen = {side: {name: stage.events(name) for name in names} for side, stage in stages.items()}
    assert seen[OURS] == seen[THEIRS]
    lives = {side: {name: stage.history(name) for name in names} for side, stage in stages.items()}
    assert lives[OURS] == lives[THEIRS]
