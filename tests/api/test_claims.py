"""What claims and volumes say of each other."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from scheduler.api.claims import (
    claim_name,
    class_of_claim,
    class_of_volume,
    is_bound_to,
    is_fully_bound,
    ownership_problem,
)
from scheduler.api.objects import PersistentVolume, PersistentVolumeClaim, Volume

BETA = {"volume.beta.kubernetes.io/storage-class": "beta"}
COMPLETED = {"pv.kubernetes.io/bind-completed": ""}


def claim(meta: dict[str, Any] | None = None, **spec: Any) -> PersistentVolumeClaim:
    known = {"name": "c", "namespace": "ns", "uid": "u", **(meta or {})}
    return msgspec.convert({"metadata": known, "spec": spec}, PersistentVolumeClaim)


def volume(meta: dict[str, Any] | None = None, **spec: Any) -> PersistentVolume:
    return msgspec.convert({"metadata": {"name": "v", **(meta or {})}, "spec": spec}, PersistentVolume)


@pytest.mark.parametrize(
    ("meta", "name", "expected"),
    [
        ({}, None, ""),
        ({}, "", ""),
        ({}, "x", "x"),
        ({"annotations": BETA}, "x", "beta"),
        ({"annotations": {}}, "x", "x"),
    ],
)
def test_the_class_of_a_claim(meta: dict[str, Any], name: str | None, expected: str) -> None:
    assert class_of_claim(claim(meta, storageClassName=name)) == expected


def test_the_class_of_a_volume() -> None:
    assert class_of_volume(volume(storageClassName="x")) == "x"
    assert class_of_volume(volume({"annotations": BETA}, storageClassName="x")) == "beta"
    assert class_of_volume(volume()) == ""


@pytest.mark.parametrize(
    ("annotations", "name", "expected"), [(COMPLETED, "v", True), (COMPLETED, "", False), ({}, "v", False)]
)
def test_a_claim_is_fully_bound_with_a_volume_and_the_annotation(
    annotations: dict[str, str], name: str, expected: bool
) -> None:
    assert is_fully_bound(claim({"annotations": annotations}, volumeName=name)) is expected


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        (None, False),
        ({"namespace": "ns", "name": "c", "uid": "u"}, True),
        ({"namespace": "ns", "name": "c"}, True),
        ({"namespace": "ns", "name": "c", "uid": "other"}, False),
        ({"namespace": "other", "name": "c"}, False),
        ({"namespace": "ns", "name": "other"}, False),
    ],
)
def test_a_volume_is_bound_by_name_and_uid_if_it_has_one(reference: dict[str, str] | None, expected: bool) -> None:
    assert is_bound_to(volume(claimRef=reference), claim()) is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"persistentVolumeClaim": {"claimName": "c"}}, "c"),
        ({"ephemeral": {}}, "pod-v"),
        ({"emptyDir": {}}, None),
    ],
)
def test_the_claim_behind_a_volume(source: dict[str, Any], expected: str | None) -> None:
    assert claim_name(msgspec.convert({"name": "v", **source}, Volume), "pod") == expected


@pytest.mark.parametrize(
    ("owner", "namespace", "owned"),
    [
        ({"uid": "p", "controller": True}, "ns", True),
        ({"uid": "p", "controller": True}, "other", False),
        ({"uid": "p", "controller": False}, "ns", False),
        ({"uid": "p"}, "ns", False),
        ({"uid": "q", "controller": True}, "ns", False),
    ],
)
def test_the_claim_of_an_ephemeral_volume_is_controlled_by_its_pod(
    owner: dict[str, Any], namespace: str, owned: bool
) -> None:
    problem = ownership_problem(claim({"ownerReferences": [owner]}), namespace, "pod", "p")
    assert problem == ("" if owned else f"PVC ns/c was not created for pod {namespace}/pod (pod is not owner)")
