"""Extended resources that are backed by a DeviceClass, and so are handed out as devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scheduler.cache.objects import ObjectStore

KIND: Final = "DeviceClass"
IMPLICIT_PREFIX: Final = "deviceclass.resource.kubernetes.io/"


def is_backed(resource: str, objects: ObjectStore) -> bool:
    """Whether a DeviceClass stands for the resource, by its extendedResourceName or by its own name.

    Source: k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache.
    """
    if resource.startswith(IMPLICIT_PREFIX):
        return objects.get(KIND, "", resource.removeprefix(IMPLICIT_PREFIX)) is not None
    return any(each.spec.extended_resource_name == resource for each in objects.all(KIND))
