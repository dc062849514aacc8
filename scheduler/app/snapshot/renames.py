"""Which fields hold names, and of what: the rules by which a snapshot is made anonymous.

Every text that an object may hold has a rule here, or is left out: a test sees to it. What stays as it is means the
same everywhere: operators, effects, phases, amounts, times, resource and driver names, and the keys of Kubernetes' own
labels and taints.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from scheduler.api.claims import BETA_CLASS, SELECTED_NODE
from scheduler.api.owners import controller_of
from scheduler.api.topology_labels import (
    BETA_REGION_LABEL,
    BETA_ZONE_LABEL,
    HOSTNAME_LABEL,
    REGION_LABEL,
    ZONE_DELIMITER,
    ZONE_LABEL,
)
from scheduler.app.snapshot import pseudonyms as kinds
from scheduler.app.snapshot.fields import SIMPLE
from scheduler.plugins.image_locality import normalized_image_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.api.objects import OwnerReference, Pod
    from scheduler.app.snapshot.pseudonyms import Names
    from scheduler.app.snapshot.trimming import Rename


_SAME_EVERYWHERE: Final = ("kubernetes.io", "k8s.io")
_PLAIN_KEYS: Final = frozenset(
    {"kubernetes.io/os", "kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/arch"}
)
_PLAIN_VALUES: Final = frozenset({"", "true", "false"})
_ANY_ADDRESS: Final = frozenset({"0.0.0.0", "::", "127.0.0.1", "::1"})
_NAMESPACE_NAME: Final = "kubernetes.io/metadata.name"
_POD_NAME: Final = "statefulset.kubernetes.io/pod-name"
_ZONES: Final = frozenset({ZONE_LABEL, BETA_ZONE_LABEL, "topology.gke.io/zone", "topology.ebs.csi.aws.com/zone"})
_REGIONS: Final = frozenset({REGION_LABEL, BETA_REGION_LABEL})
_COMPARING: Final = frozenset({"Gt", "Lt"})
_PATH_WORDS: Final = frozenset({"", "aws:", "projects", "zones", "regions", "disks", "UNSPECIFIED"})
_NUMBERED: Final = re.compile(r"(.+)-([0-9]+)")
_OF_KIND: Final = {
    "Node": kinds.NODE,
    "Namespace": kinds.NAMESPACE,
    "Pod": kinds.POD,
    "PersistentVolumeClaim": kinds.CLAIM,
}
_KEPT_KINDS: Final = frozenset({"CSIDriver"})


class Renames:
    """The rules for objects of one kind after the other, in terms of what gives the names."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self.kind = ""
        """The kind of the object that is at hand."""

    def table(self) -> Mapping[str, Rename]:
        """The rule of each field ("Type.field") that has one."""
        return {
            **{field: self._simple(kind) for field, kind in SIMPLE.items()},
            "Container.image": lambda _, v: self._image(v),
            "ContainerImage.names": lambda _, v: [self._image(name) for name in v],
            "ContainerPort.host_ip": lambda _, v: self._address(v),
            "ImageVolumeSource.reference": lambda _, v: self._image(v),
            "CSINodeDriver.topology_keys": lambda _, v: self._keys(v),
            "LabelSelector.match_labels": lambda _, v: self._labels(v),
            "LabelSelectorRequirement.key": lambda _, v: self.key(v),
            "LabelSelectorRequirement.values": self._values,
            "NodeSelectorRequirement.key": lambda _, v: self.key(v),
            "NodeSelectorRequirement.values": self._node_values,
            "ObjectMeta.annotations": lambda _, v: self._annotations(v),
            "ObjectMeta.labels": lambda _, v: self._labels(v),
            "ObjectMeta.name": self._object_name,
            "ObjectReference.name": lambda ref, v: self._names.name(_kind(ref.kind), v),
            "OwnerReference.name": lambda ref, v: self._names.name(_kind(ref.kind), v),
            "PodAffinityTerm.match_label_keys": lambda _, v: self._keys(v),
            "PodAffinityTerm.mismatch_label_keys": lambda _, v: self._keys(v),
            "PodAffinityTerm.namespaces": lambda _, v: [self._names.name(kinds.NAMESPACE, name) for name in v],
            "PodAffinityTerm.topology_key": lambda _, v: self.key(v),
            "PodDisruptionBudgetStatus.disrupted_pods": lambda _, v: {
                self._names.name(kinds.POD, name): time for name, time in v.items()
            },
            "PodSpec.node_selector": lambda _, v: self._labels(v),
            "PodSpec.priority_class_name": lambda _, v: self._priority_class(v),
            "RBDVolumeSource.monitors": lambda _, v: [self._path(each) for each in v],
            "ReplicationControllerSpec.selector": lambda _, v: self._labels(v),
            "ServiceSpec.selector": lambda _, v: self._labels(v),
            "Taint.key": lambda _, v: self.key(v),
            "Taint.value": lambda taint, v: self.label_value(taint.key, v),
            "Toleration.key": lambda _, v: self.key(v),
            "Toleration.value": self._tolerated,
            "TopologySelectorLabelRequirement.key": lambda _, v: self.key(v),
            "TopologySelectorLabelRequirement.values": self._values,
            "TopologySpreadConstraint.match_label_keys": lambda _, v: self._keys(v),
            "TopologySpreadConstraint.topology_key": lambda _, v: self.key(v),
        }

    def pod(self, pod: Pod) -> None:
        """Note the names that are made of others in a pod: a StatefulSet's pods, and claims of one pod."""
        name = pod.metadata.name
        owner = controller_of(pod.metadata)
        if owner is not None and owner.kind == "StatefulSet":
            self._numbered(name, owner)
        for volume in pod.spec.volumes:
            source = volume.persistent_volume_claim
            claim = source.claim_name if source is not None else ""
            stem = claim.removesuffix(f"-{name}")
            if volume.ephemeral is not None:
                parts = ((kinds.POD, name), ("", "-"), ("volume", volume.name))
                self._names.made_of(kinds.CLAIM, f"{name}-{volume.name}", *parts)
            elif stem and stem != claim:
                self._names.made_of(kinds.CLAIM, claim, ("claimtemplate", stem), ("", "-"), (kinds.POD, name))

    def _numbered(self, name: str, owner: OwnerReference) -> None:
        match = _NUMBERED.fullmatch(name)
        if match is not None and match[1] == owner.name:
            self._names.made_of(kinds.POD, name, (_kind(owner.kind), owner.name), ("", f"-{match[2]}"))

    def key(self, key: str) -> str:
        """The key of a label or taint; Kubernetes' own are the same everywhere."""
        domain, separator, _ = key.partition("/")
        if separator and (domain in _SAME_EVERYWHERE or domain.endswith(tuple(f".{d}" for d in _SAME_EVERYWHERE))):
            return key
        return key if key == "metadata.name" else self._names.name(kinds.KEY, key)

    def label_value(self, key: str, value: str) -> str:
        """The value of a label or taint."""
        if value in _PLAIN_VALUES or key in _PLAIN_KEYS or self._names.keeps(key, value):
            return value
        if key in _ZONES:
            return ZONE_DELIMITER.join(self._zone(zone) for zone in value.split(ZONE_DELIMITER))
        if key in _REGIONS:
            return ZONE_DELIMITER.join(self._names.name(kinds.REGION, part) for part in value.split(ZONE_DELIMITER))
        if key == _NAMESPACE_NAME:
            return self._names.name(kinds.NAMESPACE, value)
        for own_key, kind in ((HOSTNAME_LABEL, kinds.NODE), (_POD_NAME, kinds.POD)):
            if key == own_key and self._names.knows(kind, value):
                return self._names.name(kind, value)
        return self._names.name(kinds.VALUE, value)

    def _zone(self, zone: str) -> str:
        """A zone of three parts (europe-west1-b) stays one of three parts, the first two of which are its region."""
        region, _, last = zone.rpartition("-")
        if zone.count("-") != 2 or not last:
            return self._names.name(kinds.ZONE, zone)
        return self._names.made_of(kinds.ZONE, zone, (kinds.REGION, region), ("", "-"), (kinds.ZONE_PART, last))

    def _simple(self, kind: str) -> Rename:
        if kind == "path":
            return lambda _, value: self._path(value)
        if kind == "address":
            return lambda _, value: self._address(value)
        return lambda _, value: self._names.name(kind, value)

    def _path(self, path: str) -> str:
        """An identifier of storage, part by part; zones in it are named as elsewhere."""
        parts = path.split("/")
        before = ["", *parts]
        return "/".join(
            part
            if part in _PATH_WORDS
            else self._zone(part)
            if previous == "zones" or (parts[0] == "aws:" and previous == "" and number > 1)
            else self._names.name(kinds.DISK, part)
            for number, (previous, part) in enumerate(zip(before, parts, strict=False))
        )

    def _address(self, address: str) -> str:
        return address if address in _ANY_ADDRESS else self._names.name("address", address)

    def _image(self, image: str) -> str:
        """Images have a tag, as they are compared with one."""
        return f"{self._names.name(kinds.IMAGE, normalized_image_name(image))}:1" if image else ""

    def _keys(self, keys: tuple[str, ...]) -> list[str]:
        return [self.key(key) for key in keys]

    def _labels(self, labels: dict[str, str]) -> dict[str, str]:
        return {self.key(key): self.label_value(key, value) for key, value in labels.items()}

    def _values(self, requirement: Any, values: tuple[str, ...]) -> list[str]:
        return [self.label_value(requirement.key, value) for value in values]

    def _node_values(self, requirement: Any, values: tuple[str, ...]) -> list[str]:
        if requirement.key == "metadata.name":
            return [self._names.name(kinds.NODE, value) for value in values]
        if requirement.operator in _COMPARING:
            self._names.number(requirement.key)
        return self._values(requirement, values)

    def _tolerated(self, toleration: Any, value: str) -> str:
        if toleration.operator in _COMPARING:
            self._names.number(toleration.key)
        return self.label_value(toleration.key, value)

    def _annotations(self, annotations: dict[str, str]) -> dict[str, str]:
        kind_of = {BETA_CLASS: "storageclass", SELECTED_NODE: kinds.NODE}
        return {
            key: self._names.name(kind_of[key], value) if key in kind_of else value
            for key, value in annotations.items()
        }

    def _object_name(self, _meta: Any, name: str) -> str:
        if self.kind in _KEPT_KINDS:
            return name
        if self.kind == "PriorityClass":
            return self._priority_class(name)
        # A CSINode has the name of its node.
        return self._names.name(kinds.NODE if self.kind == "CSINode" else _kind(self.kind), name)

    def _priority_class(self, name: str) -> str:
        return name if name.startswith("system-") else self._names.name("priorityclass", name)


def _kind(kind: str) -> str:
    return _OF_KIND.get(kind, kind.lower() or "object")
