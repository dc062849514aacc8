"""Metadata that all Kubernetes objects have, and the small types that many kinds share.

Structs keep only what scheduling reads. An absent (or null) list is ``()``, an absent map ``{}``, an absent
string ``""``, and whatever is a pointer in Go is ``None`` when absent. Quantities and times stay text here:
``scheduler.api.quantity`` and ``scheduler.api.decode.parse_time`` give them meaning.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import field

Int32: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Int64: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

#: The text of a quantity ("100m", "1Gi"). The mark lets the decoder take JSON numbers here as well.
QuantityText: TypeAlias = Annotated[str, msgspec.Meta(extra={"quantity": True})]

#: Resource name ("cpu", "memory", "nvidia.com/gpu") to quantity text.
ResourceList: TypeAlias = dict[str, QuantityText]


class Model(msgspec.Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """Base of all structs: immutable, with the JSON names of Kubernetes.

    Garbage collection is off for them because a decoded object is a tree and can't refer back to itself.
    """


class OwnerReference(Model, frozen=True, kw_only=True):
    """metav1.OwnerReference."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class ObjectMeta(Model, frozen=True, kw_only=True):
    """metav1.ObjectMeta. Times are RFC 3339 texts, or None."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Int64 = 0
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    owner_references: tuple[OwnerReference, ...] = ()


class LabelSelectorRequirement(Model, frozen=True, kw_only=True):
    """metav1.LabelSelectorRequirement."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Model, frozen=True, kw_only=True):
    """metav1.LabelSelector. An absent selector (None) matches nothing, an empty one everything."""

    match_labels: dict[str, str] = field(default_factory=dict)
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class NodeSelectorRequirement(Model, frozen=True, kw_only=True):
    """core/v1 NodeSelectorRequirement."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class NodeSelectorTerm(Model, frozen=True, kw_only=True):
    """core/v1 NodeSelectorTerm."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(Model, frozen=True, kw_only=True):
    """core/v1 NodeSelector: its terms are ORed."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class ObjectReference(Model, frozen=True, kw_only=True):
    """core/v1 ObjectReference."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""


class ResourceRequirements(Model, frozen=True, kw_only=True):
    """core/v1 ResourceRequirements, of containers, pods and volume claims."""

    requests: ResourceList = field(default_factory=dict)
    limits: ResourceList = field(default_factory=dict)
