"""What is decoded at once comes out as what is defaulted first; what needs defaults is not decoded at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scheduler.api.decode import decode_as
from scheduler.api.defaults import apply_defaults
from scheduler.api.objects import Node, Pod, Service
from scheduler.api.resources import KINDS
from scheduler.api.stored import decode_stored

GOLDEN = json.loads((Path(__file__).parent / "golden_defaults.json").read_text())
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default", "uid": "u", "resourceVersion": "7"},
    "spec": {
        "schedulerName": "default-scheduler",
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "containers": [
            {
                "name": "main",
                "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "resources": {"limits": {"memory": "1Gi"}, "requests": {"cpu": "100m", "memory": "1Gi"}},
            }
        ],
        "initContainers": [{"name": "first", "resources": {"requests": {"cpu": "1"}}}],
        "overhead": {"cpu": "10m"},
        "resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}},
        "volumes": [{"name": "v", "emptyDir": {}}],
    },
    "status": {
        "phase": "Running",
        "allocatedResources": {"cpu": "1"},
        "resources": {"requests": {"cpu": "1"}},
        "containerStatuses": [{"name": "main", "allocatedResources": {"cpu": "1"}, "resources": {"limits": None}}],
        "initContainerStatuses": [{"name": "first", "resources": {"requests": {"cpu": "1"}}}],
    },
}
NODE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n", "uid": "u", "resourceVersion": "7"},
    "status": {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "3900m"}},
}


def stored(value: dict[str, Any]) -> Any:
    return decode_stored(KINDS[value["apiVersion"], value["kind"]], msgspec.json.encode(value))


def defaulted(value: dict[str, Any]) -> Any:
    return decode_as(KINDS[value["apiVersion"], value["kind"]], apply_defaults(value))


def changed(value: dict[str, Any], path: str, to: Any) -> dict[str, Any]:
    """A copy with another value in a field; the field is left out for `...`."""
    copy: dict[str, Any] = json.loads(json.dumps(value))
    place: Any = copy
    *parents, last = path.split(".")
    for name in parents:
        place = place[int(name)] if isinstance(place, list) else place[name]
    if to is ...:
        del place[last]
    else:
        place[last] = to
    return copy


@pytest.mark.parametrize("value", [POD, NODE], ids=lambda value: value["kind"])
def test_an_object_that_lacks_nothing_is_decoded_at_once(value: dict[str, Any]) -> None:
    assert stored(value) == defaulted(value)
    assert isinstance(stored(value), KINDS["v1", value["kind"]])


@pytest.mark.parametrize("form", ["given", "stored"])
@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: f"{row['given']['kind']}-{row['given']['metadata']['name']}")
def test_whatever_is_decoded_at_once_is_what_defaults_would_make_of_it(row: dict[str, Any], form: str) -> None:
    found = stored(row[form])
    assert found is None or found == defaulted(row[form])


def test_what_has_been_defaulted_can_be_decoded_at_once_where_there_is_nothing_rare_in_it() -> None:
    rows = [row["given"] for row in GOLDEN if row["given"]["kind"] in ("Pod", "Node")]
    found = [stored(apply_defaults(row)) for row in rows]
    assert sum(item is not None for item in found) > len(rows) / 2


@pytest.mark.parametrize(
    ("path", "to"),
    [
        ("metadata.name", ...),
        ("metadata.uid", ""),
        ("metadata.resourceVersion", ...),
        ("spec.schedulerName", ...),
        ("spec.restartPolicy", ""),
        ("spec.terminationGracePeriodSeconds", ...),
        ("spec.terminationGracePeriodSeconds", -1),
        ("spec.containers.0.resources.requests", {"cpu": "100m"}),
        ("spec.containers.0.ports.0.protocol", ...),
        ("spec.hostNetwork", True),
        ("spec.containers.0.resources.requests.cpu", "0.5"),
        ("spec.containers.0.resources.limits.memory", "1.5Gi"),
        ("spec.containers.0.resources.limits.memory", 1024),
        ("spec.containers.0.resources.limits.memory", "much"),
        ("spec.initContainers.0.resources.requests.cpu", "1000m"),
        ("spec.overhead.cpu", "0.1"),
        ("spec.resources.limits.cpu", "0.1"),
        ("spec.volumes.0.rbd", {"image": "i"}),
        ("spec.volumes.0.azureDisk", {"diskName": "d"}),
        ("spec.volumes.0.ephemeral", {"volumeClaimTemplate": {"spec": {}}}),
        ("status.allocatedResources.cpu", "0.1"),
        ("status.resources.requests.cpu", "0.1"),
        ("status.containerStatuses.0.allocatedResources.cpu", "0.1"),
        ("status.initContainerStatuses.0.resources.requests.cpu", "0.1"),
        ("spec.containers", None),
        ("status", None),
        ("spec.nodeName", 5),
    ],
)
def test_a_pod_that_lacks_something_is_left_to_be_defaulted(path: str, to: Any) -> None:
    assert stored(changed(POD, path, to)) is None


@pytest.mark.parametrize(
    ("path", "to"),
    [
        ("metadata.name", ...),
        ("metadata.uid", ...),
        ("metadata.resourceVersion", ""),
        ("status.allocatable", ...),
        ("status.allocatable.cpu", "0.1"),
        ("status.capacity.cpu", 4),
    ],
)
def test_a_node_that_lacks_something_is_left_to_be_defaulted(path: str, to: Any) -> None:
    assert stored(changed(NODE, path, to)) is None


def test_host_ports_that_are_given_need_no_default() -> None:
    pod = changed(changed(POD, "spec.hostNetwork", True), "spec.containers.0.ports.0.hostPort", 80)
    assert stored(pod) == defaulted(pod)
    assert stored(pod) is not None


def test_what_is_no_object_is_left_for_others_to_complain_about() -> None:
    assert decode_stored(Pod, b"[]") is None
    assert decode_stored(Pod, b"{") is None
    assert decode_stored(Node, b'{"metadata": {"name": "\xff"}}') is None


def test_kinds_that_are_few_in_a_cluster_are_not_looked_at() -> None:
    assert decode_stored(Service, b'{"metadata": {"name": "s", "uid": "u", "resourceVersion": "1"}}') is None
