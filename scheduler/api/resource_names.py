"""What a resource's name says about the resource.

Source: k8s.io/kubernetes pkg/apis/core/v1/helper/helpers.go, pkg/scheduler/util/utils.go.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from scheduler.api.validation import label_key_problems

CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
PODS: Final = "pods"

_HUGE_PAGES: Final = "hugepages-"
_ATTACHABLE_VOLUMES: Final = "attachable-volumes-"
_QUOTA: Final = "requests."
_NATIVE_DOMAIN: Final = "kubernetes.io/"


def is_native(name: str) -> bool:
    """Say whether the resource is Kubernetes' own: it has no domain, or one that ends in kubernetes.io."""
    return "/" not in name or _NATIVE_DOMAIN in name


def is_huge_pages(name: str) -> bool:
    """Say whether the resource is a size of huge pages."""
    return name.startswith(_HUGE_PAGES)


@lru_cache(maxsize=1024)
def is_extended(name: str) -> bool:
    """Say whether the resource is an extended one, such as nvidia.com/gpu."""
    return not is_native(name) and not name.startswith(_QUOTA) and not label_key_problems(_QUOTA + name)


@lru_cache(maxsize=1024)
def is_scalar(name: str) -> bool:
    """Say whether the scheduler counts the resource besides cpu, memory, ephemeral-storage and pods."""
    return is_extended(name) or is_huge_pages(name) or _NATIVE_DOMAIN in name or name.startswith(_ATTACHABLE_VOLUMES)


def is_pod_level(name: str) -> bool:
    """Say whether a pod may request the resource as a whole."""
    return name in (CPU, MEMORY) or is_huge_pages(name)
