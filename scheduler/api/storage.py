"""Volumes and claims as objects, and what CSI drivers publish."""

from __future__ import annotations

from msgspec import field

from scheduler.api.meta import (
    Int32,
    LabelSelector,
    Model,
    NodeSelector,
    ObjectMeta,
    ObjectReference,
    QuantityText,
    ResourceList,
)
from scheduler.api.volumes import (
    AWSElasticBlockStoreVolumeSource,
    AzureDiskVolumeSource,
    AzureFileVolumeSource,
    CinderVolumeSource,
    GCEPersistentDiskVolumeSource,
    ISCSIVolumeSource,
    PersistentVolumeClaimSpec,
    PortworxVolumeSource,
    RBDVolumeSource,
    VsphereVirtualDiskVolumeSource,
)


class CSIPersistentVolumeSource(Model, frozen=True, kw_only=True):
    """core/v1 CSIPersistentVolumeSource."""

    driver: str = ""
    volume_handle: str = ""
    read_only: bool = False


class VolumeNodeAffinity(Model, frozen=True, kw_only=True):
    """core/v1 VolumeNodeAffinity."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(Model, frozen=True, kw_only=True):
    """core/v1 PersistentVolumeSpec."""

    capacity: ResourceList = field(default_factory=dict)
    access_modes: tuple[str, ...] = ()
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    volume_mode: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    volume_attributes_class_name: str | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None
    csi: CSIPersistentVolumeSource | None = None


class PersistentVolumeStatus(Model, frozen=True, kw_only=True):
    """core/v1 PersistentVolumeStatus."""

    phase: str = ""


class PersistentVolume(Model, frozen=True, kw_only=True):
    """core/v1 PersistentVolume."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class PersistentVolumeClaimStatus(Model, frozen=True, kw_only=True):
    """core/v1 PersistentVolumeClaimStatus."""

    phase: str = ""
    access_modes: tuple[str, ...] = ()
    capacity: ResourceList = field(default_factory=dict)


class PersistentVolumeClaim(Model, frozen=True, kw_only=True):
    """core/v1 PersistentVolumeClaim."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class TopologySelectorLabelRequirement(Model, frozen=True, kw_only=True):
    """core/v1 TopologySelectorLabelRequirement."""

    key: str = ""
    values: tuple[str, ...] = ()


class TopologySelectorTerm(Model, frozen=True, kw_only=True):
    """core/v1 TopologySelectorTerm."""

    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class StorageClass(Model, frozen=True, kw_only=True):
    """storage.k8s.io/v1 StorageClass."""

    metadata: ObjectMeta = ObjectMeta()
    provisioner: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()


class VolumeNodeResources(Model, frozen=True, kw_only=True):
    """storage.k8s.io/v1 VolumeNodeResources: how many volumes of a driver the node takes."""

    count: Int32 | None = None


class CSINodeDriver(Model, frozen=True, kw_only=True):
    """storage.k8s.io/v1 CSINodeDriver."""

    name: str = ""
    node_id: str = field(default="", name="nodeID")
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(Model, frozen=True, kw_only=True):
    """storage.k8s.io/v1 CSINodeSpec."""

    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(Model, frozen=True, kw_only=True):
    """storage.k8s.io/v1 CSINode."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CSINodeSpec = CSINodeSpec()


class CSIDriverSpec(Model, frozen=True, kw_only=True):
    """storage.k8s.io/v1 CSIDriverSpec."""

    storage_capacity: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(Model, frozen=True, kw_only=True):
    """storage.k8s.io/v1 CSIDriver."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(Model, frozen=True, kw_only=True):
    """storage.k8s.io/v1 CSIStorageCapacity."""

    metadata: ObjectMeta = ObjectMeta()
    node_topology: LabelSelector | None = None
    storage_class_name: str = ""
    capacity: QuantityText | None = None
    maximum_volume_size: QuantityText | None = None


class VolumeAttachmentSource(Model, frozen=True, kw_only=True):
    """storage.k8s.io/v1 VolumeAttachmentSource."""

    persistent_volume_name: str | None = None
    inline_volume_spec: PersistentVolumeSpec | None = None


class VolumeAttachmentSpec(Model, frozen=True, kw_only=True):
    """storage.k8s.io/v1 VolumeAttachmentSpec."""

    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()


class VolumeAttachmentStatus(Model, frozen=True, kw_only=True):
    """storage.k8s.io/v1 VolumeAttachmentStatus."""

    attached: bool = False


class VolumeAttachment(Model, frozen=True, kw_only=True):
    """storage.k8s.io/v1 VolumeAttachment."""

    metadata: ObjectMeta = ObjectMeta()
    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
    status: VolumeAttachmentStatus = VolumeAttachmentStatus()
