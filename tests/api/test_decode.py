"""JSON to objects: what is taken, what is made of nulls and numbers, and how errors name the field."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.api.decode import DecodeError, decode_as, decode_object
from scheduler.api.objects import CSINode, CSIStorageCapacity, Node, Pod, PodDisruptionBudget

POD = b"""{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "managedFields": [{"x": null}]},
 "spec": {"priority": 5, "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}"""


def test_an_object_is_decoded_by_its_kind() -> None:
    pod = decode_object(POD)
    assert isinstance(pod, Pod)
    assert pod.spec.priority == 5
    assert pod.spec.containers[0].resources.requests == {"cpu": "1"}


def test_json_that_was_decoded_already_gives_the_same_object() -> None:
    assert decode_object(json.loads(POD)) == decode_object(POD)


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview, msgspec.Raw])
def test_json_may_come_in_any_buffer(wrap: Any) -> None:
    assert decode_as(Pod, wrap(POD)) == decode_object(POD)


def test_absent_fields_are_gos_zero_values() -> None:
    pod = decode_as(Pod, b"{}")
    assert (pod.metadata.labels, pod.spec.containers, pod.spec.node_name) == ({}, (), "")
    assert (pod.spec.priority, pod.spec.affinity, pod.spec.host_network) == (None, None, False)


@pytest.mark.parametrize(
    "path",
    [
        "metadata",
        "metadata.labels",
        "metadata.name",
        "metadata.creationTimestamp",
        "spec",
        "spec.containers",
        "spec.affinity",
        "spec.hostNetwork",
        "spec.overhead",
        "spec.tolerations",
        "status.conditions",
        "status.startTime",
    ],
)
def test_null_is_the_same_as_no_field(path: str) -> None:
    document: dict[str, Any] = {}
    *parents, last = path.split(".")
    inner = document
    for name in parents:
        inner = inner.setdefault(name, {})
    inner[last] = None
    assert decode_as(Pod, json.dumps(document).encode()) == decode_as(Pod, b"{}")
    assert decode_as(Pod, document) == decode_as(Pod, b"{}")


def test_null_in_lists_and_maps_is_the_empty_value() -> None:
    pod = decode_as(
        Pod, b'{"metadata": {"labels": {"a": null}}, "spec": {"containers": [null], "overhead": {"cpu": null}}}'
    )
    assert pod.metadata.labels == {"a": ""}
    assert pod.spec.containers == decode_as(Pod, b'{"spec": {"containers": [{}]}}').spec.containers
    assert pod.spec.overhead == {"cpu": "0"}
    node = decode_as(Node, b'{"status": {"images": [{"names": ["x", null]}]}}')
    assert node.status.images[0].names == ("x", "")


def test_lists_that_servers_send_as_null_are_empty() -> None:
    assert decode_as(CSINode, b'{"spec": {"drivers": null}}').spec.drivers == ()


def test_times_of_evictions_may_be_null() -> None:
    budget = decode_as(PodDisruptionBudget, b'{"status": {"disruptedPods": {"a": null}, "disruptionsAllowed": null}}')
    assert budget.status.disrupted_pods == {"a": None}


def test_numbers_are_taken_for_quantities_as_they_are_written() -> None:
    raw = b'{"spec": {"overhead": {"cpu": 1, "memory": 1.50, "x/y": 2e3, "big/n": 123456789012345678901234567890}}}'
    pod = decode_as(Pod, raw)
    assert pod.spec.overhead["cpu"] == "1"
    assert pod.spec.overhead["memory"] == "1.50"
    assert pod.spec.overhead["x/y"] == "2e3"
    assert decode_as(CSIStorageCapacity, b'{"capacity": 5}').capacity == "5"
    assert decode_as(Pod, {"spec": {"overhead": {"cpu": 0.5}}}).spec.overhead == {"cpu": "0.5"}


def test_numbers_are_not_taken_for_labels() -> None:
    with pytest.raises(DecodeError, match="Expected `str`, got `int`"):
        decode_as(Pod, b'{"metadata": {"labels": {"a": 1}}}')


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b'{"spec": {"containers": [{}, {"name": 5}]}}', "spec.containers[1].name"),
        (b'{"spec": {"containers": {}}}', "spec.containers"),
        (b'{"spec": {"priority": "high"}}', "spec.priority"),
        (b'{"spec": {"priority": 9999999999}}', "spec.priority"),
        (b'{"spec": {"overhead": {"cpu": true}}}', "spec.overhead[...]"),
        (b'{"spec": {"overhead": {"cpu": []}, "nodeName": null}}', "spec.overhead[...]"),
        (b'{"spec": {"priority": 1.5}}', "spec.priority"),
        (b"[]", ""),
        (b"null", ""),
        (b'"x"', ""),
    ],
)
def test_an_error_names_the_field(raw: bytes, path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_as(Pod, raw)
    assert caught.value.path == path
    assert str(caught.value).startswith(f"{path}: " if path else "Expected")


@pytest.mark.parametrize(
    "raw", [b"", b"{", b'{"spec": }', b'{"metadata": {"name": "\xff"}}', b"{} trailing", b'{"a": ' + b"[" * 50_000]
)
def test_what_is_no_json_is_an_error(raw: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_as(Pod, raw)


def test_nesting_without_end_is_an_error() -> None:
    raw = b'{"apiVersion": "v1", "kind": "Pod", "unknown": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    with pytest.raises(DecodeError, match="nested too deeply"):
        decode_object(raw)


@pytest.mark.parametrize("raw", [b"{}", b'{"apiVersion": "v2", "kind": "Pod"}', b'{"apiVersion": "v1", "kind": "Foo"}'])
def test_an_unknown_kind_is_named(raw: bytes) -> None:
    with pytest.raises(DecodeError, match="are of no object that scheduling reads"):
        decode_object(raw)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(["containers", "affinity", "overhead", "tolerations", "priority", "nodeSelector", "volumes"])


@given(st.dictionaries(FIELDS, JSON | st.lists(st.dictionaries(st.sampled_from(["name", "resources"]), JSON))))
def test_any_json_is_decoded_or_refused(spec: dict[str, Any]) -> None:
    for raw in ({"spec": spec}, json.dumps({"spec": spec}).encode()):
        with suppress(DecodeError):
            decode_as(Pod, raw)
