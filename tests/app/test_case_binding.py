"""Cases that are taken to the end of the binding cycle."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler.app.cases import CaseRunner
from scheduler.config.features import FeatureGates
from scheduler.plugins.registry import IN_TREE
from tests.builders import node, pod

CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "slow"},
    "provisioner": "example.com/disk",
    "volumeBindingMode": "WaitForFirstConsumer",
}
CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "default", "uid": "uid-data", "annotations": {"a": "b"}},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "slow",
        "resources": {"requests": {"storage": "1Gi"}},
    },
}
VOLUME = {
    "apiVersion": "v1",
    "kind": "PersistentVolume",
    "metadata": {"name": "disk"},
    "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "slow"},
    "status": {"phase": "Available"},
}
STATIC_WRITE = "volume disk for default/data"
DYNAMIC_WRITE = "claim default/data on n"
BIND_WRITE = "bind default/p to n"
FAILED = 'running PreBind plugin "VolumeBinding": '


def bound(behavior: str, *objects: Any) -> dict[str, Any]:
    """How the binding cycle of a pod with a claim ends."""
    claim = {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}
    target = {"apiVersion": "v1", "kind": "Pod", **pod("p").set("spec.volumes", [claim]).document}
    cluster = [{"apiVersion": "v1", "kind": "Node", **node("n").document}, CLASS, CLAIM, *objects]
    case = {"id": 1, "objects": cluster, "pod": target, "binding": behavior}
    answer = CaseRunner(IN_TREE, FeatureGates()).run_line(json.dumps(case))
    assert "error" not in answer
    found: dict[str, Any] = answer.get("bound", {})
    return found


@pytest.mark.parametrize(
    ("objects", "write"), [([VOLUME], STATIC_WRITE), ([], DYNAMIC_WRITE)], ids=["a volume", "none"]
)
@pytest.mark.parametrize("behavior", ["binds", "lags", "dawdles", "outruns"])
def test_volumes_are_bound_before_the_pod_is(behavior: str, objects: list[Any], write: str) -> None:
    assert bound(behavior, *objects) == {"node": "n", "code": "Success", "writes": [write, BIND_WRITE]}


@pytest.mark.parametrize(
    ("behavior", "objects", "reason"),
    [
        ("resets", [VOLUME], 'binding volumes: ClaimRef got reset for pv "disk"'),
        ("resets", [], 'binding volumes: provisioning failed for PVC "data"'),
        (
            "misplaces",
            [VOLUME],
            'binding volumes: pv "disk" node affinity doesn\'t match node "n": no matching NodeSelectorTerms',
        ),
        (
            "misplaces",
            [],
            'binding volumes: pv "made-data" node affinity doesn\'t match node "n": no matching NodeSelectorTerms',
        ),
        ("forgets", [VOLUME], 'binding volumes: pod does not exist any more: pod "p" not found'),
        ("refuses", [VOLUME], "the server says no"),
    ],
)
def test_what_goes_wrong_with_the_volumes_keeps_the_pod_from_being_bound(
    behavior: str, objects: list[Any], reason: str
) -> None:
    found = bound(behavior, *objects)
    assert (found["code"], found["reasons"]) == ("Error", [FAILED + reason])
    assert BIND_WRITE not in found["writes"]


@pytest.mark.parametrize("objects", [[VOLUME], []], ids=["a volume", "none"])
def test_a_claim_that_is_lost_ends_it(objects: list[Any]) -> None:
    found = bound("loses", *objects)
    assert "not found" in found["reasons"][0]


def test_the_api_server_may_refuse_to_bind_the_pod() -> None:
    found = bound("unbindable", VOLUME)
    assert (found["code"], found["plugin"]) == ("Error", "DefaultBinder")
    assert found["writes"] == [STATIC_WRITE, BIND_WRITE]


def test_a_pod_that_fits_nowhere_is_not_bound() -> None:
    assert bound("binds", {**CLAIM, "spec": {**CLAIM["spec"], "storageClassName": "nosuch"}}) == {}  # type: ignore[dict-item]
