"""Kinds of resources by name."""

from __future__ import annotations

import pytest

from scheduler.api.resource_names import is_extended, is_huge_pages, is_native, is_pod_level, is_scalar


@pytest.mark.parametrize(
    ("name", "native", "extended", "scalar"),
    [
        ("cpu", True, False, False),
        ("memory", True, False, False),
        ("ephemeral-storage", True, False, False),
        ("pods", True, False, False),
        ("unknown", True, False, False),
        ("nvidia.com/gpu", False, True, True),
        ("hugepages-2Mi", True, False, True),
        ("attachable-volumes-aws-ebs", True, False, True),
        ("kubernetes.io/batch-cpu", True, False, True),
        ("sub.kubernetes.io/x", True, False, True),
        ("requests.nvidia.com/gpu", False, False, False),
        ("bad domain/x", False, False, False),
        ("a/b/c", False, False, False),
    ],
)
def test_the_name_says_how_a_resource_is_counted(name: str, native: bool, extended: bool, scalar: bool) -> None:
    assert (is_native(name), is_extended(name), is_scalar(name)) == (native, extended, scalar)


def test_pods_may_request_cpu_memory_and_huge_pages_as_a_whole() -> None:
    names = ["cpu", "memory", "hugepages-1Gi", "ephemeral-storage", "nvidia.com/gpu"]
    assert [name for name in names if is_pod_level(name)] == ["cpu", "memory", "hugepages-1Gi"]
    assert is_huge_pages("hugepages-1Gi")
