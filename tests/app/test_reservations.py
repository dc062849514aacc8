"""What cases tell of the Reserve plugins: the volumes that a pod would get on each of its best nodes."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.app.cases import CaseRunner
from scheduler.config.features import FeatureGates
from scheduler.plugins.registry import IN_TREE

LOCAL = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "wait"},
    "provisioner": "csi.example.com",
    "volumeBindingMode": "WaitForFirstConsumer",
}


@pytest.fixture(scope="module")
def runner() -> CaseRunner:
    return CaseRunner(IN_TREE, FeatureGates())


def node(name: str) -> dict[str, Any]:
    room = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": room}}


def claim(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "wait",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }


def volume(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "wait", "capacity": {"storage": "1Gi"}},
        "status": {"phase": "Available"},
    }


def pod(*volumes: dict[str, Any]) -> dict[str, Any]:
    named = [{"name": f"v{number}", **source} for number, source in enumerate(volumes)]
    return {
        "metadata": {"name": "p", "namespace": "default", "uid": "u"},
        "spec": {"containers": [{"name": "c", "image": "i"}], "volumes": named},
    }


def using(name: str) -> dict[str, Any]:
    return {"persistentVolumeClaim": {"claimName": name}}


def test_volumes_are_told_by_node_and_claim(runner: CaseRunner) -> None:
    objects = [node("a"), node("b"), LOCAL, claim("c"), claim("d"), volume("v")]
    found = runner.run({"objects": objects, "pod": pod(using("c"), using("d"))})
    assert found.best == ("a", "b")
    for name in found.best:
        assert found.reserve[name].code == "Success"
        assert found.reserve[name].volumes == {"c": "v", "d": "provision"}


def test_other_volumes_hold_nothing(runner: CaseRunner) -> None:
    found = runner.run({"objects": [node("a")], "pod": pod({"emptyDir": {}})})
    assert found.reserve["a"].volumes == {}


def test_pods_without_volumes_have_nothing_to_reserve(runner: CaseRunner) -> None:
    assert runner.run({"objects": [node("a")], "pod": pod()}).reserve == {}
    assert runner.run({"objects": [], "pod": pod(using("c"))}).reserve == {}
