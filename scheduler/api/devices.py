"""Dynamic resource allocation: claims, slices and classes of devices, by name and owner."""

from __future__ import annotations

from scheduler.api.meta import Int64, Model, ObjectMeta


class ResourceClaimConsumerReference(Model, frozen=True, kw_only=True):
    """resource.k8s.io/v1 ResourceClaimConsumerReference."""

    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class AllocationResult(Model, frozen=True, kw_only=True):
    """resource.k8s.io/v1 AllocationResult: that it is there says that the claim is allocated."""


class ResourceClaimStatus(Model, frozen=True, kw_only=True):
    """resource.k8s.io/v1 ResourceClaimStatus."""

    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] = ()


class ResourceClaim(Model, frozen=True, kw_only=True):
    """resource.k8s.io/v1 ResourceClaim."""

    metadata: ObjectMeta = ObjectMeta()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourcePool(Model, frozen=True, kw_only=True):
    """resource.k8s.io/v1 ResourcePool."""

    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 0


class ResourceSliceSpec(Model, frozen=True, kw_only=True):
    """resource.k8s.io/v1 ResourceSliceSpec."""

    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str | None = None


class ResourceSlice(Model, frozen=True, kw_only=True):
    """resource.k8s.io/v1 ResourceSlice."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceSliceSpec = ResourceSliceSpec()


class DeviceClassSpec(Model, frozen=True, kw_only=True):
    """resource.k8s.io/v1 DeviceClassSpec."""

    extended_resource_name: str | None = None


class DeviceClass(Model, frozen=True, kw_only=True):
    """resource.k8s.io/v1 DeviceClass."""

    metadata: ObjectMeta = ObjectMeta()
    spec: DeviceClassSpec = DeviceClassSpec()
