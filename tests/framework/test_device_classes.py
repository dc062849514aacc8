"""Extended resources backed by device classes."""

from __future__ import annotations

import pytest

from scheduler.api.objects import DeviceClass, DeviceClassSpec, ObjectMeta
from scheduler.cache.objects import ObjectStore
from scheduler.framework.device_classes import is_backed


@pytest.mark.parametrize(
    ("resource", "backed"),
    [
        ("example.com/gpu", True),
        ("example.com/nic", False),
        ("deviceclass.resource.kubernetes.io/plain", True),
        ("deviceclass.resource.kubernetes.io/gpus", True),
        ("deviceclass.resource.kubernetes.io/none", False),
    ],
)
def test_by_the_extended_resource_name_or_the_name_of_the_class(resource, backed):
    objects = ObjectStore()
    objects.set("DeviceClass", DeviceClass(metadata=ObjectMeta(name="plain")))
    spec = DeviceClassSpec(extended_resource_name="example.com/gpu")
    objects.set("DeviceClass", DeviceClass(metadata=ObjectMeta(name="gpus"), spec=spec))
    assert is_backed(resource, objects) is backed
