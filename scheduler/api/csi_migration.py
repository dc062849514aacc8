"""Volumes of the drivers that were once part of Kubernetes, as volumes of the CSI drivers that replace them.

Source: k8s.io/csi-translation-lib (translate.go, plugins/).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from msgspec.structs import replace

from scheduler.api.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from scheduler.api.storage import CSIPersistentVolumeSource, PersistentVolume, PersistentVolumeSpec, VolumeNodeAffinity
from scheduler.api.topology_labels import BETA_REGION_LABEL, BETA_ZONE_LABEL, REGION_LABEL, ZONE_DELIMITER, ZONE_LABEL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.api.volumes import Volume

MIGRATED_PLUGINS: Final = "storage.alpha.kubernetes.io/migrated-plugins"
"""The annotation of a CSINode that lists the in-tree plugins that are migrated on the node."""


class MigrationError(ValueError):
    """A volume can't be translated; the text is the library's."""


class InTree(NamedTuple):
    """One in-tree plugin: the field of its volume source, its name, its CSI driver, its topology key if any.

    `migrated` says whether the scheduler translates its volumes.
    """

    source: str
    plugin: str
    driver: str
    topology: str = ""
    migrated: bool = True


_PLUGINS: Final = (
    InTree("gce_persistent_disk", "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone"),
    InTree("aws_elastic_block_store", "kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone"),
    InTree("cinder", "kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone"),
    InTree("azure_disk", "kubernetes.io/azure-disk", "disk.csi.azure.com"),
    InTree("portworx_volume", "kubernetes.io/portworx-volume", "pxd.portworx.com"),
    InTree("azure_file", "kubernetes.io/azure-file", "file.csi.azure.com", migrated=False),
    InTree("vsphere_volume", "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", migrated=False),
)
_BY_NAME: Final = {plugin.plugin: plugin for plugin in _PLUGINS}
_UNSPECIFIED: Final = "UNSPECIFIED"
_EBS_ID: Final = re.compile(r"vol-[^/]*")


def in_tree_of(source: Volume | PersistentVolumeSpec) -> InTree | None:
    """The in-tree plugin of a pod's volume or of a PersistentVolume, if it is one of those that can be translated."""
    for plugin in _PLUGINS:
        if getattr(source, plugin.source) is not None:
            return plugin
    return None


def in_tree_by_name(plugin: str) -> InTree | None:
    """The in-tree plugin of this name (a StorageClass's provisioner, say)."""
    return _BY_NAME.get(plugin)


def inline_handle(volume: Volume, plugin: InTree) -> str:
    """The CSI volume handle of a volume that is written into a pod. Raises MigrationError."""
    source = getattr(volume, plugin.source)
    if plugin.source == "gce_persistent_disk":
        return f"projects/{_UNSPECIFIED}/zones/{_UNSPECIFIED}/disks/{source.pd_name}"
    return _handle(plugin, source)


def translated(volume: PersistentVolume, plugin: InTree) -> PersistentVolume:
    """The volume with a CSI source and the node affinity that goes with it. Raises MigrationError."""
    source = getattr(volume.spec, plugin.source)
    handle = _gce_handle(volume) if plugin.source == "gce_persistent_disk" else _handle(plugin, source)
    affinity = _translated_affinity(volume, plugin.topology) if plugin.topology else volume.spec.node_affinity
    spec = replace(
        volume.spec,
        **{plugin.source: None},
        csi=CSIPersistentVolumeSource(driver=plugin.driver, volume_handle=handle),
        node_affinity=affinity,
    )
    return replace(volume, spec=spec)


def _handle(plugin: InTree, source: object) -> str:
    if plugin.source == "aws_elastic_block_store":
        return _ebs_handle(source.volume_id)  # type: ignore[attr-defined]
    if plugin.source == "azure_disk":
        kind = source.kind  # type: ignore[attr-defined]
        if kind is not None and kind.lower() != "managed":
            raise MigrationError(f"kind({kind}) is not supported in csi migration")
        return str(source.disk_uri)  # type: ignore[attr-defined]
    return str(source.volume_id)  # type: ignore[attr-defined]


def _ebs_handle(volume_id: str) -> str:
    if not volume_id.startswith("aws://"):
        return volume_id
    handle = urlsplit(volume_id).path.strip("/")
    if not _EBS_ID.fullmatch(handle):
        problem = f"Invalid format for AWS volume ({volume_id})"
        raise MigrationError(f"failed to translate Kubernetes ID to EBS Volume ID {problem}")
    return handle


def _gce_handle(volume: PersistentVolume) -> str:
    disk = volume.spec.gce_persistent_disk
    assert disk is not None
    labels = volume.metadata.labels
    zones = (labels.get(BETA_ZONE_LABEL) or labels.get(ZONE_LABEL) or "").split(ZONE_DELIMITER)
    if len(zones) > 1:
        return f"projects/{_UNSPECIFIED}/regions/{_gce_region(zones)}/disks/{disk.pd_name}"
    return f"projects/{_UNSPECIFIED}/zones/{zones[0] or _UNSPECIFIED}/disks/{disk.pd_name}"


def _gce_region(zones: Sequence[str]) -> str:
    regions = set()
    for zone in zones:
        parts = zone.split("-")
        if len(parts) != 3:
            problem = f"zone in unexpected format, expected: {{locale}}-{{region}}-{{zone}}, got: {zone}"
            raise MigrationError(f"failed to get region from zones: {problem}")
        regions.add("-".join(parts[:2]))
    if len(regions) != 1:
        shown = " ".join(f"{region}:{{}}" for region in sorted(regions))
        problem = f"multiple or no regions gotten from zones, got: map[{shown}]"
        raise MigrationError(f"failed to get region from zones: {problem}")
    return regions.pop()


def _translated_affinity(volume: PersistentVolume, key: str) -> VolumeNodeAffinity | None:
    """Zones under the driver's key, taken from the affinity or else from labels; regions under the GA key.

    Source: plugins/in_tree_volume.go, translateTopologyFromInTreeToCSI.
    """
    affinity = volume.spec.node_affinity
    required = affinity.required if affinity is not None else None
    terms = required.node_selector_terms if required is not None else ()
    labels = volume.metadata.labels
    zone, region = _topology_labels(terms, labels)
    renamed = {}
    if any(_values(terms, zone)):
        renamed[zone] = key
    elif zone in labels:
        zones = sorted({part.strip() for part in labels[zone].split(ZONE_DELIMITER)} - {""})
        if zones:
            added = NodeSelectorRequirement(key=key, operator="In", values=tuple(zones))
            terms = tuple(
                replace(term, match_expressions=(*term.match_expressions, added))
                for term in terms or (NodeSelectorTerm(),)
            )
            required = NodeSelector()
    if region == BETA_REGION_LABEL and any(_values(terms, region)):
        renamed[region] = REGION_LABEL
    if required is None:
        return affinity
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=tuple(_renamed(t, renamed) for t in terms)))


def _renamed(term: NodeSelectorTerm, names: Mapping[str, str]) -> NodeSelectorTerm:
    expressions = tuple(replace(each, key=names.get(each.key, each.key)) for each in term.match_expressions)
    return replace(term, match_expressions=expressions)


def _topology_labels(terms: Sequence[NodeSelectorTerm], labels: Mapping[str, str]) -> tuple[str, str]:
    keys = {expression.key for term in terms for expression in term.match_expressions}
    for place in (keys, labels.keys()):
        for zone, region in ((ZONE_LABEL, REGION_LABEL), (BETA_ZONE_LABEL, BETA_REGION_LABEL)):
            if zone in place:
                return zone, region
    return ZONE_LABEL, REGION_LABEL


def _values(terms: Sequence[NodeSelectorTerm], key: str) -> list[tuple[str, ...]]:
    return [each.values for term in terms for each in term.match_expressions if each.key == key]
