"""Volumes of pods and the sources of volumes, as far as the volume plugins read them."""

from __future__ import annotations

from msgspec import field

from scheduler.api.meta import LabelSelector, Model, ObjectMeta, ResourceRequirements


class VolumeMount(Model, frozen=True, kw_only=True):
    """core/v1 VolumeMount, without its name: each pod's service account token is mounted under another one."""

    bind_mount_options: tuple[str, ...] = ()


class PersistentVolumeClaimVolumeSource(Model, frozen=True, kw_only=True):
    """core/v1 PersistentVolumeClaimVolumeSource."""

    claim_name: str = ""
    read_only: bool = False


class PersistentVolumeClaimSpec(Model, frozen=True, kw_only=True):
    """core/v1 PersistentVolumeClaimSpec."""

    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    resources: ResourceRequirements = ResourceRequirements()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimTemplate(Model, frozen=True, kw_only=True):
    """core/v1 PersistentVolumeClaimTemplate."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class EphemeralVolumeSource(Model, frozen=True, kw_only=True):
    """core/v1 EphemeralVolumeSource."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class GCEPersistentDiskVolumeSource(Model, frozen=True, kw_only=True):
    """core/v1 GCEPersistentDiskVolumeSource."""

    pd_name: str = ""
    fs_type: str = ""
    partition: int = 0
    read_only: bool = False


class AWSElasticBlockStoreVolumeSource(Model, frozen=True, kw_only=True):
    """core/v1 AWSElasticBlockStoreVolumeSource."""

    volume_id: str = field(default="", name="volumeID")
    fs_type: str = ""
    partition: int = 0
    read_only: bool = False


class ISCSIVolumeSource(Model, frozen=True, kw_only=True):
    """core/v1 ISCSIVolumeSource and ISCSIPersistentVolumeSource."""

    target_portal: str = ""
    iqn: str = ""
    lun: int = 0
    read_only: bool = False


class RBDVolumeSource(Model, frozen=True, kw_only=True):
    """core/v1 RBDVolumeSource and RBDPersistentVolumeSource."""

    monitors: tuple[str, ...] = ()
    image: str = ""
    pool: str = ""
    read_only: bool = False


class AzureDiskVolumeSource(Model, frozen=True, kw_only=True):
    """core/v1 AzureDiskVolumeSource."""

    disk_name: str = ""
    disk_uri: str = field(default="", name="diskURI")
    kind: str | None = None
    read_only: bool | None = None


class AzureFileVolumeSource(Model, frozen=True, kw_only=True):
    """core/v1 AzureFileVolumeSource and AzureFilePersistentVolumeSource."""

    secret_name: str = ""
    secret_namespace: str | None = None
    share_name: str = ""
    read_only: bool = False


class CinderVolumeSource(Model, frozen=True, kw_only=True):
    """core/v1 CinderVolumeSource and CinderPersistentVolumeSource."""

    volume_id: str = field(default="", name="volumeID")
    fs_type: str = ""
    read_only: bool = False


class PortworxVolumeSource(Model, frozen=True, kw_only=True):
    """core/v1 PortworxVolumeSource."""

    volume_id: str = field(default="", name="volumeID")
    fs_type: str = ""
    read_only: bool = False


class VsphereVirtualDiskVolumeSource(Model, frozen=True, kw_only=True):
    """core/v1 VsphereVirtualDiskVolumeSource."""

    volume_path: str = ""
    fs_type: str = ""
    storage_policy_name: str = ""
    storage_policy_id: str = field(default="", name="storagePolicyID")


class CSIVolumeSource(Model, frozen=True, kw_only=True):
    """core/v1 CSIVolumeSource: a CSI volume that is written into the pod."""

    driver: str = ""
    read_only: bool | None = None


class ImageVolumeSource(Model, frozen=True, kw_only=True):
    """core/v1 ImageVolumeSource."""

    reference: str = ""


class Volume(Model, frozen=True, kw_only=True):
    """core/v1 Volume. Sources that no plugin reads (config maps, empty directories, ...) are left out."""

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    image: ImageVolumeSource | None = None
