"""Pods with volumes, with the volume controller of the real kube-controller-manager and Berth's own rights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from e2e import berth
from e2e.berth import Berth, events, placements, pod
from e2e.controlplane import ControlPlane, Options, wait_until
from e2e.provisioner import SELECTED_NODE, ProvisionerStandIn

if TYPE_CHECKING:
    from collections.abc import Iterator

DRIVER = "disk.example.com"


@pytest.fixture(scope="module")
def controlled() -> Iterator[ControlPlane]:
    """Three nodes in a zone each, classes of both kinds, and kube-controller-manager."""
    with ControlPlane(Options(kube_controller_manager=True)) as running:
        berth.grant(running)
        running.add_nodes(3, prefix="node", zones=3)
        for name, provisioner in (("local", "kubernetes.io/no-provisioner"), ("disk", DRIVER)):
            running.api.create(
                {
                    "apiVersion": "storage.k8s.io/v1",
                    "kind": "StorageClass",
                    "metadata": {"name": name},
                    "provisioner": provisioner,
                    "volumeBindingMode": "WaitForFirstConsumer",
                }
            )
        yield running


@pytest.fixture(scope="module")
def scheduler(controlled: ControlPlane) -> Iterator[Berth]:
    with Berth(controlled) as running:
        yield running


@pytest.fixture
def space(controlled: ControlPlane, request: pytest.FixtureRequest) -> str:
    """A namespace of the test's own."""
    return controlled.create_namespace(request.node.name.replace("_", "-")[:60].rstrip("-"))


def node_names(controlled: ControlPlane) -> list[str]:
    return sorted(node["metadata"]["name"] for node in controlled.api.list("/api/v1/nodes"))


def local_volume(name: str, node: str, size: str = "10Gi") -> dict[str, Any]:
    here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "persistentVolumeReclaimPolicy": "Retain",
            "local": {"path": f"/mnt/{name}"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
        },
    }


def claim(
    name: str, namespace: str, storage_class: str, size: str = "5Gi", mode: str = "ReadWriteOnce"
) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "accessModes": [mode],
            "storageClassName": storage_class,
            "resources": {"requests": {"storage": size}},
        },
    }


def pod_with(name: str, namespace: str, *claims: str, **spec: Any) -> dict[str, Any]:
    volumes = [{"name": one, "persistentVolumeClaim": {"claimName": one}} for one in claims]
    return pod(name, namespace, volumes=volumes, **spec)


def volume_of(controlled: ControlPlane, namespace: str, name: str) -> str:
    found = controlled.api.get(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{name}")
    return found["spec"].get("volumeName", "") if found["status"]["phase"] == "Bound" else ""


def placed(controlled: ControlPlane, namespace: str, name: str) -> str:
    return wait_until(f"{namespace}/{name} is bound", lambda: placements(controlled, namespace).get(name))


def available(controlled: ControlPlane, *names: str) -> None:
    """Wait until the volume controller has seen the volumes."""

    def seen() -> bool:
        found = (controlled.api.get(f"/api/v1/persistentvolumes/{name}") for name in names)
        return all(volume["status"].get("phase") == "Available" for volume in found)

    wait_until("volumes are available", seen)


def test_a_pod_goes_where_the_smallest_volume_that_fits_is_and_is_bound_after_it(
    controlled: ControlPlane, scheduler: Berth, space: str
) -> None:
    node = node_names(controlled)[1]
    for name, size in (("too-small", "1Gi"), ("fits", "6Gi"), ("large", "20Gi")):
        controlled.api.create(local_volume(name, node, size))
    available(controlled, "too-small", "fits", "large")
    controlled.api.create(claim("data", space, "local"))
    controlled.api.create(pod_with("db", space, "data"))
    assert placed(controlled, space, "db") == node
    assert volume_of(controlled, space, "data") == "fits"
    volume = controlled.api.get("/api/v1/persistentvolumes/fits")
    assert volume["spec"]["claimRef"]["name"] == "data"
    assert volume["metadata"]["annotations"]["pv.kubernetes.io/bound-by-controller"] == "yes"
    assert [event["reason"] for event in events(controlled, space, "db")] == ["Scheduled"]


def test_pods_that_want_the_same_volumes_get_one_each(controlled: ControlPlane, scheduler: Berth, space: str) -> None:
    nodes = node_names(controlled)
    names = [f"one-each-{node}" for node in nodes]
    for name, node in zip(names, nodes, strict=True):
        controlled.api.create(local_volume(name, node, "40Gi"))
    available(controlled, *names)
    for number in range(3):
        controlled.api.create(claim(f"data-{number}", space, "local", "30Gi"))
        controlled.api.create(pod_with(f"db-{number}", space, f"data-{number}"))
    assert {placed(controlled, space, f"db-{number}") for number in range(3)} == set(nodes)
    assert {volume_of(controlled, space, f"data-{number}") for number in range(3)} == set(names)


def test_a_pod_waits_for_a_volume_that_comes_later(controlled: ControlPlane, scheduler: Berth, space: str) -> None:
    node = node_names(controlled)[2]
    controlled.api.create(claim("data", space, "local", "70Gi"))
    controlled.api.create(pod_with("db", space, "data"))

    def told() -> list[str]:
        return [event["note"] for event in events(controlled, space, "db")]

    (note,) = wait_until("it is told why it waits", told)
    assert note.startswith("0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind.")
    controlled.api.create(local_volume("late", node, "80Gi"))
    assert placed(controlled, space, "db") == node
    assert volume_of(controlled, space, "data") == "late"


def test_a_volume_is_made_for_the_node_that_was_selected(
    controlled: ControlPlane, scheduler: Berth, space: str
) -> None:
    node = node_names(controlled)[0]
    controlled.api.create(claim("data", space, "disk"))
    zone = {"topology.kubernetes.io/zone": "zone-0"}
    with ProvisionerStandIn(controlled.api, DRIVER):
        controlled.api.create(pod_with("db", space, "data", nodeSelector=zone))
        assert placed(controlled, space, "db") == node
    found = controlled.api.get(f"/api/v1/namespaces/{space}/persistentvolumeclaims/data")
    assert found["metadata"]["annotations"][SELECTED_NODE] == node
    assert volume_of(controlled, space, "data") == f"pvc-{found['metadata']['uid']}"


def test_a_node_for_which_no_volume_can_be_made_is_chosen_anew(
    controlled: ControlPlane, scheduler: Berth, space: str
) -> None:
    first = node_names(controlled)[0]
    controlled.api.create(claim("data", space, "disk"))
    with ProvisionerStandIn(controlled.api, DRIVER, gives_up_on=frozenset({first})) as provisioner:
        preferred = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [first]}]}
        affinity = {
            "nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": preferred}]
            }
        }
        controlled.api.create(pod_with("db", space, "data", affinity=affinity))
        wait_until("the selection was taken back", lambda: provisioner.given_up)
        notes = wait_until(
            "it is told",
            lambda: [e["note"] for e in events(controlled, space, "db") if e["reason"] == "FailedScheduling"],
        )
        assert notes[0] == 'running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "data"'
        controlled.api.patch(f"/api/v1/nodes/{first}", {"spec": {"unschedulable": True}}, kind="merge")
        try:
            assert placed(controlled, space, "db") != first
        finally:
            controlled.api.patch(f"/api/v1/nodes/{first}", {"spec": {"unschedulable": False}}, kind="merge")
    assert volume_of(controlled, space, "data")


def test_the_next_pod_follows_the_bound_claim(controlled: ControlPlane, scheduler: Berth, space: str) -> None:
    controlled.api.create(claim("data", space, "disk"))
    with ProvisionerStandIn(controlled.api, DRIVER):
        controlled.api.create(pod_with("first", space, "data", nodeSelector={"topology.kubernetes.io/zone": "zone-1"}))
        node = placed(controlled, space, "first")
    controlled.api.create(pod_with("second", space, "data"))
    assert placed(controlled, space, "second") == node


def test_a_generic_ephemeral_volume_gets_its_claim_and_its_volume(
    controlled: ControlPlane, scheduler: Berth, space: str
) -> None:
    template = {"spec": claim("unused", space, "disk")["spec"]}
    volume = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}
    with ProvisionerStandIn(controlled.api, DRIVER):
        controlled.api.create(pod("job", space, volumes=[volume]))
        placed(controlled, space, "job")
    assert volume_of(controlled, space, "job-scratch")


def test_a_claim_for_one_pod_alone_is_not_given_to_a_second_one(
    controlled: ControlPlane, scheduler: Berth, space: str
) -> None:
    controlled.api.create(claim("data", space, "disk", mode="ReadWriteOncePod"))
    with ProvisionerStandIn(controlled.api, DRIVER):
        controlled.api.create(pod_with("first", space, "data"))
        placed(controlled, space, "first")
    controlled.api.create(pod_with("second", space, "data"))
    (note,) = wait_until("it is told", lambda: [event["note"] for event in events(controlled, space, "second")])
    assert "PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod" in note
    controlled.api.delete(f"/api/v1/namespaces/{space}/pods/first", grace=0)
    placed(controlled, space, "second")
