"""Workloads, as far as pods can be made of them."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.api.decode import DecodeError
from scheduler.app.whatif.workloads import is_workload, workload_of

TEMPLATE = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}}]},
}


def job(**fields: Any) -> dict[str, Any]:
    spec = {"template": TEMPLATE, **fields.pop("spec", {})}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "load"}, "spec": spec, **fields}


def test_kinds() -> None:
    assert is_workload("apps/v1", "Deployment")
    assert is_workload("batch/v1", "Job")
    assert not is_workload("apps/v1beta1", "Deployment")
    assert not is_workload("batch/v1", "CronJob")


def test_pods_are_defaulted_and_owned() -> None:
    made = workload_of(job(metadata={"name": "load", "namespace": "ns", "uid": "u"}), "file")
    assert made is not None
    one = made.pod("load-1", "pod-uid")
    assert (one.metadata.namespace, one.metadata.name, one.metadata.uid) == ("ns", "load-1", "pod-uid")
    assert one.metadata.labels == {"app": "web"}
    (owner,) = one.metadata.owner_references
    assert (owner.kind, owner.name, owner.uid, owner.controller) == ("Job", "load", "u", True)
    assert one.spec.containers[0].resources.requests == {"cpu": "1"}
    assert one.spec.scheduler_name == "default-scheduler"


@pytest.mark.parametrize(
    ("value", "pods"),
    [
        (job(), 1),
        (job(spec={"parallelism": 4}), 4),
        (job(spec={"parallelism": 4, "completions": 10}), 4),
        (job(spec={"parallelism": 4, "completions": 10}, status={"succeeded": 8}), 2),
        (job(spec={"parallelism": 4, "completions": 10}, status={"completionTime": "2026-01-01T00:00:00Z"}), 0),
        (job(spec={"parallelism": 0}), 0),
    ],
)
def test_how_many_pods_a_job_wants(value: dict[str, Any], pods: int) -> None:
    made = workload_of(value, "file")
    assert made is not None
    assert made.replicas == pods


def test_without_a_template_there_is_nothing_to_make() -> None:
    assert workload_of({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "r"}}, "file") is None


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (job(metadata={}), "metadata.name"),
        (job(spec={"template": {"spec": {"priority": "x"}}}), "spec.template.spec.priority"),
        (job(spec={"parallelism": "x"}), "spec.parallelism"),
        (
            job(spec={"volumeClaimTemplates": [{"spec": {"volumeName": 1}}]}),
            "spec.volumeClaimTemplates[0].spec.volumeName",
        ),
    ],
)
def test_what_is_wrong_is_named(value: dict[str, Any], path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        workload_of(value, "file")
    assert caught.value.path == path
